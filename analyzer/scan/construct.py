"""From Python's parse tree of a regular expression to its automaton.

Everything that Python's `re` knows is taken: what an automaton cannot say (lookaround of more than
one character, back references, conditionals, atomic groups) is taken as something that matches
more, and then the automaton is not `exact`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from analyzer.scan.automaton import EDGE, MOST_WAYS, Automaton, Condition, Guard

# Python's own parser and its names; public until 3.10 as sre_parse and sre_constants.
_parser: Any = importlib.import_module("re._parser")
_c: Any = importlib.import_module("re._constants")

MOST_POSITIONS = 1000
MOST_EDGES = 20_000
_MOST_CONDITIONS = 100  # sets of conditions under which a part matches nothing

_Ends = dict[tuple[int, Guard], int]  # position and condition -> ways

_SINGLE = (_c.LITERAL, _c.NOT_LITERAL, _c.ANY, _c.IN)
_POSSESSIVE = getattr(_c, "POSSESSIVE_REPEAT", None)
_ATOMIC = getattr(_c, "ATOMIC_GROUP", None)
_FAILURE = getattr(_c, "FAILURE", None)
_FOLD = re.IGNORECASE | re.ASCII | re.DOTALL
_CATEGORIES = {
    _c.CATEGORY_DIGIT: r"\d",
    _c.CATEGORY_NOT_DIGIT: r"\D",
    _c.CATEGORY_SPACE: r"\s",
    _c.CATEGORY_NOT_SPACE: r"\S",
    _c.CATEGORY_WORD: r"\w",
    _c.CATEGORY_NOT_WORD: r"\W",
}
_EDGES = {
    _c.AT_BEGINNING: "before",
    _c.AT_BEGINNING_STRING: "before",
    _c.AT_END: "after",
    _c.AT_END_STRING: "after",
}


class TooLargeError(Exception):
    """The repeats of a pattern, written out, are more than `MOST_POSITIONS` positions."""


@lru_cache(maxsize=64)
def automaton(pattern: str, flags: int = 0, *, loops: bool = False) -> Automaton:
    """Return the automaton of a pattern; raises re.error, or TooLargeError.

    loops  take every repeat of two and more as endless: small, and with more ways, never fewer
    """
    tree = _parser.parse(pattern, flags)
    builder = _Builder(loops)
    try:
        return builder.built(builder.sequence(tree, tree.state.flags))
    except RecursionError:
        raise TooLargeError from None


@dataclass(slots=True)
class _Part:
    """A part of a pattern: where it begins and ends, and the ways to match nothing; used up when joined."""

    first: _Ends = field(default_factory=dict)
    last: _Ends = field(default_factory=dict)
    empty: dict[Guard, int] = field(default_factory=dict)


class _Builder:
    """Puts the parts of a parse tree together."""

    def __init__(self, loops: bool) -> None:
        self._loops = loops
        self._free = False  # inside a copy of a group, conditions do not hold
        self._bits: dict[tuple[str, int], int] = {}
        self._testers: list[Callable[[str], object]] = []
        self._samples: set[str] = set()
        self._masks: list[int] = []
        self._edges: list[dict[tuple[int, Guard], int]] = []
        self._count = 0
        self._groups: dict[int, tuple[Any, int]] = {}
        self._exact = True
        self._width = 1

    def built(self, whole: _Part) -> Automaton:
        """Return the automaton whose text is the part given."""
        final: list[list[tuple[int, Guard]]] = [[] for _ in self._masks]
        for (position, guard), ways in whole.last.items():
            final[position].append((ways, guard))
        return Automaton(
            self._masks,
            [(to, ways, guard) for (to, guard), ways in whole.first.items()],
            [[(to, ways, guard) for (to, guard), ways in edges.items()] for edges in self._edges],
            final,
            [(ways, guard) for guard, ways in whole.empty.items()],
            self._testers,
            self._samples,
            self._exact,
            self._width,
        )

    def sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> _Part:
        """Return the part of steps that follow each other."""
        whole = _Part(empty={(): 1})
        for op, arg in tree:
            whole = self._joined(whole, self._step(op, arg, flags))
        return whole

    def _step(self, op: Any, arg: Any, flags: int) -> _Part:
        if op in _SINGLE:
            return self._single(self._bit(op, arg, flags))
        if op is _c.SUBPATTERN:
            group, added, removed, inner = arg
            if group is not None:
                self._groups[group] = (inner, (flags | added) & ~removed)
            return self.sequence(inner, (flags | added) & ~removed)
        if op is _c.BRANCH:
            return self._either([self.sequence(arm, flags) for arm in arg[1]])
        if op in (_c.MAX_REPEAT, _c.MIN_REPEAT) or op is _POSSESSIVE:
            return self._repeat(op, arg, flags)
        if op is _ATOMIC:
            return self._atomic(arg, flags)
        if op is _c.AT:
            return self._at(arg, flags)
        if op in (_c.ASSERT, _c.ASSERT_NOT):
            return self._look(arg[0], arg[1], op is _c.ASSERT, flags)
        if op is _FAILURE:
            return _Part()
        return self._beyond(op, arg, flags)

    def _beyond(self, op: Any, arg: Any, flags: int) -> _Part:
        """Return more than what a back reference or a conditional can match."""
        self._exact = False
        if op is _c.GROUPREF and arg in self._groups:
            inner, own = self._groups[arg]
            free, self._free = self._free, True
            part = self.sequence(inner, own)
            self._free = free
            return part
        if op is _c.GROUPREF_EXISTS:
            _, yes, no = arg
            return self._either([self.sequence(arm, flags) for arm in (yes, no or [])])
        return self._endless(self._single(self._bit(_c.ANY, None, flags | re.DOTALL)), least=0)

    # -- characters

    def _single(self, mask: int) -> _Part:
        position = len(self._masks)
        if position >= MOST_POSITIONS:
            raise TooLargeError
        self._masks.append(mask)
        self._edges.append({})
        return _Part({(position, ()): 1}, {(position, ()): 1})

    def _bit(self, op: Any, arg: Any, flags: int) -> int:
        if op is _c.ANY:
            return self._set(".", flags)
        if op is _c.LITERAL or op is _c.NOT_LITERAL:
            self._sample(arg)
            return self._set(f"[{'^' if op is _c.NOT_LITERAL else ''}{_char(arg)}]", flags)
        return self._set("[" + "".join(self._item(*item) for item in arg) + "]", flags)

    def _item(self, op: Any, arg: Any) -> str:
        if op is _c.NEGATE:
            return "^"
        if op is _c.CATEGORY:
            return _CATEGORIES[arg]
        low, top = arg if op is _c.RANGE else (arg, arg)
        self._sample(low)
        self._sample(top)
        return f"{_char(low)}-{_char(top)}" if op is _c.RANGE else _char(arg)

    def _sample(self, code: int) -> None:
        near = {chr(one) for one in (code - 1, code, code + 1) if 0 <= one < 0x110000}
        self._samples |= near | {char for one in near for char in (*one.lower(), *one.upper())}

    def _set(self, text: str, flags: int) -> int:
        key = (text, flags & _FOLD)
        if key not in self._bits:
            self._bits[key] = 2 << len(self._testers)
            self._testers.append(_tester(*key))
        return self._bits[key]

    # -- joining

    def _joined(self, left: _Part, right: _Part) -> _Part:
        for (at, one), ways in left.last.items():
            self._link(at, one, ways, right.first)
        first, last = left.first, right.last
        for guard, ways in left.empty.items():
            for (to, more), count in right.first.items():
                _add(first, to, guard, more, ways * count)
        for guard, ways in right.empty.items():
            for (to, more), count in left.last.items():
                _add(last, to, more, guard, ways * count)
        if len(first) + len(last) > MOST_EDGES:
            raise TooLargeError
        return _Part(first, last, _times(left.empty, right.empty))

    def _link(self, at: int, guard: Guard, ways: int, first: _Ends) -> None:
        edges = self._edges[at]
        before = len(edges)
        for (to, more), count in first.items():
            _add(edges, to, guard, more, ways * count)
        self._count += len(edges) - before
        if self._count > MOST_EDGES:
            raise TooLargeError

    @staticmethod
    def _either(arms: Sequence[_Part]) -> _Part:
        whole = _Part()
        for arm in arms:
            for own, more in ((whole.first, arm.first), (whole.last, arm.last)):
                for key, ways in more.items():
                    own[key] = own.get(key, 0) + ways
            for guard, ways in arm.empty.items():
                whole.empty[guard] = whole.empty.get(guard, 0) + ways
        return whole

    # -- repeats

    def _repeat(self, op: Any, arg: tuple[int, Any, Any], flags: int) -> _Part:
        least, most, inner = arg
        endless = most is _c.MAXREPEAT
        if op is _POSSESSIVE:
            if endless and len(inner) == 1 and inner[0][0] in _SINGLE:
                return self._greedy(least, inner[0], flags)
            self._exact = False
        body = self.sequence(inner, flags)
        if not body.first:  # nothing that takes a character
            ways = {guard: min(MOST_WAYS, count ** min(max(least, 1), 50)) for guard, count in body.empty.items()}
            return _Part(empty=ways if least else _sum({(): 1}, ways))
        if self._loops and (endless or most > 1):
            return self._endless(body, least=min(least, 1))
        whole = _Part(empty={(): 1})
        fixed = max(least - 1, 0) if endless else least
        for number in range(fixed):
            whole = self._joined(whole, body)
            if number + 1 < fixed or endless or most > least:
                body = self.sequence(inner, flags)
        if endless:
            return self._joined(whole, self._endless(body, least=min(least, 1)))
        return self._joined(whole, self._optional(body, inner, most - least, flags)) if most > least else whole

    def _endless(self, body: _Part, *, least: int) -> _Part:
        """Return a part repeated without end; after it an empty turn may follow once, as in `re`."""
        exits = _sum({(): 1}, body.empty)
        for (at, guard), ways in body.last.items():
            self._link(at, guard, ways, body.first)
        last: _Ends = {}
        for (at, guard), ways in body.last.items():
            for more, count in exits.items():
                _add(last, at, guard, more, ways * count)
        return _Part(body.first, last, _times(body.empty, exits) if least else exits)

    def _optional(self, body: _Part, inner: Any, most: int, flags: int) -> _Part:
        """Return up to `most` turns of a part whose first copy is given."""
        rest = _Part(empty={(): 1})
        for number in range(most):
            turn = body if number == 0 else self.sequence(inner, flags)
            exits = _sum({(): 1}, turn.empty)
            turn.empty = {}
            rest = self._joined(turn, rest)
            rest.empty = exits
        return rest

    def _greedy(self, least: int, one: tuple[Any, Any], flags: int) -> _Part:
        """Return a possessive repeat of one set: it ends only before a character outside the set."""
        mask = self._bit(one[0], one[1], flags)
        whole = _Part(empty={(): 1})
        for _ in range(max(least - 1, 0)):
            whole = self._joined(whole, self._single(mask))
        loop = self._endless(self._single(mask), least=min(least, 1))
        stop: Guard = (("after", mask, False),)
        return self._joined(self._joined(whole, loop), _Part(empty={stop: 1}))

    def _atomic(self, inner: Any, flags: int) -> _Part:
        if len(inner) == 1 and inner[0][0] is _c.MAX_REPEAT:
            least, most, body = inner[0][1]
            if most is _c.MAXREPEAT and len(body) == 1 and body[0][0] in _SINGLE:
                return self._greedy(least, body[0], flags)
        self._exact = False
        return self.sequence(inner, flags)

    # -- conditions

    def _at(self, where: Any, flags: int) -> _Part:
        if where in _EDGES:
            return self._condition((_EDGES[where], EDGE, True))
        word = self._set(r"\w", flags)
        return self._condition(("border", word, where is _c.AT_BOUNDARY))

    def _look(self, direction: int, inner: Any, wanted: bool, flags: int) -> _Part:
        side = "after" if direction > 0 else "before"
        if len(inner) == 1 and inner[0][0] in _SINGLE:
            return self._condition((side, self._bit(inner[0][0], inner[0][1], flags), wanted))
        self._exact = False
        if direction < 0:
            self._width += int(inner.getwidth()[1])
            return _Part(empty={(): 1})
        return _Part(self.sequence(inner, flags).first, {}, {(): 1})  # looked at, and left again

    def _condition(self, condition: Condition) -> _Part:
        return _Part(empty={() if self._free else (condition,): 1})


def _add(ends: _Ends, to: int, one: Guard, two: Guard, ways: int) -> None:
    guard = _both(one, two)
    if guard is not None:
        ends[to, guard] = min(MOST_WAYS, ends.get((to, guard), 0) + ways)


def _both(one: Guard, two: Guard) -> Guard | None:
    """Return two conditions as one, or None when they cannot hold together."""
    if not (one and two):
        return one or two
    found = tuple(dict.fromkeys((*one, *two)))
    return None if any((side, bits, not wanted) in found for side, bits, wanted in found) else found


def _times(one: dict[Guard, int], two: dict[Guard, int]) -> dict[Guard, int]:
    out: dict[Guard, int] = {}
    for left, ways in one.items():
        for right, count in two.items():
            if (guard := _both(left, right)) is not None:
                out[guard] = min(MOST_WAYS, out.get(guard, 0) + ways * count)
    if len(out) > _MOST_CONDITIONS:
        raise TooLargeError
    return out


def _sum(one: dict[Guard, int], two: dict[Guard, int]) -> dict[Guard, int]:
    return {guard: min(MOST_WAYS, one.get(guard, 0) + two.get(guard, 0)) for guard in (*one, *two)}


def _char(code: int) -> str:
    return f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def _tester(text: str, flags: int) -> Callable[[str], object]:
    return re.compile(text, flags).match
