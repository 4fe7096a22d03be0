"""`backline archive export`: stored cases as plain files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.archive.query import browse
from analyzer.archive.query.export import export_cases
from analyzer.commands.archived import archive_option, case_filters, open_archive, time_options
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import DONE, PARTIAL, print_warning, speak_plainly
from analyzer.commands.redacting import (
    RedactChoice,
    place_map,
    redact_options,
    say_where_the_map_is,
)
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.archive.entries import Snapshot
    from analyzer.archive.entry import Stored
    from analyzer.archive.query.browse import ListFilter
    from analyzer.archive.store import Archive


@click.command("export")
@click.argument("case", nargs=-1)
@archive_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=ANY_PATH,
    help="Folder for the files.",
)
@click.option(
    "--facts",
    type=click.Choice(["parquet", "csv"]),
    default=None,
    help="Also the tables, one file each.",
)
@click.option("--all", "every", is_flag=True, help="All cases, or those that the filters select.")
@case_filters("With --all: only")
@time_options
@redact_options
@speak_plainly
def command(
    case: tuple[str, ...],
    archive_url: str,
    output: Path,
    facts: str | None,
    every: bool,
    rule: str,
    severity: str,
    state: str,
    name: str,
    since: str,
    until: str,
    redact: RedactChoice,
) -> None:
    """Write stored cases into a folder.

    case.json, report.html and report.md of each CASE (a name, or the start of an id).
    --facts adds the folder facts with one file for each table that has rows; all cases share these
    files, and the column case_id names the case. Nothing is written outside the folder.

    \b
    Example:
      backline archive export acme-2291 --archive archive -o acme --facts csv
      backline archive export --all --severity critical --archive archive -o critical
    """

    filters = any((rule, severity, state, name, since, until))
    if every == bool(case) or (case and filters):
        raise UsageError("say which cases", do="Name them, or give --all with filters.")
    redaction = redact.begin_redaction(beside="the folder")
    if redaction is not None:
        place_map(redaction, output)
    archive = open_archive(archive_url)
    snapshot = archive.take_snapshot()
    wanted = browse.ListFilter(rule, severity, state, name, browse.parse_window(since, until))
    named = {stored.id: stored for stored in map(snapshot.find_case, case)}
    chosen = _select_cases(archive, snapshot, wanted) if every else list(named.values())
    left = export_cases(
        archive,
        snapshot,
        chosen,
        output,
        facts=facts or "",
        redaction=redaction,
        done=lambda path: click.echo(for_terminal(str(path))),
    )
    if redaction is not None:
        say_where_the_map_is(redaction)
    for stored, why in left:
        print_warning(f"{stored.id[:12]} has no report: {why}")
    click.get_current_context().exit(PARTIAL if left and not every else DONE)


def _select_cases(archive: Archive, snapshot: Snapshot, wanted: ListFilter) -> list[Stored]:
    """Return the cases that the filters select; what they could not tell is said."""

    notes: list[str] = []
    ids = {row[1] for row in browse.list_cases(archive, wanted, notes=notes).rows}
    chosen = [stored for stored in snapshot.list_visible_cases() if stored.id in ids]
    for note in [*([] if chosen else ["no case matches, nothing was written"]), *notes]:
        print_warning(note)
    return chosen
