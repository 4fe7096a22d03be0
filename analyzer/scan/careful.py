"""The search of lines for patterns whose work can run away, with a bound that depends on nothing but the line.

Python's `re` cannot be interrupted, and a clock would give other findings on a slower machine. So
the work is bounded before it is begun: an automaton, walked once over the line, tells whether the
pattern can match; where `re` is needed all the same (named groups, lookaround, back references),
its steps are counted first, and beyond the limit the line stays undecided. A pattern of which it is
proven that its work is linear goes to `re` at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from analyzer.scan.automaton import EDGE, START, Automaton
from analyzer.scan.construct import TooLargeError, automaton
from analyzer.scan.growth import LONG, lengths, proven_linear, work

_STATES = 4000  # states of an automaton kept at a time
_CELLS = 200_000  # and moves between them
_PATIENCE = 1.0  # seconds of `re` for lines that the automaton can decide as well
_MOVE = 20  # steps of `re` that take as long as one move that is not known yet


class Proven:
    """The answer that a line matches, found without `re`."""


class Undecided:
    """The answer of a search that would take more steps than allowed."""


PROVEN, UNDECIDED = Proven(), Undecided()

Answer = re.Match[str] | Proven | Undecided | None
Groups = dict[str, str | None]


def search_of(compiled: re.Pattern[str], steps: int) -> Callable[[str], Answer]:
    """Return the search of a pattern in single lines; `steps` is what one line may take."""
    if proven_linear(compiled.pattern, compiled.flags & ~int(re.UNICODE)):
        return compiled.search
    return Careful(compiled, steps)


class Careful:
    """Searches lines for one pattern.

    left  steps that all further lines together may take; beyond, a line that costs any is undecided
    """

    def __init__(self, compiled: re.Pattern[str], steps: int) -> None:
        self._compiled = compiled
        self._steps = steps
        self.left = 1 << 62
        self._auto: Automaton | None = None
        self._table: _Table | None = None
        self._short = self._fair = self._measured = 0
        self._patience = _PATIENCE
        with suppress(TooLargeError):
            self._auto = automaton(compiled.pattern, compiled.flags & ~int(re.UNICODE))
            self._table = _Table(self._auto)

    def _measure(self, length: int) -> None:
        """Learn up to which length lines cost little, as far as lines so long ask for it."""
        if self._auto is not None and length > self._measured < LONG:
            self._measured = min(max(256, 2 * length), LONG)
            self._short, self._fair = lengths(self._auto, self._measured)

    def __call__(self, text: str) -> Answer:
        """Return a match, PROVEN, UNDECIDED, or None."""
        self._measure(len(text))
        if len(text) <= self._short or not text:
            return self._compiled.search(text)
        if self._auto is None or self._table is None:
            return UNDECIDED
        if self._auto.exact and len(text) <= self._fair and self._patience > 0:
            return self._tried(text)
        possible = self._table.finds(text, self._allowed)
        self.left -= self._table.moved
        if not possible:
            return None if possible is False else UNDECIDED
        if self._auto.exact:
            return PROVEN
        return self._compiled.search(text) if self._affords(text) else UNDECIDED

    def groups(self, text: str) -> Groups | None:
        """Return the named groups of a line that matches; None when that takes too many steps."""
        if not self._compiled.groupindex:
            return {}
        self._measure(len(text))
        if len(text) > self._short and not self._affords(text):
            return None
        match = self._compiled.search(text)
        return match.groupdict() if match else {}

    def _tried(self, text: str) -> Answer:
        """Ask `re`, which is quicker on common lines; the automaton would say the same, and does when this was slow."""
        start = perf_counter()
        match = self._compiled.search(text)
        self._patience -= perf_counter() - start
        return PROVEN if match else None

    @property
    def _allowed(self) -> int:
        return max(0, min(self._steps, self.left))

    def _affords(self, text: str) -> bool:
        """Count the steps that `re` would take for a line, and tell whether it may take them."""
        if self._auto is None:
            return False
        most = self._allowed
        needed = work(self._auto, text, most)
        self.left -= min(needed, most)
        return needed <= most


class _State(dict[str, "_State"]):
    """A set of positions after some text; what comes next is worked out when it is first asked for."""

    __slots__ = ("before", "places", "table")

    def __init__(self, table: _Table, before: int, places: frozenset[int]) -> None:
        self.table, self.before, self.places = table, before, places

    def __missing__(self, char: str) -> _State:
        state = self.table.move(self, char)
        self[char] = state
        return state


class _Table:
    """An automaton made deterministic as far as the texts ask for it, and forgotten when it grows too large."""

    def __init__(self, auto: Automaton) -> None:
        self._auto = auto
        self._states: dict[tuple[int, frozenset[int]], _State] = {}
        self._found = _State(self, EDGE, frozenset())
        self._cells = 0
        self.moved = 0  # steps that the last text took
        self._most = 0

    def finds(self, text: str, most: int) -> bool | None:
        """Tell whether a match lies somewhere in a text; None when that takes more than `most` steps."""
        self.moved, self._most = 0, most
        if self._cells > _CELLS or len(self._states) > _STATES:
            self._forget()
        try:
            state = self._state(EDGE & self._auto.behind, frozenset())
            for char in text:
                state = state[char]
        except _TooMuchError:
            return None
        return state is self._found or self._ends(state, EDGE)

    def move(self, state: _State, char: str) -> _State:
        """Return the state after one more character; the one that is found is never left."""
        if state is self._found:
            return state
        self._cells += 1
        self.moved += _MOVE * (1 + len(state.places))
        if self.moved > self._most:
            raise _TooMuchError
        if self._cells > 2 * _CELLS:
            self._forget()
        sign = self._auto.sign(char)
        if self._ends(state, sign):
            return self._found
        before = state.before
        places = {to for to, _ in self._auto.moves(START, before, sign)}
        for place in state.places:
            places.update(to for to, _ in self._auto.moves(place, before, sign))
        return self._state(sign & self._auto.behind, frozenset(places))

    def _ends(self, state: _State, after: int) -> bool:
        """Tell whether a match ends here, before a character of the sign `after`."""
        return any(self._auto.ends(place, state.before, after) for place in (START, *state.places))

    def _state(self, before: int, places: frozenset[int]) -> _State:
        key = (before, places)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = _State(self, before, places)
        return found

    def _forget(self) -> None:
        for state in self._states.values():
            state.clear()
        self._states.clear()
        self._found.clear()
        self._cells = 0


class _TooMuchError(Exception):
    """A text takes more steps than allowed."""
