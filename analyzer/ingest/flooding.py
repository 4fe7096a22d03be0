"""Logs that one statement fills: it rotates away what was before, so the log reaches back hours in place of days.

A few lines of each block stand for all of them (`LogScan.sampled`), so that this costs next to nothing and memory does
not grow with a log. A repeated statement is a fault of its own, whatever it says, and the reason why the log says
nothing of the time before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from analyzer.ingest.statements import extract_words
from analyzer.runtime.text import one_line
from analyzer.secrets.values import hide_lone_line

if TYPE_CHECKING:
    from analyzer.scan.hits import LogScan

SHARE = 0.6  # of the lines that one statement makes. Our own, as the others
REACH_H = 24.0  # hours that the log covers with its rotated copies; less is a flood
LOOKED = 100  # lines that have to be looked at
MEMBERS = 3  # of the log: one that was never rotated has lost nothing
_KEPT = 32  # statements of a log
_SHOWN = 100  # characters of a statement
# many logs in one table; one line a request by its nature
_NOT_JUDGED = ("esxi.vm_log", "esxi.envoy_access")


@dataclass(slots=True)
class _Statements:
    """What the members of one log say: statement -> lines, estimated from those that were looked at."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    looked: int = 0
    members: int = 0


@dataclass(slots=True)
class Talk:
    """What each log of a bundle says most."""

    _logs: dict[tuple[str, str], _Statements] = field(
        default_factory=lambda: defaultdict(_Statements)
    )

    def count_lines(self, place: Any, scan: LogScan) -> None:
        """Count what the sampled lines of a member say, and let go of them; an excerpt was chosen by somebody."""
        sampled, scan.sampled = scan.sampled, []
        if place.scope != "root" or scan.excerpt or not sampled or scan.table in _NOT_JUDGED:
            return
        log = self._logs[place.key, scan.table]
        log.members += 1
        log.looked += len(sampled)
        log.lines += scan.lines
        words = Counter(extract_words(line.decode("utf-8", "replace")) for line in sampled)
        for statement, count in words.most_common(_KEPT):
            log.counts[statement] += round(count * scan.lines / len(sampled))
        if len(log.counts) > 2 * _KEPT:
            log.counts = Counter(dict(log.counts.most_common(_KEPT)))

    def find_floods(self, spans: Iterable[Any]) -> Iterator[tuple[str, str]]:
        """Yield place and remark of each log that one statement fills so far that it reaches back hours."""
        times: dict[tuple[str, str], list[datetime]] = defaultdict(list)
        files: dict[tuple[str, str], str] = {}
        for span in spans:
            key = span.place.key, span.table
            if key in self._logs and span.first and span.last:
                times[key] += map(datetime.fromisoformat, (span.first, span.last))
                file = span.address.rpartition("/")[2]
                files[key] = min(files.get(key, file), file, key=len)

        for key, log in self._logs.items():
            if log.looked < LOOKED or log.members < MEMBERS or key not in times:
                continue
            [(statement, count)] = log.counts.most_common(1)
            reach = max(times[key]) - min(times[key])
            hours = reach.total_seconds() / 3600
            if count < SHARE * log.lines or hours >= REACH_H:
                continue
            shown = hide_lone_line(one_line(statement, _SHOWN))
            share = count / log.lines
            remark = (
                f'{files[key]} is flooded: about {share:.0%} of its lines say "{shown}", and its'
                f" {log.members} files reach back {hours:.1f} hours; older lines were rotated away (our own bars:"
                f" {SHARE:.0%} of the lines, {REACH_H:.0f} hours)"
            )
            yield key[0], remark
