"""Copies with a blank line below every line: what mails, word processors and note programs make of a pasted text.

A line that was blank itself stands between two of those, so that a paragraph is told by three blank lines.
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


def without_gaps(lines: Sequence[str]) -> tuple[Sequence[str], list[int]]:
    """Return the lines of a text without the blank ones below each of its doubled stretches, and the place of each.

    A text in which nothing is doubled comes back as it is.
    """
    gaps = {place for begin, end in _stretches(lines) for place in range(begin + 1, end, STEP)}
    kept = [place for place in range(len(lines)) if place not in gaps] if gaps else []
    return ([lines[place] for place in kept], kept) if gaps else (lines, kept)


def _stretches(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each doubled stretch and the line after its last one."""
    at = 0
    while (blank := _next_blank(lines, at)) < len(lines):
        begin = blank - 1
        if begin < at or not lines[begin].strip() or (begin > 0 and lines[begin - 1].strip()):
            at = blank + 1
            continue
        end, told = begin, []
        while end < len(lines) and (end + 1 >= len(lines) or not lines[end + 1].strip()):
            told += [lines[end]] if lines[end].strip() else []
            end += STEP
        if end < len(lines) and lines[end].strip():
            told.append(lines[end])  # more stands right below the last one, which has no gap
        if len(told) >= LEAST and _printed(told):
            yield begin, min(end, len(lines))
        at = max(blank + 1, min(end, len(lines)))


def _next_blank(lines: Sequence[str], at: int) -> int:
    """Return the place of the next empty line, or the end of the text."""
    try:
        return lines.index("", at)
    except ValueError:
        return len(lines)


def _printed(told: Sequence[str]) -> bool:
    """Tell whether some lines are mostly what a program prints, not the paragraphs of a writer."""
    sentences = sum(map(is_prose, told))
    return sentences * 3 <= len(told) and sum(_PRINTED.match(line) is not None for line in told) * 2 >= len(told)
