"""Which lines of a long text may say trouble, found by one search: the grammar reads these, and not all of a session.

The grammar tries some forty patterns on a line; of a session of 36 MB nearly no line has one of them. The search is built
of the very patterns of the grammar, so that it misses none of their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from analyzer.scan.engines import Engine, Needle, build_engine, is_available
from analyzer.signals.answers import ANSWER_PATTERNS
from analyzer.signals.entries import write_stems
from analyzer.signals.grammar import LINE_PATTERNS
from analyzer.signals.stems import STEMS
from analyzer.signals.words import CLASSES

FEW = (
    300  # lines of a text that are read one by one, which takes less time than to build the search
)


def find_suspect_lines(lines: Sequence[str], first_line: int) -> set[int]:
    """Return the numbers of the lines that may say trouble; `first_line` is the number of the first one."""
    engine = _build_search()
    numbers = range(first_line, first_line + len(lines))
    if engine is None:
        return set(numbers)
    ends = []
    parts = [line.rstrip("\n").encode("utf-8", "replace") + b"\n" for line in lines]
    end = 0
    for part in parts:
        end += len(part)
        ends.append(end)
    found = sorted(place for place, _ in engine.propose(b"".join(parts), end))
    return _name_lines(found, ends, first_line)


def _name_lines(places: Iterable[int], ends: Sequence[int], first_line: int) -> set[int]:
    """Return the numbers of the lines in which places lie, both in their order."""
    suspects = set()
    index = 0
    for place in places:
        while ends[index] <= place:
            index += 1
        suspects.add(first_line + index)
    return suspects


@cache
def _build_search() -> Engine | None:
    """Return the search; None where a pattern has nothing that could be sought, so that each line is read."""
    stems = "|".join(filter(None, (STEMS, write_stems())))
    patterns = [re.compile(stems, re.IGNORECASE), *LINE_PATTERNS, *ANSWER_PATTERNS]
    patterns += [words.pattern for words in CLASSES]
    needles = {}
    for number, pattern in enumerate(patterns):
        needles[number] = Needle.of(pattern.pattern, pattern.flags & re.IGNORECASE)
    if any(needle.every_line for needle in needles.values()):
        return None
    return build_engine("re2" if is_available("re2") else "pure", needles)
