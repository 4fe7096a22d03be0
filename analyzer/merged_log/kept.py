"""The lines that a case document keeps around findings and moments: what the search of the logs has kept of them.

Nothing is read for it: they are the lines that signatures of rules matched, whether or not a finding rests on them,
each with its neighbours. `backline log` prints all lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from analyzer.artefacts.loghost import object_of_line
from analyzer.artefacts.logtime import line_time
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts
from analyzer.merged_log.around import typed
from analyzer.merged_log.entry import LogEntry, LogPart, stamp_of
from analyzer.runtime.text import one_line
from analyzer.scan.hits import Hit, LogScan

AROUND = timedelta(minutes=5)
MOST = 300  # lines kept of a case
EACH = 20  # hits kept around one moment
MOMENTS = 100  # looked at, those of findings first, the worst before the others
LOOKED_AT = 1000  # hits of one log
TEXT = 400  # characters of a line
Record = dict[str, Any]
_Place = tuple[str, str, int]  # node, address, line


def kept_lines(
    facts: Facts,
    judgement: Judgement,
    timeline: Sequence[Mapping[str, Any]],
    signatures: Collection[str],
) -> list[Record]:
    """Return the lines around findings and moments of the time line, in order of time: the records of the document.

    signatures  ids of those of the catalog: what else was looked for is no part of a stored case
    """
    moments = list(dict.fromkeys(islice(_moments(judgement, timeline), MOMENTS)))
    if not moments:
        return []
    hits = sorted(
        _hits(facts, frozenset(signatures)), key=lambda one: (one[0], *_order(one[1], one[2]))
    )
    times = [one[0] for one in hits]
    found: dict[_Place, LogEntry] = {}
    nodes: dict[_Place, str] = {}
    for moment in moments:
        first, last = bisect_left(times, moment - AROUND), bisect_left(times, moment + AROUND)
        near = sorted(
            hits[first:last], key=lambda one: (abs(one[0] - moment), *_order(one[1], one[2]))
        )
        for when, scan, hit in near[:EACH]:
            for place, entry in _with_neighbours(when, scan, hit):
                if len(found) < MOST or place in found:
                    found.setdefault(place, entry)
                    nodes[place] = facts.name(scan.node)
    unique: dict[tuple[Any, ...], Record] = {}
    for place, entry in sorted(found.items(), key=lambda one: (one[1].when, *one[0])):
        unique.setdefault(
            (nodes[place], entry.when, entry.lines[0][1]), _record(entry, nodes[place])
        )
    return list(unique.values())


def _order(scan: LogScan, hit: Hit) -> tuple[str, int, bool, str]:
    """Order the hits of one moment; of two logs that have a line, the one its file is named after comes first."""
    name = scan.part_of or scan.table
    return hit.address, hit.line, name.rpartition(".")[2] not in hit.address, name


def _moments(judgement: Judgement, timeline: Sequence[Mapping[str, Any]]) -> Iterator[datetime]:
    worst = sorted(
        judgement.findings, key=lambda one: bool(one.muted)
    )  # they are in the order of `analyzer.case.ranking`
    for time in [*(one.first_seen for one in worst), *(str(one["time"]) for one in timeline)]:
        if time and (moment := typed(time)):
            yield moment


def _hits(facts: Facts, signatures: frozenset[str]) -> Iterator[tuple[datetime, LogScan, Hit]]:
    for scan in facts.scans:
        seen = set()
        for hit in islice(scan.hits, LOOKED_AT):
            if hit.signature not in signatures or hit.line in seen:
                continue
            seen.add(hit.line)
            found, _ = line_time(hit.text[:200].encode("utf-8", "replace"), hit.address)
            if found is not None:
                yield found.when, scan, hit


def _with_neighbours(when: datetime, scan: LogScan, hit: Hit) -> Iterator[tuple[_Place, LogEntry]]:
    """Yield a hit and the lines around it that bear a time: what one without goes on with may stand out of sight."""
    part = LogPart(0, hit.address, scan.part_of or scan.table, scan.scope)
    before, after = hit.around
    first = hit.line - len(before)
    for number, text in enumerate([*before, hit.text, *after], first):
        found, _ = line_time(text[:200].encode("utf-8", "replace"), hit.address)
        if found is not None and abs(found.when - when) <= AROUND:
            yield (
                (scan.node, hit.address, number),
                LogEntry(found.when, 0, number, ((number, text),), part),
            )


def _record(entry: LogEntry, node: str) -> Record:
    level, component = entry.level_and_component()
    number, text = entry.lines[0]
    return {
        "time": stamp_of(entry), "node": node, "log": entry.part.name, "level": level, "component": component,
        "object": object_of_line(text), "text": one_line(text, TEXT), "address": entry.part.address,
        "line": number,
    }  # fmt: skip
