"""`backline log`: the lines of all logs of a case, merged by their time."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.artefacts.logtime import read_given_clock
from analyzer.case import case_file
from analyzer.commands.pager import choose_pager, page_lines
from analyzer.commands.places import ANY_PATH, InputPath, choose_output
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, check_paths, speak_plainly
from analyzer.commands.redacting import RedactChoice, redact_options, redacted_log
from analyzer.commands.standard_input import DASH, open_standard_input
from analyzer.ingest.reader import ReadListener
from analyzer.merged_log import around as moments
from analyzer.merged_log.entry import TimeWindow
from analyzer.report.finding_names import find_finding
from analyzer.report.log_lines import LogDrawer
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import for_terminal
from analyzer.views.log_reading import MANY, LogQuery, MergedLog, name_evidence
from analyzer.views.log_text import describe_reading, write_lines, write_short

if TYPE_CHECKING:
    from analyzer.commands.progress import TriageProgress
    from analyzer.report.log_lines import Narrowed
    from analyzer.sources.remote import Place
    from analyzer.views.log_reading import EvidenceName, MergedLine

LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
LENGTH = "10m"


@click.command("log")
@click.argument("paths", nargs=-1, required=True, type=InputPath())
@click.option("--around", metavar="TIME|FINDING",
              help="The middle: a UTC time, or a finding: its number, id, rule, KB, words of its title.")  # fmt: skip
@click.option(
    "--for",
    "length",
    metavar="SPAN",
    help=f"How long a stretch: 90s, 10m, 2h; {LENGTH} by default.",
)
@click.option("--case", "case_at", type=ANY_PATH, metavar="OUT",
              help="Results folder with the finding; by default the one next to the material.")  # fmt: skip
@click.option("--host", default="", help="Only lines of hosts whose name contains this.")
@click.option(
    "--object",
    "thing",
    default="",
    metavar="NAME",
    help="Only lines with this word: vmnic3, naa.6…, a VM.",
)
@click.option(
    "--grep", "pattern", default="", metavar="RE", help="Only lines in which this regex is found."
)
@click.option(
    "--level", type=click.Choice(LEVELS), help="Only lines that state this level or a worse one."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl", "csv"]),
    default="text",
    show_default=True,
)
@click.option(
    "--address",
    "with_address",
    is_flag=True,
    help="On a terminal too: host and full address of each line, as into a file.",
)
@click.option("--no-pager", is_flag=True, help="Do not page on a terminal; PAGER is the pager.")
@click.option("--limit", "limit_pairs", multiple=True, metavar="NAME=N", help="Change a limit.")
@redact_options
@speak_plainly
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
    with_address: bool,
    no_pager: bool,
    limit_pairs: tuple[str, ...],
    redact: RedactChoice,
) -> None:
    """Print the lines of all logs of all hosts, merged by time.

    Times are in UTC.
    Bundles, nested archives, rotated and compressed logs, folders, single logs and transcripts; `-` is
    standard input. Nothing is unpacked to disk. What was searched, and what is not shown, goes to stderr.

    \b
    Example:
      backline log esx1.tgz esx2.tgz --around 2017-10-14T09:12:46Z --for 10m --level warning
      backline log esx-host.tgz --around kb-2146206@vmnic3
    """

    if length and not around:
        raise UsageError(
            "--for without --around", do="Give the time: --around 2017-10-14T09:12:46Z."
        )
    check_paths([path for path in paths if path != DASH], BacklineError)
    window, few, evidence = _find_window(around, length or LENGTH, case_at, paths)
    query = LogQuery(
        window=window, host=host, object=thing, pattern=pattern, level=level or "",
        evidence=evidence, limits=Limits().with_overrides(list(limit_pairs)),
    )  # fmt: skip
    redaction = redact.begin_redaction()
    fewer = FewerLines(query, few if redaction is None and (length or LENGTH) == LENGTH else None)
    with Interrupt() as stop, open_standard_input(paths) as given:
        if redaction is None:
            fewer.print_expected()
            reading = ReadingShown(paths)
            merged = MergedLog(
                given,
                query,
                on_many=fewer.print_met,
                with_objects=form != "text",
                watch=reading.listener,
                on_read=reading.show_read,
            )
            counts = merged.summary
            found = reading.show_until_first(merged.read_lines())
            if form == "text" and sys.stdout.isatty() and not with_address:
                lines = write_short(found, counts, evidence)
            else:
                lines = write_lines(found, form)
        else:
            lines, counts = redacted_log(redaction, given, query, form)
        is_complete = page_lines(lines, [] if no_pager else choose_pager())
        stop.raise_if_pressed()
    if not is_complete:  # the reader of the pager has seen enough
        click.get_current_context().exit(DONE)
    for line in describe_reading(counts, query.window):
        shown = line if redaction is None else redaction.redact_text(line)
        click.echo(f"backline: {for_terminal(shown)}", err=True)
    if pattern and not counts.lines and "(?i" not in pattern:
        any_case = for_terminal(shlex.quote(f"(?i){pattern}"))
        click.echo(f"backline: --grep is case-sensitive: --grep {any_case} does not", err=True)
    if counts.lines > MANY:
        fewer.print_again()
    click.get_current_context().exit(PARTIAL if counts.faults else DONE)


class ReadingShown:
    """Shows on a terminal what is read until the first line comes: all logs are read before it."""

    def __init__(self, paths: Sequence[Place]) -> None:
        self._bar: TriageProgress | None = None
        if sys.stderr.isatty() and DASH not in paths:
            from analyzer.commands.progress import TriageProgress

            self._bar = TriageProgress(paths)

    @property
    def listener(self) -> ReadListener | None:
        """What is called for each member that is read."""
        return ReadListener(ended=self._bar.show_member) if self._bar is not None else None

    def show_read(self, count: int) -> None:
        """Take how many bytes were read."""
        if self._bar is not None:
            self._bar.show_read(count)

    def show_until_first(self, lines: Iterator[MergedLine]) -> Iterator[MergedLine]:
        """Yield the lines; the progress line is there until the first one."""
        if self._bar is not None:
            with self._bar:
                first = list(islice(lines, 1))
            self._bar = None
            yield from first
        yield from lines


class FewerLines:
    """Prints that the lines are many as soon as that is known, and which options leave fewer."""

    def __init__(self, query: LogQuery, few: Narrowed | None) -> None:
        self._query, self._few, self._printed = query, few, False

    def print_expected(self) -> None:
        """Print how many lines a stretch is about to give, before anything is read."""
        query = self._query
        is_narrowed = query.object or query.pattern or query.level or query.host
        if self._few is not None and not is_narrowed:
            self._printed = True
            self._print_ways(f"about {self._few.about:,} lines")

    def print_met(self) -> None:
        """Print that more lines were met than anyone reads."""
        if not self._printed:
            self._print_ways("more than 5,000 lines")

    def print_again(self) -> None:
        """Repeat the options behind the lines, which have scrolled the first ones away."""
        self._print_ways("")

    def _print_ways(self, how_many: str) -> None:
        query = self._query
        thing, host = "--object vmnic3", "--host H"
        if self._few is not None:
            thing, host = shlex.join(self._few.thing), shlex.join(self._few.options)
        ways = []
        for option, is_given in (
            ("--level warning", query.level),
            (host, query.host),
            (thing, query.object),
            ("--grep RE", query.pattern),
        ):
            if not is_given:
                ways.append(option)
        advice = "a shorter --for"
        if ways:
            advice = f"{', '.join(filter(None, ways))} or {advice}"
        text = f"{how_many}; fewer: {advice}" if how_many else f"fewer: {advice}"
        click.echo(f"backline: {for_terminal(text)}", err=True)


def _find_window(
    around: str | None, length: str, case_at: Path | None, paths: Sequence[Any]
) -> tuple[TimeWindow, Narrowed | None, frozenset[EvidenceName]]:
    """Return the stretch that is asked for; of a finding also how to narrow it, and where its evidence is."""

    if around is None:
        return TimeWindow(), None, frozenset()
    span = moments.parse_span(length)
    moment = moments.parse_time(around)
    if moment is not None:
        return moments.center_window(moment, span), None, frozenset()
    document = case_file.read_case(_find_document(around, case_at, paths))
    moment = moments.find_clock(around, document.case.created)
    if moment is not None:
        return moments.center_window(moment, span), None, frozenset()
    finding = find_finding(document, around, example="Write a time as 2017-10-14T09:12:46Z.")
    few = LogDrawer(document).find_narrowed(finding)
    evidence = frozenset(name_evidence(one.address, one.line, one.text) for one in finding.evidence)
    return moments.center_window(moments.find_moment(finding), span), few, evidence


def _find_document(around: str, case_at: Path | None, paths: Sequence[Any]) -> Path:
    """Return where the case document is: the one that was named, else the one next to the material or where triage puts it."""
    if case_at is not None:
        check_paths((case_at,), UsageError)
        return case_at / "case.json" if case_at.is_dir() else case_at
    if paths:
        folder = paths[0] if paths[0].is_dir() else paths[0].parent
        for place in (folder / "case.json", choose_output(paths) / "case.json"):
            if isinstance(place, Path) and place.is_file():
                return place
    near = [f"--case {name.parent}" for name in sorted(Path().glob("*/case.json"))]
    what = f"{around!r} is not a time, and no case.json was found that has findings"
    if read_given_clock(around):
        what = f"{around!r} names no day, and no case.json was found that tells the last one"
    raise UsageError(
        what,
        do="Write a time as 2017-10-14T09:12:46Z, or say with --case where `backline triage` wrote its results.",
        choices=near,
    )
