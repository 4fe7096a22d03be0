"""The text that costs a pattern the most, found by the theory of ambiguity of automata.

Two ways round one loop over the same word are exponential: each further word doubles the work.
Two loops of which the first hands its word on to the second are polynomial. What is found is
rated by counting what it really costs, so that nothing is called dangerous that is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, product
from math import log2

from analyzer.scan.automaton import EDGE, START, Automaton
from analyzer.scan.construct import automaton
from analyzer.scan.growth import proven_linear, work

BILLION = 10**9
PROBE = 128  # characters on which exponential work passes a billion steps

_EFFORT = 100_000  # steps of all walks for one pattern; beyond, what is left is not looked for
_RATED = 24  # candidates whose cost is counted, for a small pattern
_LOOPS = 40  # loops of which it is looked for whether they hand a word on

_KINDS = ("", "quadratic", "polynomial", "exponential")

_Node = tuple[int, ...]  # positions, and what the conditions see of the character before
_Parts = tuple[tuple[str, str], ...]
_Link = tuple[int, int, str]  # from position, to position, word


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst found: its kind ("", quadratic, polynomial, exponential) and a line that shows it.

    parts    (text, pump) in turn: the pumps are repeated to drive the work up
    leading  the loop that costs stands at the very beginning, and is begun anew at each character
    """

    kind: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    leading: bool = False

    def line(self, length: int) -> str:
        """Return a text of about so many characters that costs much, without its failing end."""
        pumps = [pump for _, pump in self.parts if pump]
        share = max(1, (length - sum(len(text) for text, _ in self.parts)) // max(1, len(pumps)))
        return "".join(text + (pump * max(1, share // len(pump)) if pump else "") for text, pump in self.parts)


@lru_cache(maxsize=4096)
def worst(pattern: str, flags: int = 0) -> Worst:
    """Return the worst line found for a pattern; raises TooLargeError, or re.error.

    Exponential is what passes a billion steps on a line of 128 characters, begun at one place.
    Quadratic and polynomial tell of the work from one place too; with `leading`, of all places.
    """
    exact = automaton(pattern, flags)
    if proven_linear(pattern, flags):
        return Worst()
    best = Worst()
    search = _Search(automaton(pattern, flags, loops=True))
    lines = (Worst(parts=parts) for parts in chain(search.witnesses(), _driven(exact)))
    for one in islice(lines, max(4, min(2 * _RATED, 8000 // len(exact.masks)))):
        kind = _kind(exact, one)
        if _KINDS.index(kind) > _KINDS.index(best.kind):
            best = Worst(kind, one.parts)
        if kind == "exponential":
            break
    if best.kind:
        return best
    leading = (Worst("quadratic", parts, True) for parts in _Search(exact).leading())
    return next((one for one in islice(leading, 4) if _leads(exact, one)), best)


def _kind(exact: Automaton, one: Worst) -> str:
    """Rate a witness by counting what it really costs."""
    if work(exact, one.line(PROBE)[: 2 * PROBE], BILLION, anchored=True) >= BILLION:
        return "exponential"
    if not any(pump for _, pump in one.parts):
        return ""
    half = _half(exact)
    small, large = (work(exact, one.line(length), anchored=True) for length in (half, 2 * half))
    degree = log2(max(large, 1) / max(small, 1))
    return "polynomial" if degree > 2.5 else "quadratic" if degree > 1.5 else ""


def _leads(exact: Automaton, one: Worst) -> bool:
    half = _half(exact)
    return work(exact, one.line(2 * half)) > 3 * work(exact, one.line(half))


def _half(exact: Automaton) -> int:
    """Return a length that can be walked twice over in a moment."""
    return 1024 if len(exact.masks) <= 100 else 256


def _driven(auto: Automaton) -> Iterator[_Parts]:
    """Yield lines that drive the work up: step by step the character that costs the most, and all of one character."""
    alphabet = auto.alphabet()
    text = ""
    now: dict[int, int] = {START: 1}
    before = EDGE
    effort = 0
    while len(text) < PROBE and effort < _EFFORT:
        effort += len(alphabet) * len(now)
        best: tuple[int, int, dict[int, int]] = (0, 0, {})
        for sign in alphabet:
            after: dict[int, int] = {}
            for position, paths in now.items():
                for to, count in auto.moves(position, before, sign):
                    after[to] = after.get(to, 0) + paths * count
            steps = sum(paths * auto.ways[position] for position, paths in after.items())
            if steps > best[0]:
                best = (steps, sign, after)
        if not best[0]:
            break
        _, before, now = best
        text += alphabet[before]
    yield ((text, ""),)
    for char in islice(alphabet.values(), _RATED):
        yield ((char * PROBE, ""),)


class _Search:
    """Looks for loops that a text can go round in two ways, and for loops that hand a word on."""

    def __init__(self, auto: Automaton) -> None:
        self.auto = auto
        self.alphabet = auto.alphabet()
        self._left = _EFFORT
        self._next = [{to for to, _, _ in edges} for edges in auto.follow]
        self._last: list[set[int]] = [set() for _ in self._next]
        for position, found in enumerate(self._next):
            for to in found:
                self._last[to].add(position)
        parts = _components(self._next)
        self.loops = [frozenset(part) for part in parts if len(part) > 1 or part[0] in self._next[part[0]]]

    def witnesses(self) -> Iterator[_Parts]:
        """Yield lines as (text, pump): of loops with two ways round, then of chains of loops."""
        for loop in self.loops[:_LOOPS]:
            word = self._twice(loop)
            if word is not None:
                at, pump = word
                yield ((self._way(START, at) or "", pump),)
        yield from self._chains()

    def leading(self) -> Iterator[_Parts]:
        """Yield lines of loops that stand at the beginning of the pattern and can be begun anew inside themselves."""
        first = {to for to, _, _ in self.auto.start}
        for loop in self.loops[:_LOOPS]:
            for position in sorted(first & loop)[:_LOOPS]:
                if pump := self._anew(position, loop):
                    yield ((self._way(START, position) or "", pump),)

    def _anew(self, position: int, loop: frozenset[int]) -> str:
        """Return a word round a loop in which the pattern can begin as well and come to the same position."""

        def step(node: _Node) -> Iterator[tuple[_Node, str]]:
            one, two, before = node
            for sign, char in self.alphabet.items():
                begun = self._moves(one, before, sign, loop) + ([START] if one == START else [])
                for pair in product(begun, self._moves(two, before, sign, loop)):
                    yield (*pair, sign & self.auto.behind), char

        for before in self._befores(position):
            found = self._walk([(START, position, before)], step, (position, position, before).__eq__, 3)
            if found is not None:
                return found[1]
        return ""

    # -- two ways round one loop

    def _twice(self, loop: frozenset[int]) -> tuple[int, str] | None:
        """Return a position of a loop and a word that leads back to it in two ways, or None."""
        found = self._double(loop) or self._apart(loop)
        if found is None:
            return None
        start, word, end = found
        back = "" if start == end else self._way(end, start, loop)
        return None if back is None else (start, word + back)

    def _double(self, loop: frozenset[int]) -> tuple[int, str, int] | None:
        """Return an edge of a loop that can be gone in two ways."""
        for position in sorted(loop):
            for before in self._befores(position):
                for sign, char in self.alphabet.items():
                    for to, ways in self.auto.moves(position, before, sign):
                        if ways > 1 and to in loop:
                            return position, char, to
        return None

    def _apart(self, loop: frozenset[int]) -> tuple[int, str, int] | None:
        """Return a word over which two walks begin in one position of a loop, part, and meet again."""

        def step(node: _Node) -> Iterator[tuple[_Node, str]]:
            one, two, parted, before = node
            for sign, char in self.alphabet.items():
                for left in self._moves(one, before, sign, loop):
                    for right in self._moves(two, before, sign, loop):
                        pair = (left, right) if left <= right else (right, left)
                        yield (*pair, int(parted or left != right), sign & self.auto.behind), char

        starts = [(one, one, 0, before) for one in sorted(loop) for before in self._befores(one)]
        found = self._walk(starts, step, lambda node: bool(node[2]) and node[0] == node[1], 3)
        return None if found is None else (found[0][0], found[1], found[2][0])

    # -- a word handed on from loop to loop

    def _chains(self) -> Iterator[_Parts]:
        """Yield the longest chain of loops in which each hands its word on to the next, then each link."""
        loops = self.loops[:_LOOPS]
        ahead = [_reached(loop, self._next) for loop in loops]
        follows = [{two for two, other in enumerate(loops) if other <= reach} for reach in ahead]
        links: dict[tuple[int, int], _Link] = {}
        for one, loop in enumerate(loops):
            for two in sorted(follows[one] - {one}):
                if (found := self._handed(loop, self.loops[two], ahead[one])) is not None:
                    links[one, two] = found
        longest = _longest(links, follows)
        for some in [longest] if len(longest) < 2 else [longest, *([link] for link in links)]:
            if parts := self._line([links[link] for link in some]):
                yield parts

    def _line(self, links: Sequence[_Link]) -> _Parts:
        parts: list[tuple[str, str]] = []
        at = START
        for first, last, word in links:
            parts.append(("" if at == first else self._way(at, first) or "", word))
            at = last
        return tuple(parts)

    def _handed(self, loop: frozenset[int], other: frozenset[int], ahead: frozenset[int]) -> _Link | None:
        """Return positions p and q and a word that leads from p to p, from p to q, and from q to q."""
        between = (ahead | loop) & (_reached(other, self._last) | other)

        def step(node: _Node) -> Iterator[tuple[_Node, str]]:
            *places, before = node
            for sign, char in self.alphabet.items():
                ways = [self._moves(at, before, sign, within) for at, within in zip(places, rooms, strict=True)]
                for three in product(*ways):
                    yield (*three, sign & self.auto.behind), char

        rooms = (loop, between, other)
        for first, last in islice(product(sorted(loop), sorted(other)), 64):
            for before in self._befores(first):
                goal = (first, last, last, before)
                found = self._walk([(first, first, last, before)], step, goal.__eq__, 4)
                if found is not None:
                    return first, last, found[1]
        return None

    # -- walks

    def _moves(self, position: int, before: int, sign: int, within: frozenset[int]) -> list[int]:
        return [to for to, _ in self.auto.moves(position, before, sign) if to in within]

    def _befores(self, position: int) -> list[int]:
        """Return what the conditions after a position may see of its character."""
        if position == START:
            return [EDGE & self.auto.behind]
        mask = self.auto.masks[position]
        return sorted({sign & self.auto.behind for sign in self.alphabet if sign & mask})

    def _way(self, start: int, end: int, within: frozenset[int] | None = None) -> str | None:
        """Return a shortest text of one character at least that leads from one position to another."""

        def step(node: _Node) -> Iterator[tuple[_Node, str]]:
            position, before = node
            for sign, char in self.alphabet.items():
                for to, _ in self.auto.moves(position, before, sign):
                    if within is None or to in within:
                        yield (to, sign & self.auto.behind), char

        found = self._walk([(start, before) for before in self._befores(start)], step, (end,).__eq__, 1)
        return None if found is None else found[1]

    def _walk(
        self,
        starts: Iterable[_Node],
        step: Callable[[_Node], Iterable[tuple[_Node, str]]],
        done: Callable[[_Node], object],
        places: int,
    ) -> tuple[_Node, str, _Node] | None:
        """Return (start, text, end) of a shortest walk to a node whose first `places` are wanted, or None."""
        parents: dict[_Node, tuple[_Node, str] | None] = dict.fromkeys(starts)
        waiting = deque(parents)
        while waiting and self._left > 0:
            node = waiting.popleft()
            self._left -= len(self.alphabet)
            for other, char in step(node):
                self._left -= 1
                if done(other[:places]):
                    start, text = node, char
                    while (parent := parents[start]) is not None:
                        start, text = parent[0], parent[1] + text
                    return start, text, other
                if other not in parents:
                    parents[other] = (node, char)
                    waiting.append(other)
        return None


def _reached(starts: Iterable[int], edges: Sequence[set[int]]) -> frozenset[int]:
    """Return the positions that lie one step or more ahead."""
    waiting = list(starts)
    found: set[int] = set()
    while waiting:
        for to in edges[waiting.pop()] - found:
            found.add(to)
            waiting.append(to)
    return frozenset(found)


def _longest(links: Mapping[tuple[int, int], object], follows: Sequence[set[int]]) -> list[tuple[int, int]]:
    """Return the longest chain of links, each beginning where the one before ends, or ahead of it."""
    known: dict[int, list[tuple[int, int]]] = {}

    def chain(loop: int) -> list[tuple[int, int]]:
        if loop not in known:
            able = [link for link in links if link[0] == loop or link[0] in follows[loop]]
            known[loop] = max(([link, *chain(link[1])] for link in able), key=len, default=[])
        return known[loop]

    return max((chain(loop) for loop in range(len(follows))), key=len, default=[])


def _components(edges: Sequence[set[int]]) -> list[list[int]]:
    """Return the strongly connected parts of a graph, each in order of its numbers."""
    order: list[int] = []
    seen: set[int] = set()
    for root in range(len(edges)):  # the order in which the nodes are left
        stack = [] if root in seen else [(root, iter(sorted(edges[root])))]
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            to = next((one for one in rest if one not in seen), None)
            if to is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(to)
                stack.append((to, iter(sorted(edges[to]))))
    back: list[set[int]] = [set() for _ in edges]
    for node, found in enumerate(edges):
        for to in found:
            back[to].add(node)
    parts: list[list[int]] = []
    taken: set[int] = set()
    for root in reversed(order):
        if root in taken:
            continue
        part, waiting = [], [root]
        taken.add(root)
        while waiting:
            node = waiting.pop()
            part.append(node)
            fresh = back[node] - taken
            taken |= fresh
            waiting += fresh
        parts.append(sorted(part))
    return parts
