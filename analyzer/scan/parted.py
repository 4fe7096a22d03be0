"""Searches a log that mixes lines of several machines or programs, part by part in one pass.

Each part sees blank lines where the others wrote, so that line numbers stay those of the file and the
neighbours of a hit are never another machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol

from analyzer.artefacts.logtime import stamped
from analyzer.scan.blocks import LineBlock, LineBlocks, Source
from analyzer.scan.heads import Heads
from analyzer.scan.hits import LogScan
from analyzer.scan.time_span import Ends


class BlockSearch(Protocol):
    """The search of one log, block by block."""

    def search_block(self, block: LineBlock) -> None:
        """Search one block."""

    def close(self) -> None:
        """Put the hits in order; call after the last block."""


@dataclass(slots=True)
class _Part:
    result: LogScan
    search: BlockSearch | None
    ends: Ends
    heads: Heads | None


@dataclass(slots=True)
class Parted:
    """The search of one source.

    part_of    the part a stamped line belongs to; a line without a stamp goes on with the one before
    begin      makes the empty result of a new part
    searching  begins a search that fills a result, None when nothing is looked for there
    counting   gives what counts the lines of a part that no form takes
    """

    part_of: Callable[[bytes], Hashable]
    begin: Callable[[Hashable], LogScan]
    searching: Callable[[LogScan], BlockSearch | None]
    counting: Callable[[Hashable, LogScan], Heads | None] = lambda _key, _result: None
    _parts: dict[Hashable, _Part] = field(default_factory=dict)
    _now: Hashable = None

    def scan(self, source: Source, limit: int, first_line: int = 1) -> list[LogScan]:
        """Read a source to its end; return the results in the order in which their parts began."""
        blocks = LineBlocks(source, limit, first_line=first_line)
        for block in blocks:
            lines = bytes(memoryview(block.data)[: block.end]).split(b"\n")[:-1]
            places: dict[Hashable, list[int]] = {}
            for place, line in enumerate(lines):
                if self._now is None or stamped(line):
                    self._now = self.part_of(line)
                places.setdefault(self._now, []).append(place)
            for key, own in places.items():
                part = self._parts.get(key)
                if part is None:
                    result = self.begin(key)
                    search, heads = self.searching(result), self.counting(key, result)
                    part = self._parts[key] = _Part(result, search, Ends(result), heads)
                kept = b"\n".join([lines[place] for place in own]) + b"\n"
                part.result.lines += len(own)
                part.result.bytes += len(kept)
                part.ends.see_block(LineBlock(kept, len(kept), 1, len(own)))
                if part.search is None and part.heads is None:
                    continue
                padded = kept if len(own) == len(lines) else _pad_lines(own, lines)
                spread_out = LineBlock(padded, len(padded), block.first_line, len(lines))
                if part.heads is not None:
                    part.heads.see_block(spread_out)
                if part.search is not None:
                    part.search.search_block(spread_out)

        tally = blocks.tally
        for part in self._parts.values():
            if part.search is not None:
                part.search.close()
            part.ends.close()
            result = part.result
            result.cut, result.nul_bytes = tally.cut, tally.nul_bytes
            result.nul_gaps = list(tally.nul_gaps)
        results = [part.result for part in self._parts.values()]
        if results:  # reported once, not for each part
            results[0].long_lines, results[0].long_at = tally.long_lines, tally.long_at
        return results


def _pad_lines(own: list[int], lines: list[bytes]) -> bytes:
    """Return the lines at some places, with blank lines at all others."""
    spread = []
    after = 0
    for place in own:
        spread.append(b"\n" * (place - after) + lines[place] + b"\n")
        after = place + 1
    spread.append(b"\n" * (len(lines) - after))
    return b"".join(spread)
