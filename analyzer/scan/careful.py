"""The search of lines for patterns whose work can run away, with a bound that depends on nothing but the line.

Python's `re` cannot be interrupted, and a clock would give other findings on a slower machine. So RE2 decides:
its work is linear for any pattern and line. `re` decides where it is certain to be quick, which it mostly is,
and where RE2 cannot (`analyzer.scan.re2pattern` tells what it leaves, or its package is missing): then the
steps that the line may cost are reckoned first, and beyond the limit the line stays undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from analyzer.scan.re2pattern import NotForRe2Error, Re2Pattern
from analyzer.scan.repeats import measure_cost

STEPS = 256  # steps a character that count as quick


class Proven:
    """The answer that a line matches, found without `re`."""


class Undecided:
    """The answer of a search that would take more steps than allowed."""


PROVEN, UNDECIDED = Proven(), Undecided()

Answer = re.Match[str] | Proven | Undecided | None
Groups = dict[str, str | None]


def search_of(compiled: re.Pattern[str], steps: int) -> Callable[[str], Answer]:
    """Return the search of a pattern in single lines; `steps` is what one line may take."""
    bound = measure_cost(compiled.pattern, _flags_of(compiled))
    return compiled.search if bound is not None and bound.quick else Careful(compiled, steps)


def is_decidable(pattern: str, flags: int = 0) -> bool:
    """Say whether the work for a line of ASCII has a bound: by RE2, or by the repeats of the pattern."""
    return measure_cost(pattern, flags) is not None or not refused_by_re2(pattern, flags)


def refused_by_re2(pattern: str, flags: int = 0) -> str:
    """Return why RE2 does not take a pattern, "" when it does."""
    try:
        Re2Pattern(pattern, flags, ascii_only=True)
    except NotForRe2Error as error:
        return str(error)
    return ""


class Careful:
    """Searches lines for one pattern.

    left  steps of `re` that all further lines together may take; beyond, a line that costs any is undecided
    """

    def __init__(self, compiled: re.Pattern[str], steps: int) -> None:
        self._compiled = compiled
        self._steps = steps
        self.left = 1 << 62
        self._cost = measure_cost(compiled.pattern, _flags_of(compiled))
        self._sure = (
            self._cost.find_sure_length(STEPS) if self._cost is not None else 0
        )  # characters, of whatever line
        self._re2: dict[tuple[bool, bool], Re2Pattern | None] = {}

    def __call__(self, text: str) -> Answer:
        """Return a match, PROVEN, UNDECIDED, or None."""
        if not text or self.is_quick(text):
            return self._compiled.search(text)
        if (other := self._find_re2(text)) is not None:
            return PROVEN if other.is_found(text) else None
        near = self._find_re2(text, relaxed=True)
        if near is not None and not near.is_found(text):
            return None
        return self._compiled.search(text) if self._can_afford(text) else UNDECIDED

    def find_groups(self, text: str) -> Groups | None:
        """Return the named groups of a line that matches; None when that takes too many steps."""
        if not self._compiled.groupindex:
            return {}
        if not self.is_quick(text):
            other = self._find_re2(text)
            if other is not None and (found := other.find_groups(text)) is not None:
                return found
            if not self._can_afford(text):
                return None
        match = self._compiled.search(text)
        return match.groupdict() if match else {}

    def _find_re2(self, text: str, *, relaxed: bool = False) -> Re2Pattern | None:
        key = text.isascii(), relaxed
        if key not in self._re2:
            self._re2[key] = None
            with suppress(NotForRe2Error):
                pattern, flags = self._compiled.pattern, _flags_of(self._compiled)
                self._re2[key] = Re2Pattern(pattern, flags, ascii_only=key[0], relaxed=relaxed)
        return self._re2[key]

    def is_quick(self, text: str) -> bool:
        """Say whether `re` is certain to take a moment only for a line."""
        if 0 < len(text) <= self._sure:
            return True
        return self._cost is not None and self._cost.count_steps(text) <= STEPS * len(text)

    def _can_afford(self, text: str) -> bool:
        """Reckon the steps that `re` may take for a line, and say whether it may take them."""
        most = max(0, min(self._steps, self.left))
        if self._cost is None:
            return False
        needed = self._cost.count_steps(text)
        self.left -= min(needed, most)
        return needed <= most


def _flags_of(compiled: re.Pattern[str]) -> int:
    return compiled.flags & ~int(re.UNICODE)
