"""Outputs that a terminal broke after its last column, where their parser understands them only when put together.

A table without a ruler shows nothing by which a broken row is known. So the parser decides: what is put together counts
when it then understands every line and finds more rows than before, or as many where all it did not understand are
rests. Where a rest stood is a blank line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from analyzer.sources.wrapped import COLUMNS
from analyzer.tables import Block, Fault, Row

MOST_LINES = 2000  # of an output that is tried again
_SURE = 3  # rests that are no accident
_PARTS = (2, 3)  # lines that one line became, where the blanks at their ends were lost


class Reread(NamedTuple):
    """What an output gives: its rows and faults, and whether the lines below it were its own."""

    rows: list[Row]
    faults: list[Fault]
    took_below: bool = False


def as_printed(
    block: Block,
    rows: list[Row],
    faults: list[Fault],
    read: Callable[[Block], Iterable[Row | Fault]],
    below: Sequence[str] = (),
) -> Reread:
    """Return what an output gives as it was before a terminal broke its lines; what was given where none did.

    below  lines that follow and that nothing reads: the rest of the last row may be among them
    """
    width = max(map(len, block.lines), default=0)
    if not faults or width not in COLUMNS or len(block.lines) + len(below) > MOST_LINES:
        return Reread(rows, faults)
    least = len(rows) + (0 if _all_rests(block, faults, width) else 1)
    for further in (below, ()) if below else ((),):
        for lines in _whole([*block.lines, *further], width):
            again = list(read(replace(block, lines=lines)))
            found = [item for item in again if isinstance(item, Row)]
            if len(found) == len(again) >= least:
                return Reread(found, [], bool(further))
    return Reread(rows, faults)


def _all_rests(block: Block, faults: Sequence[Fault], width: int) -> bool:
    """Tell whether what was not understood stands below full lines alone: cells of rows that are there already."""
    above = [fault.line - block.first_line - 1 for fault in faults]
    return len(above) >= _SURE and all(at >= 0 and len(block.lines[at]) == width for at in above)


def _whole(lines: Sequence[str], width: int) -> Iterator[list[str]]:
    """Yield the lines put together: each full line with the next, or all of a paragraph in twos or threes."""
    yield _joined(
        lines, [at for at in range(1, len(lines)) if len(lines[at - 1]) == width and lines[at].strip()], width
    )
    for parts in _PARTS:
        rests: list[int] = []
        for begin, end in _paragraphs(lines):
            if (end - begin) % parts == 0 and any(len(line) == width for line in lines[begin:end]):
                rests += [at for at in range(begin, end) if (at - begin) % parts]
        yield _joined(lines, rests, width)


def _joined(lines: Sequence[str], rests: Sequence[int], width: int) -> list[str]:
    """Put each rest behind the line above, which was as wide as the terminal."""
    whole = list(lines)
    for at in reversed(rests):
        whole[at - 1] = whole[at - 1].ljust(width) + whole[at]
        whole[at] = ""
    return whole


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches between blank lines: the first of each, and the line after it."""
    begin = 0
    for at in range(len(lines) + 1):
        if at == len(lines) or not lines[at].strip():
            if at > begin:
                yield begin, at
            begin = at + 1
