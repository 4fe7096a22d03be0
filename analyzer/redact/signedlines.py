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
from analyzer.scan.prefilter import literal_choices

FLAGS = re.ASCII | re.MULTILINE
FEW = 200  # lines that are not worth the choice
MOST = 0.7  # share of the lines from which all of them are taken
OFTEN = 100  # lines that hold a word, from which they are not sought one by one
ENOUGH = 0.03  # share of the lines at which no other words are asked


@keep_answers
def needed_words(pattern: str) -> list[list[str]]:
    """Return lists of words, in lower case: of each one word is in every line that a pattern matches.

    Those whose shortest word is long come first: few lines hold them.
    """
    choices = {
        tuple(sorted({word.lower() for word in one.texts}))
        for one in literal_choices(pattern, FLAGS)
    }
    ordered = sorted(
        (one for one in choices if " " not in one),
        key=lambda one: (-min(map(len, one)), len(one), one),
    )
    return [[*one] for one in ordered]


class SignedLines:
    """Lines of a text, to take some of them by what is in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = text.lower()
        self._with: dict[tuple[str, ...], list[int]] = {}  # words -> lines that hold one of them

    @cached_property
    def _text_lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _low_lines(self) -> list[str]:
        return self.low.split("\n")

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._text_lines)]

    def lines_for(self, pattern: str) -> tuple[str, Callable[[int], int]]:
        """Return the lines that a pattern may match, and what tells where a place in them is in the text."""
        chosen: Sequence[int] = range(len(self._text_lines))
        for words in needed_words(pattern) if len(self._text_lines) > FEW else ():
            of_words = tuple(words)
            any_of = self._with.get(of_words)
            if any_of is None:
                each = [*filter(None, map(self._lines_having, of_words))]
                any_of = self._with[of_words] = (
                    each[0] if len(each) == 1 else sorted(set().union(*each))
                )
            chosen = min(chosen, any_of, key=len)
            if len(chosen) <= ENOUGH * len(self._text_lines):
                break
        if len(chosen) > MOST * len(self._text_lines):
            return self.text, lambda start: start
        starts: list[int] = []

        def place(start: int) -> int:
            if not starts:
                starts[:] = 0, *accumulate([len(self._text_lines[one]) + 1 for one in chosen])
            nth = bisect_right(starts, start) - 1
            return self._line_starts[chosen[nth]] + start - starts[nth]

        return "\n".join([self._text_lines[one] for one in chosen]), place

    def _lines_having(self, word: str) -> list[int]:
        """Return the lines that hold a word; one that many hold is looked for line by line."""
        found, at = list[int](), self.low.find(word)
        while at >= 0:
            if len(found) == OFTEN:
                return [nth for nth, line in enumerate(self._low_lines) if word in line]
            found.append(bisect_right(self._line_starts, at) - 1)
            at = self.low.find(word, self._line_starts[found[-1] + 1])
        return found
