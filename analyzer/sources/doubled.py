"""Copies with a blank line below every line: what mails, word processors and note programs make of a pasted text.

A line that was blank itself stands between two of those, so three blank lines in a row mean a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzer.sources.shapes import is_prose

LEAST = 6  # lines with something in them; fewer may be an output with paragraphs
STEP = 2
_PRINTED = re.compile(
    r"\s+\S|.*\S {2,}\S|[^:]{1,60}:(?: \S|$)|(?:\\?-){3}|\d{4}-\d\d-\d\dT|\S*[#\]>$] \S|(?:\S+ ){0,2}\d+ \d+(?: |$)"
)


def drop_gaps(lines: Sequence[str]) -> tuple[Sequence[str], list[int]]:
    """Return the lines of a text without the blank ones below each of its doubled stretches, and the place of each.

    A text in which nothing is doubled comes back as it is, without places.
    """
    gaps: set[int] = set()
    for begin, end in _find_stretches(lines):
        gaps.update(range(begin + 1, end, STEP))
    if not gaps:
        return lines, []
    places = [place for place in range(len(lines)) if place not in gaps]
    return [lines[place] for place in places], places


def _find_stretches(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each doubled stretch and the line after its last one."""
    at = 0
    while True:
        try:
            blank = lines.index("", at)
        except ValueError:
            return
        begin = blank - 1
        if begin < at or not lines[begin].strip() or (begin > 0 and lines[begin - 1].strip()):
            at = blank + 1
            continue
        end = begin
        printed = []
        while end < len(lines) and (end + 1 >= len(lines) or not lines[end + 1].strip()):
            if lines[end].strip():
                printed.append(lines[end])
            end += STEP
        if end < len(lines) and lines[end].strip():
            printed.append(lines[end])  # more stands right below the last one, which has no gap
        end = min(end, len(lines))
        if len(printed) >= LEAST and _are_printed(printed):
            yield begin, end
        at = max(blank + 1, end)


def _are_printed(lines: Sequence[str]) -> bool:
    """Say whether some lines are mostly what a program prints, not the paragraphs of a writer."""
    sentences = sum(map(is_prose, lines))
    if sentences * 3 > len(lines):
        return False
    printed = sum(_PRINTED.match(line) is not None for line in lines)
    return printed * 2 >= len(lines)
