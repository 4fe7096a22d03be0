"""Lines that are counted by kind instead of kept: a storm of one kind never hides another kind.

Every line is counted, so that each kind's count is exact. Of each kind only its first and its last line are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from analyzer.scan.blocks import LineBlock
from analyzer.scan.hits import LogScan, Signature, Tally, decode_line

KINDS = 400  # of a signature on a node; lines of further kinds are counted together
OTHERS = "\x7f"  # the kind of those
TEXT = 1024  # characters kept of a line
MOST_BYTES = 4 * TEXT  # that they take
_NEAR = 400  # bytes between two lines of one run: other CPUs write lines in between


class CountedLine(NamedTuple):
    """A line that is counted, by its place in its block."""

    start: int
    stop: int


@dataclass(slots=True)
class LineRun:
    """The lines of one kind in a block: where the first and the last stand, and their number."""

    first: CountedLine
    last: CountedLine
    count: int


@dataclass(slots=True)
class KindShare:
    """How many kinds of a signature are kept on one node, over all members."""

    kept: int = 0


def find_counted(
    scans: Iterable[LogScan], prefix: str
) -> Iterator[tuple[LogScan, str, str, Tally]]:
    """Yield each scan with the rest of the signature's name, the kind and its count, of signatures so named."""
    for scan in scans:
        for (name, kind), tally in scan.tallies.items():
            if name.startswith(prefix):
                yield scan, name.removeprefix(prefix), kind, tally


def read_text(block: LineBlock, line: CountedLine) -> str:
    """Return what is kept of a line."""
    stop = min(line.stop, line.start + MOST_BYTES)
    return decode_line(block.data[line.start : stop])[:TEXT]


class Tallies:
    """Counts the lines of one member for the signatures that only count."""

    def __init__(
        self,
        signatures: Iterable[Signature],
        shares: Mapping[str, KindShare],
        result: dict[tuple[str, str], Tally],
    ) -> None:
        self._shares, self._result = shares, result
        self._runs: dict[
            str, tuple[int, str]
        ] = {}  # by signature: where its last run ended, and the kind of it
        for signature in signatures:
            if signature.runs:
                self._runs[signature.id] = -_NEAR - 1, ""
        self._firsts: dict[tuple[str, str], CountedLine] = {}
        self._lasts: dict[tuple[str, str], CountedLine] = {}

    def count_line(self, name: str, kind: str, line: CountedLine) -> None:
        """Count one line of a block for the signature of a name; lines come in their order."""
        if name in self._runs:
            end, open_kind = self._runs[name]
            goes_on = bool(kind and open_kind) and line.start - end <= _NEAR
            self._runs[name] = line.stop, open_kind if goes_on else kind
            if goes_on:
                self._lasts[name, open_kind] = line
                return
        if kind:
            key = self._keep_kind(name, kind, line)
            self._result[key].count += 1
            self._lasts[key] = line

    def count_lines(self, name: str, kind: str, lines: LineRun) -> None:
        """Count all lines of one kind in a block, for a signature without runs."""
        if not kind:
            return
        key = self._keep_kind(name, kind, lines.first)
        self._result[key].count += lines.count
        known = self._lasts.get(key)
        # kinds that are counted together come in the order of their first lines
        if known is None or known.start < lines.last.start:
            self._lasts[key] = lines.last

    def _keep_kind(self, name: str, kind: str, line: CountedLine) -> tuple[str, str]:
        """Return under which name a kind is counted; of a new one the line is kept as its first."""
        share, key = self._shares[name], (name, kind)
        if key not in self._result:
            if share.kept >= KINDS:
                key = name, OTHERS
                if name in self._runs:
                    self._runs[name] = line.stop, OTHERS
            if key not in self._result:
                share.kept += 1
                self._result[key] = Tally()
                self._firsts[key] = line
        return key

    def number_lines(self, block: LineBlock) -> None:
        """Give the lines that are kept of this block their numbers; call it after each block."""
        starts = [line.start for line in self._firsts.values()]
        starts += [line.start for line in self._lasts.values()]
        numbers: dict[int, int] = {}
        number, at = block.first_line, 0
        for start in sorted(starts):
            number += block.count(at, start)
            at = start
            numbers[start] = number
        for key, line in self._firsts.items():
            self._result[key].first = numbers[line.start], read_text(block, line)
        for key, line in self._lasts.items():
            self._result[key].last = numbers[line.start], read_text(block, line)
        self._firsts, self._lasts = {}, {}
        for name, (end, kind) in self._runs.items():
            self._runs[name] = end - block.end, kind
