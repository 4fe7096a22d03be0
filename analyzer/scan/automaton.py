"""A regular expression as an automaton over its positions, with the number of ways between them.

A position is one place of the pattern that takes one character. An edge tells in how many ways
the backtracking matcher gets from one position to the next, so that walking it with a text counts
the matcher's paths without running them. Characters are known by their sign: a number with a
bit for each set of the pattern they belong to, asked of Python's own `re`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

EDGE = 1  # the sign of what stands before the first and after the last character
START = -1  # the position before the first one
MOST_WAYS = 10**15  # numbers of ways are cut here; more is the same

Condition = tuple[str, int, bool]  # "before" or "after" or "border", bits of a sign, whether they must be there
Guard = tuple[Condition, ...]
Edge = tuple[int, int, Guard]  # to, ways, on which condition

# One character of each kind that patterns tell apart, readable ones first.
_READABLE = [
    *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_:.,;=/!?#%&*+()[]{}<>|@$^~'\"`\\\t\r\x00\x1f",
    *"é٣\xa0…中\udc80İıſK",
]


@dataclass(slots=True)
class Automaton:
    """The positions of a pattern.

    masks    for each position the bit its characters' signs hold
    start, follow, final, empty  edges from before the text, from each position, conditions of ending
             after a position, and of matching nothing at all; each with the number of ways
    ways     for each position how many ways the matcher tries from there; the last is the start's
    exact    False when the pattern says more than an automaton can (lookaround, back references):
             then what it accepts is more than what the pattern matches, never less
    width    what a step may cost besides: 1, and the characters that lookbehinds look at
    behind   bits of a sign that some condition asks of the character before
    """

    masks: list[int]
    start: list[Edge]
    follow: list[list[Edge]]
    final: list[list[tuple[int, Guard]]]
    empty: list[tuple[int, Guard]]
    testers: list[Callable[[str], object]]
    samples: set[str]
    exact: bool
    width: int
    ways: list[int] = field(default_factory=list)
    behind: int = 0
    _signs: dict[str, int] = field(default_factory=dict)
    _moves: dict[tuple[int, int, int], tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = [*self.final, self.empty]
        for edges, last in zip([*self.follow, self.start], ends, strict=True):
            self.ways.append(min(MOST_WAYS, sum(edge[1] for edge in edges) + sum(end[0] for end in last)))
            for guard in [*(edge[2] for edge in edges), *(end[1] for end in last)]:
                for side, bits, _ in guard:
                    self.behind |= bits if side != "after" else 0

    def sign(self, char: str) -> int:
        """Return the sign of a character."""
        found = self._signs.get(char)
        if found is None:
            found = sum(2 << number for number, test in enumerate(self.testers) if test(char))
            if len(self._signs) < 5000:  # a text of all characters there are must not fill memory
                self._signs[char] = found
        return found

    def moves(self, position: int, before: int, sign: int) -> tuple[tuple[int, int], ...]:
        """Return (position, ways) for each step from a position over a character of that sign."""
        key = (position, before & self.behind, sign)
        found = self._moves.get(key)
        if found is None:
            edges = self.start if position == START else self.follow[position]
            ways: dict[int, int] = {}
            for to, count, guard in edges:
                if self.masks[to] & sign and holds(guard, before, sign):
                    ways[to] = ways.get(to, 0) + count
            found = tuple(ways.items())
            if len(self._moves) < 10_000:
                self._moves[key] = found
        return found

    def ends(self, position: int, before: int, after: int) -> bool:
        """Tell whether a match may end after a position, before a character of the sign `after`."""
        last = self.empty if position == START else self.final[position]
        return any(holds(guard, before, after) for _, guard in last)

    def alphabet(self) -> dict[int, str]:
        """Return one character for each sign that the pattern tells apart, readable ones where there are."""
        found: dict[int, str] = {}
        for char in [*_READABLE, *sorted(self.samples)]:
            if char != "\n":
                found.setdefault(self.sign(char), char)
        return found


def holds(guard: Guard, before: int, after: int) -> bool:
    """Tell whether the conditions of an edge hold between two characters."""
    for side, bits, wanted in guard:
        if side == "border":
            there = bool(before & bits) != bool(after & bits)
        else:
            there = bool((before if side == "before" else after) & bits)
        if there is not wanted:
            return False
    return True
