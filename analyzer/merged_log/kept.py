"""The lines that a case document keeps around findings and moments: what the search of the logs has kept of them.

Nothing is read for it: they are the lines that signatures of rules matched, whether or not a finding rests on them,
each with its neighbours. `backline log` prints all lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from analyzer.artefacts.loghost import object_of_line
from analyzer.artefacts.logtime import line_time
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts
from analyzer.merged_log.around import parse_time
from analyzer.merged_log.entry import LogEntry, LogPart, format_stamp
from analyzer.runtime.text import one_line
from analyzer.scan.hits import Hit, LogScan

AROUND = timedelta(minutes=5)
MOST = 300  # lines kept of a case
EACH = 20  # hits kept around one moment
MOMENTS = 100  # looked at, those of findings first, the worst before the others
LOOKED_AT = 1000  # hits of one log
TEXT = 400  # characters of a line


class TimedHit(NamedTuple):
    """A hit with its time and the search that found it."""

    when: datetime
    scan: LogScan
    hit: Hit

    @property
    def order(self) -> tuple[str, int, bool, str]:
        """Sort key of one moment; of two logs that have a line, the one its file is named after comes first."""
        name = self.scan.part_of or self.scan.table
        address = self.hit.address
        return address, self.hit.line, name.rpartition(".")[2] not in address, name


class KeptLine(NamedTuple):
    """A line and the node whose log has it."""

    node: str
    entry: LogEntry


def keep_lines(
    facts: Facts,
    judgement: Judgement,
    timeline: Sequence[Mapping[str, Any]],
    signatures: Collection[str],
) -> list[dict[str, Any]]:
    """Return the lines around findings and moments of the time line, in order of time: the records of the document.

    signatures  ids of those of the catalog: what else was looked for is no part of a stored case
    """
    moments = list(dict.fromkeys(islice(list_moments(judgement, timeline), MOMENTS)))
    if not moments:
        return []
    hits = sorted(time_hits(facts, frozenset(signatures)), key=lambda hit: (hit.when, *hit.order))
    times = [hit.when for hit in hits]
    found: dict[tuple[str, str, int], KeptLine] = {}  # by node, address, line
    for moment in moments:
        first = bisect_left(times, moment - AROUND)
        last = bisect_left(times, moment + AROUND)
        near = hits[first:last]
        near.sort(key=lambda hit: (abs(hit.when - moment), *hit.order))
        for hit in near[:EACH]:
            for entry in list_neighbours(hit):
                place = hit.scan.node, entry.part.address, entry.number
                if len(found) < MOST:
                    found.setdefault(place, KeptLine(facts.name(hit.scan.node), entry))
    unique: dict[tuple[Any, ...], dict[str, Any]] = {}
    for _, line in sorted(found.items(), key=lambda item: (item[1].entry.when, *item[0])):
        entry = line.entry
        key = (line.node, entry.when, entry.lines[0][1])
        if key not in unique:
            unique[key] = write_record(entry, line.node)
    return list(unique.values())


def list_moments(judgement: Judgement, timeline: Sequence[Mapping[str, Any]]) -> Iterator[datetime]:
    """Yield the moments of findings, those of the worst first, then those of the time line."""
    # Findings are in the order of `analyzer.case.ranking`.
    worst = sorted(judgement.findings, key=lambda finding: bool(finding.muted))
    times = [finding.first_seen for finding in worst]
    times += [str(event["time"]) for event in timeline]
    for time in times:
        moment = parse_time(time) if time else None
        if moment is not None:
            yield moment


def time_hits(facts: Facts, signatures: frozenset[str]) -> Iterator[TimedHit]:
    """Yield the hits that have a time, each line once."""
    for scan in facts.scans:
        seen = set()
        for hit in islice(scan.hits, LOOKED_AT):
            if hit.signature not in signatures or hit.line in seen:
                continue
            seen.add(hit.line)
            when = read_time(hit.text, hit.address)
            if when is not None:
                yield TimedHit(when, scan, hit)


def read_time(text: str, address: str) -> datetime | None:
    """Return the time of a line, None where it has none."""
    found, _ = line_time(text[:200].encode("utf-8", "replace"), address)
    return None if found is None else found.when


def list_neighbours(one: TimedHit) -> Iterator[LogEntry]:
    """Yield a hit and the lines around it that bear a time: what one without goes on with may be out of sight."""
    scan = one.scan
    hit = one.hit
    part = LogPart(0, hit.address, scan.part_of or scan.table, scan.scope)
    before, after = hit.around
    number = hit.line - len(before)
    for text in [*before, hit.text, *after]:
        when = read_time(text, hit.address)
        if when is not None and abs(when - one.when) <= AROUND:
            yield LogEntry(when, 0, number, ((number, text),), part)
        number += 1


def write_record(entry: LogEntry, node: str) -> dict[str, Any]:
    """Return a line as a record of the document."""
    level, component = entry.level_and_component()
    number, text = entry.lines[0]
    return {
        "time": format_stamp(entry),
        "node": node,
        "log": entry.part.name,
        "level": level,
        "component": component,
        "object": object_of_line(text),
        "text": one_line(text, TEXT),
        "address": entry.part.address,
        "line": number,
    }
