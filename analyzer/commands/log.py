"""`backline log`: the lines of all logs of a case, merged by their time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.places import CasePath, default_output
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, check_paths, speaks_plainly
from analyzer.commands.redacting import RedactChoice, redact_options, redacted_log
from analyzer.commands.standard_input import DASH, standard_input
from analyzer.errors import BacklineError, UsageError
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from analyzer.merged_log.entry import TimeWindow
    from analyzer.sources.remote import Place

LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
LENGTH = "10m"
MANY = 5000  # lines that nobody reads


@click.command("log")
@click.argument("paths", nargs=-1, required=True, type=CasePath())
@click.option("--around", metavar="TIME|FINDING",
              help="The middle: a UTC time, or a finding: its number, id, rule, KB, words of its title.")  # fmt: skip
@click.option("--for", "length", metavar="SPAN", help=f"How long the stretch is: 90s, 10m, 2h; {LENGTH} by default.")
@click.option("--case", "case_at", type=click.Path(path_type=Path, readable=False), metavar="OUT",
              help="Folder of the results that name the finding; found beside the material by default.")  # fmt: skip
@click.option("--host", default="", help="Only lines of hosts whose name holds this.")
@click.option("--object", "thing", default="", metavar="NAME", help="Only lines with this word: vmnic3, naa.6…, a VM.")
@click.option("--grep", "pattern", default="", metavar="RE", help="Only lines in which this regex is found.")
@click.option("--level", type=click.Choice(LEVELS), help="Only lines that state this level or a worse one.")
@click.option("--format", "form", type=click.Choice(["text", "jsonl", "csv"]), default="text", show_default=True)
@click.option("--limit", "limit_pairs", multiple=True, metavar="NAME=N", help="Change a limit.")
@redact_options
@speaks_plainly
def command(
    paths: tuple[Place, ...],
    around: str | None,
    length: str | None,
    case_at: Path | None,
    host: str,
    thing: str,
    pattern: str,
    level: str | None,
    form: str,
    limit_pairs: tuple[str, ...],
    redact: RedactChoice,
) -> None:
    """Print the lines of all logs in PATHS, of all hosts, merged by their time in UTC.

    Bundles, nested archives, rotated and compressed logs, folders, single logs and transcripts; `-` is
    standard input. Nothing is unpacked to disk. What was searched, and what is not shown, goes to stderr.

    \b
    Example:
      backline log esx1.tgz esx2.tgz --around 2017-10-14T09:12:46Z --for 10m --level warning
      backline log esx-host.tgz --around kb-2146206@vmnic3
    """
    from analyzer.limits import Limits
    from analyzer.merged_log.reading import LogQuery, MergedLog
    from analyzer.merged_log.show import summary, written

    if length and not around:
        raise UsageError("--for without --around", do="Say around what: --around 2017-10-14T09:12:46Z.")
    check_paths([path for path in paths if path != DASH], BacklineError)
    query = LogQuery(
        window=_window(around, length or LENGTH, case_at, paths), host=host, object=thing, pattern=pattern,
        level=level or "", limits=Limits().with_overrides(list(limit_pairs)),
    )  # fmt: skip
    redaction = redact.begin()
    with Interrupt() as stop, standard_input(paths) as given:
        if redaction is None:
            merged = MergedLog(given, query)
            lines, told = written(merged.lines(), form), merged.summary
        else:
            lines, told = redacted_log(redaction, given, query, form)
        sys.stdout.writelines(f"{line}\n" for line in lines)  # click.echo would flush each
        sys.stdout.flush()
        stop.check()
    for said in summary(told, query.window):
        shown = said if redaction is None else redaction.text(said)
        click.echo(f"backline: {for_terminal(shown)}", err=True)
    if told.lines > MANY and not (host or thing or pattern or level):
        click.echo(
            "backline: fewer: --level warning, --host H, --object vmnic3, --grep RE or a shorter --for", err=True
        )
    click.get_current_context().exit(PARTIAL if told.faults else DONE)


def _window(around: str | None, length: str, case_at: Path | None, paths: Sequence[Any]) -> TimeWindow:
    from analyzer.merged_log import around as moments
    from analyzer.merged_log.entry import TimeWindow

    if around is None:
        return TimeWindow()
    moment = moments.typed(around)
    if moment is None:
        from analyzer import case
        from analyzer.finding_names import finding_of

        document = case.load(_document(around, case_at, paths))
        moment = moments.moment_of(finding_of(document, around, example="Write a time as 2017-10-14T09:12:46Z."))
    return moments.window(moment, moments.span(length))


def _document(around: str, case_at: Path | None, paths: Sequence[Any]) -> Path:
    """Return where the case document is: where it is said to be, else beside the material or where triage puts it."""
    if case_at is not None:
        check_paths((case_at,), UsageError)
        return case_at / "case.json" if case_at.is_dir() else case_at
    beside = [path / "case.json" if path.is_dir() else path.parent / "case.json" for path in paths[:1]]
    found = [*beside, default_output(paths) / "case.json"] if paths else []
    for place in found:
        if isinstance(place, Path) and place.is_file():
            return place
    near = [f"--case {name.parent}" for name in sorted(Path().glob("*/case.json"))]
    raise UsageError(
        f"{around!r} is no time, and there is no case.json that names a finding",
        do="Write a time as 2017-10-14T09:12:46Z, or say with --case where `backline triage` wrote its results.",
        choices=near,
    )
