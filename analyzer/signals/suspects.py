"""Which lines of a long text may say trouble, found by one search: the grammar reads these, and not all of a session.

The grammar tries some forty patterns on a line; of a session of 36 MB nearly no line has one of them. The search is built
of the very patterns of the grammar, so that it misses none of their lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from analyzer.scan.engines import NUMBER_BITS, Engine, Needle, build_engine, is_available
from analyzer.signals.answers import ANSWER_PATTERNS
from analyzer.signals.grammar import LINE_PATTERNS
from analyzer.signals.lines import write_line_stems
from analyzer.signals.words import CLASSES

# Lines of a text that are read one by one, which takes less time than to build the search.
FEW = 300


def find_suspect_lines(lines: Sequence[str], first_line: int) -> set[int]:
    """Return the numbers of the lines that may say trouble; `first_line` is the number of the first one."""
    engine = _build_search()
    if engine is None:
        return set(range(first_line, first_line + len(lines)))
    parts = [line.rstrip("\n").encode("utf-8", "replace") + b"\n" for line in lines]
    ends = list(accumulate(map(len, parts)))
    data = b"".join(parts)
    places = {proposal >> NUMBER_BITS for proposal in engine.propose(data, len(data))}
    return {first_line + bisect_right(ends, place) for place in places}


@cache
def _build_search() -> Engine | None:
    """Return the search; None where a pattern has nothing that could be sought, so that each line is read."""
    patterns = [re.compile(write_line_stems(), re.IGNORECASE), *LINE_PATTERNS, *ANSWER_PATTERNS]
    patterns += [words.pattern for words in CLASSES]
    needles = {}
    for number, pattern in enumerate(patterns):
        needles[number] = Needle.of(pattern.pattern, pattern.flags & re.IGNORECASE)
    if any(needle.every_line for needle in needles.values()):
        return None
    return build_engine("re2" if is_available("re2") else "pure", needles)
