"""Outputs that a terminal or a mail broke, where their parser understands them only when put together.

A terminal breaks after its last column, a mail between words: the first word of a rest had no room in the line above.

A table without a ruler shows nothing by which a broken row is known. So the parser decides: what is put together counts
when it then understands every line and finds more rows than before, or as many where all it did not understand are
rests. Where a rest stood is a blank line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.sources.wrapped import COLUMNS, MAIL

MOST_LINES = 2000  # of an output that is tried again
NARROWEST = 60  # characters of the widest line of what a mail broke
_MOST_MAILED = 200  # lines of an output that a mail may have broken
_MOST_TRIES = 300
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
    size = len(block.lines) + len(below)
    if not faults or size > MOST_LINES:
        return Reread(rows, faults)
    if width not in COLUMNS:
        return (
            _mailed(block, rows, faults, read, below)
            if size <= _MOST_MAILED
            else Reread(rows, faults)
        )
    least = len(rows) + (0 if _all_rests(block, faults, width) else 1)
    for further in (below, ()) if below else ((),):
        for lines in _whole([*block.lines, *further], width):
            again = list(read(replace(block, lines=lines)))
            found = [item for item in again if isinstance(item, Row)]
            if len(found) == len(again) >= least:
                return Reread(found, [], bool(further))
    return Reread(rows, faults)


def _mailed(
    block: Block,
    rows: list[Row],
    faults: list[Fault],
    read: Callable[[Block], Iterable[Row | Fault]],
    below: Sequence[str],
) -> Reread:
    """Return what an output gives as it was before a mail broke its lines; what was given where none did."""
    width = max((len(line) for line in block.lines if " " in line.strip()), default=0)
    if not NARROWEST <= width <= MAIL:
        return Reread(rows, faults)

    def strange(lines: list[str]) -> list[int]:
        """Return which of some lines are not understood, counted from 0, in order."""
        faults = (item for item in read(replace(block, lines=lines)) if isinstance(item, Fault))
        return sorted({fault.line - block.first_line for fault in faults})

    for further, gap in product((below, ()) if below else ((),), ("  ", " ")):
        lines = _between_words([*block.lines, *further], width, gap, strange)
        again = list(read(replace(block, lines=lines)))
        found = [item for item in again if isinstance(item, Row)]
        if len(found) == len(again) > len(rows):
            return Reread(found, [], bool(further))
    return Reread(rows, faults)


def _all_rests(block: Block, faults: Sequence[Fault], width: int) -> bool:
    """Tell whether what was not understood stands below full lines alone: cells of rows that are there already."""
    above = [fault.line - block.first_line - 1 for fault in faults]
    return len(above) >= _SURE and all(at >= 0 and len(block.lines[at]) == width for at in above)


def _whole(lines: Sequence[str], width: int) -> Iterator[list[str]]:
    """Yield the lines put together: each full line with the next, or all of a paragraph in twos or threes."""
    yield _joined(
        lines,
        [at for at in range(1, len(lines)) if len(lines[at - 1]) == width and lines[at].strip()],
        width,
    )
    for parts in _PARTS:
        rests: list[int] = []
        for begin, end in _paragraphs(lines):
            if (end - begin) % parts == 0 and any(len(line) == width for line in lines[begin:end]):
                rests += [at for at in range(begin, end) if (at - begin) % parts]
        yield _joined(lines, rests, width)


def _between_words(
    lines: Sequence[str], width: int, gap: str, strange: Callable[[list[str]], list[int]]
) -> list[str]:
    """Return the lines put together as a mail broke them: where the parser says it, else by the room that was left.

    A line is joined only where it is not understood alone: whole lines may fill a mail's width, too.

    gap      what stood where a line was broken: one blank between words, more between cells
    strange  tells which lines are not understood, counted from 0, in order
    """
    whole, found, tries = list(lines), strange(list(lines)), 0
    places = list(range(len(whole)))  # of the lines that no other has taken
    while found and tries < _MOST_TRIES:
        at = places.index(found[0]) if found[0] in places else 0
        for first, after in ((at, at + 2), (at - 1, at + 1), (at, at + 3), (at - 1, at + 2)):
            taken = places[max(first, 0) : after]
            if len(taken) < after - first or not all(whole[place].strip() for place in taken):
                continue
            tries += 1
            tried = list(whole)
            tried[taken[0]] = gap.join(
                whole[place].rstrip() if place == taken[0] else whole[place].strip()
                for place in taken
            )
            for place in taken[1:]:
                tried[place] = ""
            left = strange(tried)
            if len(left) < len(found) and not (left and left[0] <= found[0]):
                whole, found = tried, left
                places = [place for place in places if place not in taken[1:]]
                break
        else:
            break
    if not found:
        return whole
    rests = [
        at
        for at in range(1, len(lines))
        if lines[at].strip() and _full(lines[at - 1], lines[at], width)
    ]
    return _spaced(lines, rests, gap)


def _full(above: str, rest: str, width: int) -> bool:
    return (
        bool(above.strip())
        and len(above) <= MAIL
        and len(above) + 1 + len(rest.split(maxsplit=1)[0]) > width
    )


def _spaced(lines: Sequence[str], rests: Sequence[int], gap: str) -> list[str]:
    """Put each rest behind the line above."""
    whole = list(lines)
    for at in reversed(rests):
        whole[at - 1] = f"{whole[at - 1].rstrip()}{gap}{whole[at].strip()}"
        whole[at] = ""
    return whole


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
