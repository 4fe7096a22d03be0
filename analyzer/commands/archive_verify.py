"""`backline archive verify`: is everything in the archive as it was written?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from analyzer.archive.upkeep.verification import verify_archive
from analyzer.commands.archived import archive_option, open_archive
from analyzer.commands.counter import Counter
from analyzer.commands.plain import DONE, PARTIAL, speak_plainly
from analyzer.runtime.text import count_noun, one_line

if TYPE_CHECKING:
    from analyzer.archive.upkeep.verification import ArchiveProblem, VerifyReport

SHOWN = 20  # remarks of one kind that a terminal gets


@click.command("verify")
@archive_option
@click.option("--json", "as_json", is_flag=True, help="The whole result as one JSON object.")
@click.option("--quiet", is_flag=True, help="Print problems only.")
@speak_plainly
def command(archive_url: str, as_json: bool, quiet: bool) -> None:
    """Check that nothing in the archive is damaged or lost.

    Reads every object and names those that changed since they were written, worst first.
    Checks names, checksums, texts and tables, and whether the facts of each case are there. Nothing
    is changed. Leftovers of active or killed runs are reported as remarks. The exit code is 5 when
    there is a problem.

    \b
    Example:
      backline archive verify --archive archive
      backline archive verify --archive s3://bucket/cases --json
    """

    archive = open_archive(archive_url)
    with Counter("verifying", quiet or as_json) as counter:
        report = verify_archive(archive, progress=counter.show)
    if as_json:
        click.echo(json.dumps({"ok": not report.problems, **asdict(report)}, indent=1))
    else:
        _print_report(report, quiet)
    click.get_current_context().exit(PARTIAL if report.problems else DONE)


def _print_report(report: VerifyReport, quiet: bool) -> None:
    for problem in report.problems:
        click.echo(_format_problem(problem))
    if quiet:
        return
    kinds: dict[str, list[ArchiveProblem]] = {}
    for remark in report.remarks:
        kinds.setdefault(remark.what, []).append(remark)
    for what, remarks in kinds.items():
        for remark in remarks[:SHOWN]:
            click.echo(f"remark: {_format_problem(remark)}")
        if len(remarks) > SHOWN:
            click.echo(f"remark: {len(remarks) - SHOWN:,} more objects: {one_line(what)}")
    megabytes = report.bytes / 1e6
    found = count_noun(len(report.problems), "problem") if report.problems else "no problem"
    click.echo(
        f"{count_noun(report.cases, 'case')}, {count_noun(report.objects, 'object')}, {megabytes:,.1f} MB: {found}"
    )


def _format_problem(problem: ArchiveProblem) -> str:
    return one_line(f"{problem.object}: {problem.what}. {problem.do}")
