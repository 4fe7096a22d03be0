"""Merged lines as text, JSON lines or CSV, and the words on what was searched."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from analyzer.artefacts.logtime import without_time
from analyzer.merged_log.entry import TimeWindow
from analyzer.runtime.text import count_noun, for_csv, make_visible, natural_key, one_line
from analyzer.views.log_reading import EvidenceName, LogSummary, MergedLine, name_evidence

COLUMNS = (
    "time",
    "host",
    "log",
    "level",
    "component",
    "object",
    "text",
    "address",
    "line",
    "assumed",
)
FORMS = ("text", "jsonl", "csv")
_NOTED = 3
_CLOCK = 12  # characters of a time to the millisecond
_TAG = 9
# How bad a line is, where it is at all.
_LEVEL_MARKS = {
    "emergency": "EMRG", "alert": "ALRT", "critical": "CRIT", "error": "ERR", "warning": "WARN",
}  # fmt: skip


def write_lines(lines: Iterable[MergedLine], form: str) -> Iterator[str]:
    """Yield lines of output, each without its line end; foreign text cannot steer a terminal or a spreadsheet."""
    if form == "csv":
        yield ",".join(COLUMNS)
    write_line = {"text": write_text, "jsonl": write_json, "csv": write_csv}[form]
    for line in lines:
        yield write_line(line)


def write_text(line: MergedLine) -> str:
    """Return a line as people read it: its time in UTC, what it comes from, its text and its place."""
    head = [line.time, line.host or "-", line.log, line.level or "-"]
    if line.component:
        head.append(line.component)
    if "time" in line.assumed:
        text = line.text
    else:
        text = without_time(line.text)
    return one_line(f"{' '.join(head)}  {text.strip()}  [{line.address}:{line.line}]")


def write_short(
    lines: Iterable[MergedLine], summary: LogSummary, evidence: Collection[EvidenceName]
) -> Iterator[str]:
    """Yield lines for a terminal: `>` for evidence, the time, a letter for the machine, the log, how bad, the text.

    The date stands above the first line of each day, and what the letters mean above all.
    """
    letters: dict[str, str] = {}
    day = ""
    for line in lines:
        if not day:
            letters = assign_letters(host for host in summary.hosts if summary.host in host.lower())
            if len(letters) > 1:
                yield one_line(", ".join(f"{letter} {host}" for host, letter in letters.items()))
        if line.time[:10] != day:
            day = line.time[:10]
            yield f"-- {day} (UTC) --"
        text = line.text if "time" in line.assumed else without_time(line.text)
        tag = line.log
        if len(letters) > 1:
            tag = f"{letters.get(line.host, '-')}: {tag}"
        is_evidence = (
            bool(evidence) and name_evidence(line.address, line.line, line.text) in evidence
        )
        mark = ">" if is_evidence else " "
        clock = line.time[11:].rstrip("Z")[:_CLOCK]
        level = _LEVEL_MARKS.get(line.level.lower(), "")
        yield one_line(
            f"{mark}{clock:<{_CLOCK}} {tag:<{_TAG}} {level:<4} {text.lstrip(': ').rstrip()}"
        )


def assign_letters(hosts: Iterable[str]) -> dict[str, str]:
    """Return a letter for each machine, in the order of their names: A to Z, then AA, AB."""
    letters = {}
    for number, host in enumerate(sorted(hosts, key=natural_key)):
        rest, place = divmod(number, 26)
        letter = chr(ord("A") + place)
        while rest:
            rest, place = divmod(rest - 1, 26)
            letter = chr(ord("A") + place) + letter
        letters[host] = letter
    return letters


def write_json(line: MergedLine) -> str:
    """Return a line as a JSON object."""
    cells = {}
    for name in COLUMNS:
        cell = getattr(line, name)
        cells[name] = make_visible(cell) if isinstance(cell, str) else cell
    return json.dumps(cells)


def write_csv(line: MergedLine) -> str:
    """Return a line as a row of CSV."""
    cells = [getattr(line, name) for name in COLUMNS[:-1]]
    cells.append(" ".join(line.assumed))
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([for_csv(cell) for cell in cells])
    return out.getvalue()


def describe_reading(summary: LogSummary, window: TimeWindow) -> Iterator[str]:
    """Yield what is printed next to the lines: how many, of what, and what is not among them."""
    hosts = set()
    read = skipped = 0
    for host, log in summary.seen:
        if summary.host not in host.lower():
            continue
        hosts.add(host)
        if log.skipped:
            skipped += 1
        else:
            read += 1
    names = sorted(filter(None, hosts), key=natural_key)
    shown = ", ".join(one_line(name, 80) for name in names[:_NOTED]) or "no host"
    if len(names) > _NOTED:
        shown += f" and {len(names) - _NOTED:,} more"
    when = ""
    if window != TimeWindow():
        when = f" from {format_time(window.start)} to {format_time(window.end)}"
    text = (
        f"{count_noun(summary.lines, 'line')}{when}; {count_noun(read, 'log')} of {shown} searched"
    )
    if skipped:
        text += f"; {skipped:,} more do not reach into it, by their first line and file time"
    yield text
    for count, what in (
        (summary.evidence, "shown although filtered out, as evidence of the finding"),
        (summary.doubles, "left out, repeated in a second log of the host"),
        (summary.no_level, "left out by --level, without a level"),
        (summary.undecided, "left out, too slow for the pattern"),
    ):
        if count:
            yield f"{what}: {count_noun(count, 'line')}"
    if not summary.lines:
        yield from describe_spans(summary)
    yield from describe_faults(summary)


def describe_spans(summary: LogSummary) -> Iterator[str]:
    """Yield what each log of each host covers."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for host, log in summary.seen:
        if summary.host not in host.lower():
            continue
        part = log.part
        spans_here = summary.spans.get(part.address, {})
        span = spans_here.get((part.scope, part.table), ("", ""))
        if log.skipped and log.first is not None and log.last is not None:
            span = format_time(log.first), format_time(log.last)
        found.setdefault((host, part.name), []).append(span)
    if not found:
        yield "no log was found in this material"
    elif any(log.skipped for _, log in summary.seen):
        yield "what the logs cover (of those not read, from their first line to the time of their file):"
    for key in sorted(found, key=lambda key: natural_key(" ".join(key))):
        host, name = key
        ends = []
        for span in found[key]:
            ends += [end for end in span if end]
        covers = "no times in its lines"
        if ends:
            covers = f"{min(ends)} to {max(ends)}"
        files = count_noun(len(found[key]), "file")
        host = one_line(host or "-", 80)
        name = one_line(name, 80)
        yield f"  {host} {name}: {covers}, {files}"


def describe_faults(summary: LogSummary) -> Iterator[str]:
    """Yield what is wrong with the logs: lines without a time, guessed years, clocks, holes, damage."""
    timeless = [log for _, log in summary.seen if log.timeless]
    if timeless:
        lines = count_noun(sum(log.timeless for log in timeless), "line")
        first = one_line(timeless[0].part.address)
        yield f"left out, no line above them has a time: {lines}, the first in {first}"
    guessed = []
    for _, log in summary.seen:
        address = one_line(log.part.address)
        for year in sorted(log.guessed):
            guessed.append(f"the lines of {address} name no year: {year} is a guess")
    yield from guessed[:_NOTED]
    for address, before, after in summary.back[:_NOTED]:
        back = f"the clock went back from {before} to {after}"
        yield f"{one_line(address)}: {back}; lines are sorted by their own time"
    for address, count in list(summary.holes.items())[:_NOTED]:
        holes = count_noun(count, "NUL byte")
        yield f"{one_line(address)}: {holes} where lines were: a gap such as a power loss leaves"
    for fault in summary.faults[:_NOTED]:
        yield one_line(fault)
    more = len(summary.faults) - _NOTED
    if more > 0:
        yield f"and {more:,} more faults of the material; `backline triage` lists them"


def format_time(moment: datetime | None) -> str:
    """Return a moment to the second, "" for none."""
    if moment:
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ""
