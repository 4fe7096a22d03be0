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
from analyzer.sources.passes import COLUMNS, MAIL

MOST_LINES = 2000  # of an output that is tried again
NARROWEST = 60  # characters of the widest line of what a mail broke
_MOST_MAILED = 200  # lines of an output that a mail may have broken
_MOST_TRIES = 300
_SURE = 3  # rests that are no accident
_PARTS = (2, 3)  # lines that one line became, where the blanks at their ends were lost
_NEIGHBOURS = ((0, 2), (-1, 1), (0, 3), (-1, 2))  # lines joined with a strange one, in order

ReadBlock = Callable[[Block], Iterable[Row | Fault]]


class Reread(NamedTuple):
    """What an output gives: its rows and faults, and whether the lines below it were its own."""

    rows: list[Row]
    faults: list[Fault]
    took_below: bool = False


def undo_line_breaks(
    block: Block,
    rows: list[Row],
    faults: list[Fault],
    read: ReadBlock,
    below: Sequence[str] = (),
) -> Reread:
    """Return what an output gives as it was before a terminal broke its lines; what was given where none did.

    below  lines that follow and that nothing reads: the rest of the last row may be among them
    """
    unchanged = Reread(rows, faults)
    size = len(block.lines) + len(below)
    if not faults or size > MOST_LINES:
        return unchanged
    width = max(map(len, block.lines), default=0)
    if width not in COLUMNS:
        if size > _MOST_MAILED:
            return unchanged
        return _undo_mail(block, rows, read, below) or unchanged

    # All strange lines below full ones: cells of rows that are there already
    above = [fault.line - block.first_line - 1 for fault in faults]
    all_rests = len(above) >= _SURE and all(
        at >= 0 and len(block.lines[at]) == width for at in above
    )
    least = len(rows) if all_rests else len(rows) + 1
    for further in (below, ()) if below else ((),):
        for lines in _propose_joins([*block.lines, *further], width):
            items = list(read(replace(block, lines=lines)))
            found = [item for item in items if isinstance(item, Row)]
            if len(found) == len(items) >= least:
                return Reread(found, [], bool(further))
    return unchanged


def _undo_mail(
    block: Block, rows: list[Row], read: ReadBlock, below: Sequence[str]
) -> Reread | None:
    """Return what an output gives as it was before a mail broke its lines; None where none did."""
    width = max((len(line) for line in block.lines if " " in line.strip()), default=0)
    if not NARROWEST <= width <= MAIL:
        return None

    def find_strange(lines: list[str]) -> list[int]:
        """Return which of some lines are not understood, counted from 0, in order."""
        items = read(replace(block, lines=lines))
        faults = {item.line - block.first_line for item in items if isinstance(item, Fault)}
        return sorted(faults)

    for further, gap in product((below, ()) if below else ((),), ("  ", " ")):
        lines = _join_between_words([*block.lines, *further], width, gap, find_strange)
        items = list(read(replace(block, lines=lines)))
        found = [item for item in items if isinstance(item, Row)]
        if len(found) == len(items) > len(rows):
            return Reread(found, [], bool(further))
    return None


def _propose_joins(lines: Sequence[str], width: int) -> Iterator[list[str]]:
    """Yield the lines put together: each full line with the next, or all of a paragraph in twos or threes."""
    full = [at for at in range(1, len(lines)) if len(lines[at - 1]) == width and lines[at].strip()]
    yield _join_full_lines(lines, full, width)
    for parts in _PARTS:
        rests: list[int] = []
        for begin, end in _find_paragraphs(lines):
            is_full = any(len(line) == width for line in lines[begin:end])
            if is_full and (end - begin) % parts == 0:
                rests += [at for at in range(begin, end) if (at - begin) % parts]
        yield _join_full_lines(lines, rests, width)


def _join_full_lines(lines: Sequence[str], rests: Sequence[int], width: int) -> list[str]:
    """Put each rest behind the line above, which was as wide as the terminal."""
    joined = list(lines)
    for at in reversed(rests):
        joined[at - 1] = joined[at - 1].ljust(width) + joined[at]
        joined[at] = ""
    return joined


def _find_paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches between blank lines: the first of each, and the line after it."""
    begin = 0
    for at in range(len(lines) + 1):
        if at == len(lines) or not lines[at].strip():
            if at > begin:
                yield begin, at
            begin = at + 1


def _join_between_words(
    lines: Sequence[str], width: int, gap: str, find_strange: Callable[[list[str]], list[int]]
) -> list[str]:
    """Return the lines put together as a mail broke them: where the parser says it, else by the room that was left.

    A line is joined only where it is not understood alone: whole lines may fill a mail's width, too.

    gap           what stood where a line was broken: one blank between words, more between cells
    find_strange  tells which lines are not understood, counted from 0, in order
    """
    joined = list(lines)
    strange, tries = find_strange(joined), 0
    places = list(range(len(joined)))  # of the lines that no other has taken
    while strange and tries < _MOST_TRIES:
        at = places.index(strange[0]) if strange[0] in places else 0
        for before, after in _NEIGHBOURS:
            taken = places[max(at + before, 0) : at + after]
            if len(taken) < after - before or not all(joined[place].strip() for place in taken):
                continue
            tries += 1
            trial = _join_places(joined, taken, gap)
            left = find_strange(trial)
            if len(left) < len(strange) and not (left and left[0] <= strange[0]):
                joined, strange = trial, left
                places = [place for place in places if place not in taken[1:]]
                break
        else:
            break
    if not strange:
        return joined

    joined = list(lines)
    for at in reversed(range(1, len(lines))):
        above, rest = lines[at - 1], lines[at]
        if not above.strip() or not rest.strip() or len(above) > MAIL:
            continue
        first_word = rest.split(maxsplit=1)[0]
        if len(above) + 1 + len(first_word) > width:
            joined = _join_places(joined, [at - 1, at], gap)
    return joined


def _join_places(lines: list[str], places: Sequence[int], gap: str) -> list[str]:
    """Put the lines at some places into the first of them; the others become blank."""
    first, *rests = places
    joined = list(lines)
    joined[first] = gap.join([lines[first].rstrip(), *(lines[rest].strip() for rest in rests)])
    for rest in rests:
        joined[rest] = ""
    return joined
