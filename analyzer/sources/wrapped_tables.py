"""Tables that a terminal of 80 columns or a mail has wrapped: heading, ruler and each row stand on several lines.

Where there is none, a heading tells that is one only together with the line below it.
The ruler tells: two lines of dashes, one below the other, are one that was broken. A terminal breaks after its last
column, so the places of the cells stay; a mail breaks between words, and what is left of them is their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from analyzer.sources.prompts import MOST_TYPED, find_prompt
from analyzer.sources.shapes import is_fence
from analyzer.sources.wrapped import COLUMNS, MAIL

NARROWEST = 40  # characters of a broken ruler
SHORTEST = 48  # characters of a heading that a mail broke
MOST_HEADING = 3  # lines that such a heading became
MOST_LINES = 5000  # of a text that somebody sent as a mail
MOST_PARTS = 8  # lines that one line became
_RULE = re.compile(r" *-+(?: +-+)* *$")


def join_tables(lines: list[str]) -> None:
    """Put the wrapped lines of tables together again, in place; where their rests stood is a blank line."""
    at = 1
    while at < len(lines):
        parts = _parts(lines, at)
        if parts:
            at = _join(lines, at, parts)
        at += 1


def join_headings(lines: list[str], starts: Callable[[str], bool]) -> None:
    """Put headings together that a mail broke in two or three, in place, on the last of their lines.

    starts  tells whether an output starts with a line; only then the parts are a heading, and only without it are
            they not
    """
    if len(lines) > MOST_LINES or any(len(line) > MAIL and " " in line.strip() for line in lines):
        return
    for at, line in enumerate(lines):
        if len(line) < SHORTEST or starts(line):
            continue
        whole, parts, known = line.rstrip(), 1, 0
        while parts < MOST_HEADING and at + parts < len(lines) and (below := lines[at + parts].strip()):
            if starts(lines[at + parts]) or (known and any(map(str.isdigit, below))):  # an output of its own, or a row
                break
            whole, parts = f"{whole} {below}", parts + 1
            if starts(whole):
                known = parts
                lines[at : at + parts] = [*[""] * (parts - 1), whole]  # what is left of it stands right below
            elif known:
                break


def _parts(lines: Sequence[str], at: int) -> int:
    """Return on how many lines a ruler stands that begins on a line; 0 where it is whole, or none."""
    if not lines[at].lstrip(" ").startswith("--") or len(lines[at]) < NARROWEST or not _RULE.match(lines[at]):
        return 0
    end = at + 1
    while end < len(lines) and end - at <= MOST_PARTS and lines[end].strip() and _RULE.match(lines[end]):
        end += 1
    parts = end - at
    above = lines[max(at - parts, 0) : at]
    told = len(above) == parts and all(line.strip() and not _RULE.match(line) for line in above)
    return parts if 1 < parts <= MOST_PARTS and told else 0


def _join(lines: list[str], at: int, parts: int) -> int:
    """Join heading, ruler and rows of a table whose ruler begins on a line; return the last line that belongs to it."""
    begin, end = at - parts, _end(lines, at + parts)
    width = max(map(len, lines[begin:end]))
    groups = [(begin, at), (at, at + parts), *_rows(lines, at + parts, end, parts, width)]
    hard = width in COLUMNS
    rulers = [len(line.strip()) for line in lines[at : at + parts]]
    columns = not hard and all(_fit(lines[first:after], rulers) for first, after in groups)
    for first, after in groups:
        some = lines[first:after]
        if columns:  # each line was broken where a column ends: the places of the cells stay
            whole = "  ".join(line.strip().ljust(width) for line, width in zip(some, rulers, strict=True))
        else:
            whole = "".join(line.ljust(width) for line in some) if hard else " ".join(line.strip() for line in some)
        lines[first:after] = [whole.rstrip(), *[""] * (after - first - 1)]
    return end - 1


def _fit(some: Sequence[str], rulers: Sequence[int]) -> bool:
    """Tell whether no part of a line is wider than the part of the ruler that belongs to it."""
    return len(some) == len(rulers) and all(
        len(line.strip()) <= width for line, width in zip(some, rulers, strict=True)
    )


def _end(lines: Sequence[str], at: int) -> int:
    """Return the line after the rows of a table."""
    while at < len(lines) and lines[at].strip():
        text = lines[at].strip()
        if is_fence(lines[at]) or (len(text) < MOST_TYPED and find_prompt(text) is not None):
            break
        at += 1
    return at


def _rows(lines: Sequence[str], begin: int, end: int, parts: int, width: int) -> list[tuple[int, int]]:
    """Return the lines of each row: as many as the ruler has, or up to one that is not full."""
    if (end - begin) % parts == 0:
        return [(first, first + parts) for first in range(begin, end, parts)]
    found, first = [], begin
    for at in range(begin, end):
        if len(lines[at]) < width or at - first + 1 == parts or at + 1 == end:
            found.append((first, at + 1))
            first = at + 1
    return found
