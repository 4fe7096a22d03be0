"""Of many lines those in which a sign can find something: each pattern is tried where its words stand, and no more.

A hundred signs are tried on every line whose form is new, and most of them need a word that few lines have. What a
pattern needs is read from the pattern (`analyzer/scan/prefilter.py`), so a sign finds in its lines all that it finds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, cached_property
from itertools import accumulate

from analyzer.scan.prefilter import literal_choices

FLAGS = re.ASCII | re.MULTILINE
FEW = 200  # lines that are not worth the choice
MOST = 0.7  # share of the lines from which all of them are taken


@cache
def needed(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return sets of words, in lower case: of each one word stands in every line that a pattern matches."""
    choices = [tuple(sorted({word.lower() for word in one.texts})) for one in literal_choices(pattern, FLAGS)]
    return tuple(sorted({one for one in choices if " " not in one}))


class SignedLines:
    """Lines of a text, to take some of them by what stands in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = text.lower()
        self._with: dict[tuple[str, ...], list[int]] = {}  # words -> lines that hold one of them

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _low_lines(self) -> list[str]:
        return self.low.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._lines)]

    def of(self, pattern: str) -> tuple[str, Callable[[int], int]]:
        """Return the lines that a pattern may match, and what tells where a place in them is in the text."""
        choices = needed(pattern) if len(self._lines) > FEW else ()
        chosen = min(map(self._any_of, choices), key=len, default=range(len(self._lines)))
        if len(chosen) > MOST * len(self._lines):
            return self.text, _same
        starts = [0, *accumulate(len(self._lines[one]) + 1 for one in chosen)]

        def place(start: int) -> int:
            nth = bisect_right(starts, start) - 1
            return self._starts[chosen[nth]] + start - starts[nth]

        return "\n".join([self._lines[one] for one in chosen]), place

    def _any_of(self, words: tuple[str, ...]) -> list[int]:
        """Return the lines that hold one of some words."""
        found = self._with.get(words)
        if found is None:
            each = [self._having(word) for word in words if word in self.low]
            found = self._with[words] = each[0] if len(each) == 1 else sorted(set().union(*each))
        return found

    def _having(self, word: str) -> list[int]:
        return [nth for nth, line in enumerate(self._low_lines) if word in line]


def _same(start: int) -> int:
    return start
