"""`backline rules diff`: what two versions of a catalog find otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.counter import Counter
from analyzer.commands.plain import (
    DONE,
    FAILED,
    PARTIAL,
    Interrupt,
    check_paths,
    sound,
    speaks_plainly,
)
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.authoring.compare.compare import CatalogDifference
    from analyzer.rules import Catalog

FAIL_ON = ("lost", "gained", "changed", "unsure", "settled", "any", "none")


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@click.option(
    "--archive", "archive_url", default="", metavar="DIR", help="Stored cases: a folder or a URL."
)
@click.option(
    "--jobs",
    type=click.IntRange(0, 256),
    default=0,
    metavar="N",
    help="Processes; 0 for one per processor.",
)
@click.option("--draft", is_flag=True, help="Include draft rules.")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Differences that exit with 1; repeatable. Default: any.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All items of each list, not only the first five."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    help="For people or programs.",
)
@speaks_plainly
def command(
    old: str,
    new: str,
    paths: tuple[Path, ...],
    archive_url: str,
    jobs: int,
    draft: bool,
    fail_on: tuple[str, ...],
    everything: bool,
    form: str,
) -> None:
    """Compare what two versions of a catalog find.

    OLD and NEW are folders or git commits.
    Both judge the examples of every rule that differs, the cases of --archive, and PATHS, each a bundle or folder
    of its own. A commit is looked up in the repository of the other folder and means that folder at
    that commit; COMMIT:PATH names another one. With two commits, the current folder is meant.

    \b
    Exit code: 0 nothing of --fail-on differs, 1 something does, 2 wrong use,
    4 a rule file is broken, 5 a case or an example could not be judged.

    \b
    Example:
      backline rules diff v1.4 my-rules
      backline rules diff HEAD~1 my-rules --archive archive --fail-on lost --fail-on unsure
      backline rules diff rules-of-march my-rules bundle.tgz --format json
    """
    from analyzer.archive.store import Archive
    from analyzer.authoring.compare.compare import compare_catalogs

    check_paths(paths, UsageError)
    before, now = _catalogs(old, new)
    archive = Archive.open(archive_url) if archive_url else None
    with Interrupt() as stop, Counter("judging", silent=False) as bar:
        found = compare_catalogs(
            before, now, paths, archive, drafts=draft, jobs=jobs, progress=bar.show
        )
        stop.check()
    for line in (
        [_json(found, old, new)] if form == "json" else _lines(found, everything=everything)
    ):
        click.echo(line)
    click.get_current_context().exit(_status(found, fail_on or ("any",)))


def _catalogs(old: str, new: str) -> tuple[Catalog, Catalog]:
    """Return both catalogs; a commit is looked up in the repository of the other folder, or of the current one."""
    from analyzer.archive.backtests.against import load_whole_catalog

    beside = next((Path(place) for place in (old, new) if Path(place).is_dir()), Path())
    return sound(load_whole_catalog(old, beside)), sound(load_whole_catalog(new, beside))


def _json(found: CatalogDifference, old: str, new: str) -> str:
    return json.dumps({"old": old, "new": new} | found.make_record(), indent=1)


def _lines(found: CatalogDifference, *, everything: bool) -> Iterable[str]:
    from analyzer.authoring.compare import compare_text

    return map(
        for_terminal, compare_text.write_lines(found, 0 if everything else compare_text.SHOWN)
    )


def _status(found: CatalogDifference, fail_on: tuple[str, ...]) -> int:
    from analyzer.authoring.compare.compare import KINDS

    counted = KINDS if "any" in fail_on else [kind for kind in fail_on if kind in KINDS]
    if any(found.count(kind) for kind in counted):
        return FAILED
    return PARTIAL if found.unread else DONE
