"""What a search with Python's `re` costs at most, read off the repeats of a pattern.

There is no bound for a repeat inside a repeat, whose work can double with each character. The bound only
decides what may search a line: `re`, RE2, or neither.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Any

# Python's own parser and its names; public until 3.10 as sre_parse and sre_constants.
_parser: Any = importlib.import_module("re._parser")
_c: Any = importlib.import_module("re._constants")

SINGLE = (_c.LITERAL, _c.NOT_LITERAL, _c.ANY, _c.IN)
POSSESSIVE = getattr(_c, "POSSESSIVE_REPEAT", None)
ATOMIC = getattr(_c, "ATOMIC_GROUP", None)
CATEGORIES = {
    _c.CATEGORY_DIGIT: r"\d",
    _c.CATEGORY_NOT_DIGIT: r"\D",
    _c.CATEGORY_SPACE: r"\s",
    _c.CATEGORY_NOT_SPACE: r"\S",
    _c.CATEGORY_WORD: r"\w",
    _c.CATEGORY_NOT_WORD: r"\W",
}
_BEGINS = (_c.AT_BEGINNING, _c.AT_BEGINNING_STRING)
_FEW = 8  # of a group with choices of its own; of one set any count is as many choices
_CHOICES = 10_000_000
QUICK = 256  # choices that cost no more than a look at the line
_POWER = 20
LONGEST_SURE = 4096  # characters; nearly all lines are shorter
PLACES = 1000  # of a pattern with all its counts written out

_Measure = tuple[int, int, int, int]
_Step = tuple[Any, Any, int]  # opcode, argument, flags that hold there


class EndlessError(Exception):
    """The work of a pattern has no bound that is worth the name."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """Steps that `re` takes for a line at most: `choices` times its length to the power of `power`, from each place.

    begins    texts of which each match begins with one, with the number that can begin within one; the search begins
              nowhere else. None: anywhere
    anchored  a match begins at the first character only
    """

    power: int
    choices: int
    begins: tuple[tuple[str, int], ...]
    anchored: bool

    @property
    def prefix(self) -> str:
        """The first of the texts that a match begins with, "" where it may begin with anything."""
        return self.begins[0][0] if self.begins else ""

    @property
    def quick(self) -> bool:
        """A line costs little more than a look at it, however long it is."""
        return not self.power and self.choices <= QUICK

    def count_steps(self, text: str) -> int:
        """Return the steps for one line."""
        starts = 1 if self.anchored else len(text) + 1
        if self.begins and not self.anchored:
            starts = sum(within * text.count(begin) for begin, within in self.begins)
        return len(text) + int(starts * self.choices * (len(text) + 1) ** self.power)

    def find_sure_length(self, most: int) -> int:
        """Return a length up to which no line takes more than so many steps a character, whatever is in it.

        The most steps for a length are a convex function of it: what holds for 1 and for a length, holds in between.
        """
        if self._count_worst(1) > most:
            return 0
        length, step = 1, LONGEST_SURE
        while step:
            if self._count_worst(length + step) <= most * (length + step):
                length += step
            step //= 2
        return length

    def _count_worst(self, length: int) -> float:
        starts: float = 1 if self.anchored else length + 1
        if self.begins and not self.anchored:
            starts = sum(within * length / len(begin) for begin, within in self.begins)
        return length + starts * self.choices * float(length + 1) ** self.power


@lru_cache(maxsize=4096)
def measure_cost(pattern: str, flags: int = 0) -> SearchCost | None:
    """Return what a search costs, or None when no bound holds; raises re.error."""
    tree = _parser.parse(pattern, flags)
    steps = list(_flatten(tree, tree.state.flags))
    try:
        _, power, choices, places = _measure_tree(tree, tree.state.flags, last=True)
    except (EndlessError, RecursionError):
        return None
    if power > _POWER or choices > _CHOICES or places > PLACES:
        return None
    anchored = bool(steps) and steps[0][0] is _c.AT and steps[0][1] in _BEGINS
    begins = tuple(
        (text, (len(text) if any(text.startswith(text[at:]) for at in range(1, len(text))) else 1))
        for text in _find_begins(steps)
    )
    return SearchCost(power, choices, begins, anchored)


def _find_begins(steps: list[_Step]) -> list[str]:
    """Return the texts that every match begins with one of, none where it may begin with anything."""
    prefix = ""
    for op, arg, flags in steps:
        if op is _c.LITERAL and not flags & re.IGNORECASE:
            prefix += chr(arg)
        elif op is _c.BRANCH:
            arms = [_find_begins(list(_flatten(arm, flags))) for arm in arg[1]]
            if not all(arms):
                break
            return [prefix + text for text in chain.from_iterable(arms)]
        elif op is not _c.AT or prefix:
            break
    return [prefix] if prefix else []


def class_text(op: Any, arg: Any) -> str:
    """Return one step that takes one character as a regex of its own."""
    if op is _c.ANY:
        return "."
    if op is _c.LITERAL or op is _c.NOT_LITERAL:
        return f"[{'^' if op is _c.NOT_LITERAL else ''}{_write_char(arg)}]"
    return "[" + "".join(_write_item(*item) for item in arg) + "]"


def _write_item(op: Any, arg: Any) -> str:
    if op is _c.NEGATE:
        return "^"
    if op is _c.CATEGORY:
        return CATEGORIES[arg]
    return f"{_write_char(arg[0])}-{_write_char(arg[1])}" if op is _c.RANGE else _write_char(arg)


def _write_char(code: int) -> str:
    return f"\\U{code:08x}"


def _flatten(tree: Iterable[tuple[Any, Any]], flags: int) -> Iterable[_Step]:
    """Yield the steps of a parsed pattern with plain groups dissolved."""
    for op, arg in tree:
        if op is _c.SUBPATTERN:
            _, added, removed, inner = arg
            yield from _flatten(inner, (flags | added) & ~removed)
        else:
            yield op, arg, flags


def _ends_once(step: _Step, after: _Step | None) -> bool:
    """Say whether a repeat can end in one place only: it is of one set, and a character outside that set follows."""
    op, arg, flags = step
    if after is None or op is not _c.MAX_REPEAT:
        return False
    inner = arg[2]
    if len(inner) != 1 or inner[0][0] not in SINGLE:
        return False
    after_op, after_arg, after_flags = after
    if after_flags & re.IGNORECASE:
        return False
    if after_op is _c.LITERAL:
        following = [after_arg]
    elif after_op is not _c.IN or any(kind is not _c.LITERAL for kind, _ in after_arg):
        following = []
    else:
        following = [code for _, code in after_arg]
    own = flags & (re.IGNORECASE | re.ASCII | re.DOTALL)
    form = class_text(*inner[0])
    return bool(following) and not any(re.match(form, chr(code), own) for code in following)


def _measure_tree(tree: Iterable[tuple[Any, Any]], flags: int, *, last: bool = False) -> _Measure:
    """Return free repeats in a row, the power of the work, choices besides, and places; raises EndlessError.

    What gives nothing back (lookaround, atomic groups, possessive repeats, a repeat that can end in one place
    only, the `last` one, behind which nothing can fail) adds to the work and not to the repeats that are tried
    against each other.
    """
    steps = list(_flatten(tree, flags))
    free = power = places = 0
    choices = 1
    for step, after in zip_longest(steps, steps[1:]):
        own, inner_power, ways, size = _measure_step(*step, last=last and after is None)
        power = max(power, free + inner_power)
        if not _ends_once(step, after):
            free += own
            choices *= ways
        power = max(power, free)
        places += size
        if choices > _CHOICES or places > PLACES:
            raise EndlessError
    return free, power, choices, places


def _measure_step(op: Any, arg: Any, flags: int, *, last: bool = False) -> _Measure:
    if op in (_c.MAX_REPEAT, _c.MIN_REPEAT) or op is POSSESSIVE:
        return _measure_repeat(arg, flags, possessive=op is POSSESSIVE, last=last)
    if op is _c.BRANCH:
        return _measure_arms(arg[1], flags, last=last)
    if op in (_c.ASSERT, _c.ASSERT_NOT) or op is ATOMIC:
        inner = arg if op is ATOMIC else arg[1]
        _, power, choices, places = _measure_tree(inner, flags)
        return 0, power, choices, places
    if op is _c.GROUPREF:
        return 0, 1, 1, 1
    if op is _c.GROUPREF_EXISTS:
        arms = [arm for arm in arg[1:] if arm is not None]
        return _measure_arms(arms, flags)
    places = 0 if op is _c.AT else 1
    return 0, 0, 1, places


def _measure_arms(arms: Iterable[Any], flags: int, *, last: bool = False) -> _Measure:
    frees, powers, choices, places = zip(
        *(_measure_tree(arm, flags, last=last) for arm in arms), strict=True
    )
    return max(frees), max(powers), sum(choices), sum(places)


def _measure_repeat(
    arg: tuple[int, Any, Any], flags: int, *, possessive: bool, last: bool
) -> _Measure:
    least, most, inner = arg
    endless = most is _c.MAXREPEAT
    free, power, choices, places = _measure_tree(inner, flags)
    written = places * (least + 1 if endless else most)
    if last and len(inner) == 1 and inner[0][0] in SINGLE:
        return 0, 0, 1, written
    has_choices = free > 0 or choices > 1
    if endless or (most - least > _FEW and has_choices):
        if has_choices:
            raise EndlessError
        return (0 if possessive else 1), 1 + power, 1, written
    all_free = free * most
    if all_free > _POWER or (choices > 1 and most > _FEW):
        raise EndlessError
    ways = choices**most
    power = max(all_free, power + free * (most - 1))
    size = max(places, written)
    if possessive:
        return 0, power, ways, size
    return all_free, power, ways * (most - least + 1), size
