"""Of many lines those in which a sign can find something: each pattern is tried where its words stand, and no more.

A hundred signs are tried on every line whose form is new, and most of them need a word that few lines have. What a
pattern needs is read from the pattern (`analyzer/scan/prefilter.py`), so a sign finds in its lines all that it finds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

from analyzer.runtime.snapshot import keep_answers

FLAGS = re.ASCII | re.MULTILINE
FEW = 200  # lines that are not worth the choice
MOST = 0.7  # share of the lines from which all of them are taken
OFTEN = 100  # lines that hold a word, from which they are not sought one by one
ENOUGH = 0.03  # share of the lines at which no other words are asked


@keep_answers
def needed(pattern: str) -> list[list[str]]:
    """Return lists of words, in lower case: of each one word stands in every line that a pattern matches.

    Those whose shortest word is long come first: few lines hold them.
    """
    from analyzer.scan.prefilter import literal_choices  # noqa: PLC0415 - a wheel brings the answers

    choices = {
        tuple(sorted({word.lower() for word in one.texts}))
        for one in literal_choices(pattern, FLAGS)
    }
    told = sorted(
        (one for one in choices if " " not in one),
        key=lambda one: (-min(map(len, one)), len(one), one),
    )
    return [[*one] for one in told]


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
        chosen: Sequence[int] = range(len(self._lines))
        for words in needed(pattern) if len(self._lines) > FEW else ():
            chosen = min(chosen, self._any_of(tuple(words)), key=len)
            if len(chosen) <= ENOUGH * len(self._lines):
                break
        if len(chosen) > MOST * len(self._lines):
            return self.text, _same
        starts: list[int] = []

        def place(start: int) -> int:
            if not starts:
                starts[:] = 0, *accumulate([len(self._lines[one]) + 1 for one in chosen])
            nth = bisect_right(starts, start) - 1
            return self._starts[chosen[nth]] + start - starts[nth]

        return "\n".join([self._lines[one] for one in chosen]), place

    def _any_of(self, words: tuple[str, ...]) -> list[int]:
        """Return the lines that hold one of some words."""
        found = self._with.get(words)
        if found is None:
            each = [*filter(None, map(self._having, words))]
            found = self._with[words] = each[0] if len(each) == 1 else sorted(set().union(*each))
        return found

    def _having(self, word: str) -> list[int]:
        """Return the lines that hold a word; one that many hold is looked for line by line."""
        found, at = list[int](), self.low.find(word)
        while at >= 0:
            if len(found) == OFTEN:
                return [nth for nth, line in enumerate(self._low_lines) if word in line]
            found.append(bisect_right(self._starts, at) - 1)
            at = self.low.find(word, self._starts[found[-1] + 1])
        return found


def _same(start: int) -> int:
    return start
