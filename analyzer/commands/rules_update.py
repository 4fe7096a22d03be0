"""`backline rules update`: take a signed catalog file, or go back to the one before."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.plain import speak_plainly
from analyzer.rules import signed_catalog
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import count_noun, for_terminal


@click.command("update")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder of catalogs: the current one, the one before, and the pinned key.",
)
@click.option(
    "--key", default="", metavar="HEX", help="Public key of the signer; pinned by the first update."
)
@click.option("--back", is_flag=True, help="Go back to the catalog before.")
@speak_plainly
def command(file: Path | None, into: Path, key: str, back: bool) -> None:
    """Take a catalog from a signed FILE; nothing is fetched.

    A file that is not signed by the pinned key, or is for a newer Backline, is refused, and the catalog stays.

    \b
    Example:
      backline rules update catalog-2026-12.zip --into catalogs --key 3b6a…
      backline rules update --back --into catalogs
    """

    if back == (file is not None):
        raise UsageError("give a file, or --back")
    if file is None:
        name = signed_catalog.restore_previous(into)
        click.echo(f"the catalog is {for_terminal(name)} again")
        return
    found = signed_catalog.install_catalog(file, into, key)
    count = count_noun(len(found.files), "file")
    click.echo(f"the catalog is {for_terminal(found.name)} now, {count}; the one before is kept")
