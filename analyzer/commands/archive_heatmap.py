"""`backline archive heatmap`: what every rule said in every stored case, worst first, as text or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.archive.query.browse import parse_window
from analyzer.archive.query.fleet import FleetFilter, read_fleet
from analyzer.commands.archived import archive_option, open_archive, time_options
from analyzer.commands.counter import Counter
from analyzer.commands.places import ANY_PATH, RuleName
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, speak_plainly
from analyzer.commands.showing import UNWRAPPED, make_console
from analyzer.report import fleet as page
from analyzer.report import fleetmap, fleetterm, html
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.output import check_folder, write_atomic
from analyzer.runtime.text import count_noun, for_terminal

if TYPE_CHECKING:
    from analyzer.archive.entries import Snapshot
    from analyzer.archive.store import Archive
    from analyzer.report.fleetmap import Fleet

PAGE = "fleet.html"
PIPED = 160  # columns of the heat map in a pipe


@click.command("heatmap")
@archive_option
@click.option(
    "-o",
    "--output",
    type=ANY_PATH,
    help="Write fleet.html into this folder.",
)
@click.option(
    "--by", type=click.Choice(["case", "host", "month"]), default="case", help="What each row is."
)
@time_options
@click.option(
    "--rule",
    "rules",
    multiple=True,
    type=RuleName(),
    metavar="RULE",
    help="Only this rule: an id, `kb-*`, a KB number.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the worst N rows; as text, 20 by default.",
)
@click.option(
    "--with-reports", is_flag=True, help="With -o: also write the report of every case shown."
)
@click.option(
    "--limit", "limit_pairs", multiple=True, metavar="NAME=N", help="Change a limit: report_bytes."
)
@speak_plainly
def command(
    archive_url: str,
    output: Path | None,
    by: str,
    since: str,
    until: str,
    rules: tuple[str, ...],
    top: int | None,
    with_reports: bool,
    limit_pairs: tuple[str, ...],
) -> None:
    """Show what every rule said in every stored case, worst first.

    With -o it is one page for the browser.
    --since and --until look at a case's time: the newest moment in its material. What a rule said counts for
    the rule that `replaces` it.

    \b
    Example:
      backline archive heatmap --archive cases --by month
      backline archive heatmap --archive cases -o fleet --since 2017 --with-reports
    """

    limits = Limits().with_overrides(list(limit_pairs))
    wanted = FleetFilter(rules, parse_window(since, until), since, until, RunOptions().successors())

    if output is not None:
        check_folder(output, (PAGE,))
    elif with_reports:
        raise UsageError(
            "--with-reports writes files next to the page", do="Say where with -o FOLDER."
        )
    with Interrupt() as stop:
        archive = open_archive(archive_url)
        snapshot = archive.take_snapshot()
        found = read_fleet(archive, wanted, snapshot)
        stop.raise_if_pressed()
        if output is None:
            shown = make_console()
            if shown.width == UNWRAPPED:  # of a pipe, and no one reads hundreds of columns
                shown.width = PIPED
            fleetterm.print_fleet(found, shown, by, fleetterm.TOP if top is None else top)
        else:
            _write_page(
                archive, snapshot, found, output, (by, top, with_reports, limits.report_bytes)
            )
    click.get_current_context().exit(PARTIAL if found.missing else DONE)


def _write_page(
    archive: Archive,
    snapshot: Snapshot,
    found: Fleet,
    folder: Path,
    options: tuple[str, int | None, bool, int],
) -> None:
    by, top, with_reports, most = options
    shown = fleetmap.keep_worst(found, top) if top is not None else found
    reports = _write_reports(archive, snapshot, shown, folder, most) if with_reports else set()
    write_atomic(
        folder / PAGE, page.render_page(shown, start=by, reports=reports, report_bytes=most)
    )
    click.echo(f"{fleetmap.write_headline(found)}.")
    if with_reports:
        click.echo(
            f"{count_noun(len(reports), 'case report')} below {for_terminal(str(folder / 'cases'))}"
        )
    click.echo(f"page: {for_terminal(str(folder / PAGE))}")


def _write_reports(
    archive: Archive, snapshot: Snapshot, shown: Fleet, folder: Path, most: int
) -> set[str]:
    """Write the report of each case that was read; return the ids. One that cannot be made is reported and left out."""

    stored = {case.id: case for case in snapshot.list_visible_cases()}
    wanted = [case for case in shown.cases if case.read and case.id in stored]
    done, faults = set(), []
    with Counter("case reports", False) as counter:
        for number, case in enumerate(wanted):
            counter.show(number, len(wanted))
            try:
                page = html.render_page(archive.read_document(stored[case.id]), most)
            except (BacklineError, ValueError, KeyError, TypeError) as error:
                faults.append(f"no report of case {case.short}: {for_terminal(str(error))}")
                continue
            write_atomic(folder / "cases" / case.short / "report.html", page)
            done.add(case.id)
    for fault in faults:
        click.echo(f"backline: {fault}", err=True)
    return done
