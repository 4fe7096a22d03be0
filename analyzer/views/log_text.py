"""Merged lines as text, JSON lines or CSV, and the words on what was searched."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from analyzer.artefacts.logtime import without_time
from analyzer.merged_log.entry import TimeWindow
from analyzer.runtime.text import count_noun, for_csv, make_visible, natural_key, one_line
from analyzer.views.log_reading import LogSummary, MergedLine

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


def written(lines: Iterable[MergedLine], form: str) -> Iterator[str]:
    """Yield lines of output, each without its line end; foreign text cannot steer a terminal or a spreadsheet."""
    if form == "csv":
        yield ",".join(COLUMNS)
    make = {"text": _text, "jsonl": _json, "csv": _csv}[form]
    yield from map(make, lines)


def _text(line: MergedLine) -> str:
    head = [
        line.time,
        line.host or "-",
        line.log,
        line.level or "-",
        *([line.component] if line.component else []),
    ]
    text = without_time(line.text) if "time" not in line.assumed else line.text
    return one_line(f"{' '.join(head)}  {text.strip()}  [{line.address}:{line.line}]")


def _cells(line: MergedLine) -> dict[str, object]:
    return {name: getattr(line, name) for name in COLUMNS}


def _json(line: MergedLine) -> str:
    cells = _cells(line)
    return json.dumps(
        {
            name: make_visible(cell) if isinstance(cell, str) else cell
            for name, cell in cells.items()
        }
    )


def _csv(line: MergedLine) -> str:
    out = io.StringIO()
    cells = _cells(line) | {"assumed": " ".join(line.assumed)}
    csv.writer(out, lineterminator="").writerow([for_csv(cell) for cell in cells.values()])
    return out.getvalue()


def summary(told: LogSummary, window: TimeWindow) -> Iterator[str]:
    """Yield what is said beside the lines: how many, of what, and what is not among them."""
    asked = [one for host, one in told.seen if told.host in host.lower()]
    read = sum(not one.skipped for one in asked)
    skipped = len(asked) - read
    when = "" if window == TimeWindow() else f" from {_when(window.start)} to {_when(window.end)}"
    beyond = (
        f"; {skipped:,} more do not reach into it, by their first line and file time"
        if skipped
        else ""
    )
    yield f"{count_noun(told.lines, 'line')}{when}; {count_noun(read, 'log')} of {_hosts(told)} searched{beyond}"
    yield from _left_out(told)
    if not told.lines:
        yield from _spans(told)
    yield from _notes(told)


def _hosts(told: LogSummary) -> str:
    names = sorted(
        {host for host, _ in told.seen if host and told.host in host.lower()}, key=natural_key
    )
    shown = ", ".join(one_line(name, 80) for name in names[:_NOTED])
    return (
        f"{shown} and {len(names) - _NOTED:,} more" if len(names) > _NOTED else shown or "no host"
    )


def _spans(told: LogSummary) -> Iterator[str]:
    """Yield what each log of each host covers."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for host, one in told.seen:
        if told.host not in host.lower():
            continue
        known = told.spans.get(one.part.address, {}).get((one.part.scope, one.part.table), ("", ""))
        far = one.skipped and one.first is not None and one.last is not None
        found.setdefault((host, one.part.name), []).append(
            (_when(one.first), _when(one.last)) if far else known
        )
    if not found:
        yield "no log was found in this material"
    elif any(one.skipped for _, one in told.seen):
        yield "what the logs cover (of those not read, from their first line to the time of their file):"
    for (host, log), spans in sorted(
        found.items(), key=lambda item: natural_key(" ".join(item[0]))
    ):
        ends = sorted(end for span in spans for end in span if end)
        covers = f"{ends[0]} to {ends[-1]}" if ends else "no times in its lines"
        yield f"  {one_line(host or '-', 80)} {one_line(log, 80)}: {covers}, {count_noun(len(spans), 'file')}"


def _left_out(told: LogSummary) -> Iterator[str]:
    if told.evidence:
        yield f"shown although filtered out, as evidence of the finding: {count_noun(told.evidence, 'line')}"
    if told.doubles:
        yield f"left out, repeated in a second log of the host: {count_noun(told.doubles, 'line')}"
    if told.no_level:
        yield f"left out by --level, without a level: {count_noun(told.no_level, 'line')}"
    if told.undecided:
        yield f"left out, too slow for the pattern: {count_noun(told.undecided, 'line')}"


def _notes(told: LogSummary) -> Iterator[str]:
    timeless = [one for _, one in told.seen if one.timeless]
    if timeless:
        lines = sum(one.timeless for one in timeless)
        first = f"the first in {one_line(timeless[0].part.address)}"
        yield f"left out, no line above them has a time: {count_noun(lines, 'line')}, {first}"
    guessed = [(one, year) for _, one in told.seen for year in sorted(one.guessed)]
    for one, year in guessed[:_NOTED]:
        yield f"the lines of {one_line(one.part.address)} name no year: {year} is a guess"
    for address, before, after in told.back[:_NOTED]:
        yield (
            f"{one_line(address)}: the clock went back from {before} to {after}; lines are sorted by their own time"
        )
    for address, holes in list(told.holes.items())[:_NOTED]:
        yield f"{one_line(address)}: {count_noun(holes, 'NUL byte')} where lines were: a gap such as a power loss leaves"
    for what in told.faults[:_NOTED]:
        yield one_line(what)
    if len(told.faults) > _NOTED:
        yield f"and {len(told.faults) - _NOTED:,} more faults of the material; `backline triage` lists them"


def _when(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""
