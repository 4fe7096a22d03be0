"""How much work a backtracking search is, without doing it.

`work` counts the steps for one text. `proven_linear` is a proof: no text at all costs more than
so many steps a character. `lengths` tells up to which length any text is cheap.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache

from analyzer.scan.automaton import EDGE, START, Automaton
from analyzer.scan.construct import TooLargeError, automaton

STEPS = 256  # steps a character that still count as linear

_STATES = 600  # counted states looked at for the proof
_EFFORT = 100_000  # moves looked at for the proof
_FAIR = 20_000_000
LONG = 2048


def work(auto: Automaton, text: str, most: int = 1 << 62, *, anchored: bool = False) -> int:
    """Return how many steps a backtracking search of `text` takes at most; counting ends beyond `most`.

    anchored  a match may begin at the first character only
    """
    total = effort = 0
    now: dict[int, int] = {}
    before = EDGE
    ways, width = auto.ways, auto.width
    for index, char in enumerate(text):
        sign = auto.sign(char)
        after: dict[int, int] = {}
        if index == 0 or not anchored:
            total += ways[START]
            for to, count in auto.moves(START, before, sign):
                after[to] = after.get(to, 0) + count
        for position, paths in now.items():
            total += paths * ways[position]
            for to, count in auto.moves(position, before, sign):
                after[to] = after.get(to, 0) + paths * count
        effort += 1 + len(now)
        if total * width + 20 * effort > most:
            return total * width + 20 * effort
        now, before = after, sign
    return (total + sum(paths * ways[position] for position, paths in now.items())) * width


@lru_cache(maxsize=4096)
def proven_linear(pattern: str, flags: int = 0) -> bool:
    """Tell whether it is certain that no text costs more than `STEPS` steps a character.

    All counts of ways that any text can lead to are walked through; False when they are too many.
    """
    try:
        auto = automaton(pattern, flags)
    except TooLargeError:
        return False
    signs = list(auto.alphabet())
    first: tuple[int, tuple[tuple[int, int], ...]] = (EDGE & auto.behind, ())
    seen = {first}
    waiting = deque([first])
    effort = 0
    while waiting:
        before, now = waiting.popleft()
        for sign in signs:
            after: dict[int, int] = dict(auto.moves(START, before, sign))
            for position, paths in now:
                for to, count in auto.moves(position, before, sign):
                    after[to] = after.get(to, 0) + paths * count
            steps = auto.ways[START] + sum(paths * auto.ways[position] for position, paths in after.items())
            effort += 1 + len(now)
            if steps * auto.width > STEPS or effort > _EFFORT:
                return False
            state = (sign & auto.behind, tuple(sorted(after.items())))
            if state not in seen:
                if len(seen) >= _STATES:
                    return False
                seen.add(state)
                waiting.append(state)
    return True


def lengths(auto: Automaton, longest: int = LONG) -> tuple[int, int]:
    """Return (short, fair): up to the first no text costs more than `STEPS` a character, to the second 20 million.

    Neither is more than `longest` characters; what it costs is counted in steps.
    """
    now: dict[int, int] = {}
    total = short = effort = 0
    for length in range(1, longest + 1):
        after: dict[int, int] = {}
        for to, count, _ in auto.start:
            after[to] = after.get(to, 0) + count
        total += auto.ways[START]
        for position, paths in now.items():
            total += paths * auto.ways[position]
            for to, count, _ in auto.follow[position]:
                after[to] = after.get(to, 0) + paths * count
        steps = (total + sum(paths * auto.ways[position] for position, paths in after.items())) * auto.width
        if short == length - 1 and steps <= STEPS * length:
            short = length
        effort += len(now)
        if steps > _FAIR or effort > _EFFORT:
            return short, length - 1
        now = after
    return short, longest
