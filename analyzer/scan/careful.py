"""The search of lines for patterns whose work can run away, with a bound that depends on nothing but the line.

Python's `re` cannot be interrupted, and a clock would give other findings on a slower machine. So RE2 decides:
its work is linear for any pattern and line. `re` decides where it is certain to be quick, which it mostly is,
and where RE2 cannot (see `Re2Pattern`, or its package is missing): then the
steps that the line may cost are reckoned first, and beyond the limit the line stays undecided.

`measure_cost` reads off the repeats of a pattern what a search with `re` costs at most. There is no bound for a repeat
inside a repeat, whose work can double with each character.

`Re2Pattern` is a pattern as RE2 understands it, so that both match the same lines. RE2 speaks another dialect: its
`\\s`, `\\d`, `\\w` and `\\b` know ASCII only, its case folding knows fewer letters, its `$` and `\\Z` differ. So the
pattern is written anew from Python's parse tree, each set of characters with the very ranges that `re` gives it. What
RE2 leaves: lookaround, back references, possessive repeats and atomic groups, counts above a thousand, and `\\b` next to
letters that are not ASCII. Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import importlib
import re
from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
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

MOST_COUNT = 1000  # RE2 refuses more
_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL
_ODD = re.compile("[\ud800-\udfff]")
_STAND_IN = "\ufffd"  # what half a pair of UTF-16, or a byte that is no UTF-8, is for RE2
_ANCHORS = {
    _c.AT_BEGINNING: r"\A",
    _c.AT_BEGINNING_STRING: r"\A",
    _c.AT_END: r"\z",
    _c.AT_END_STRING: r"\z",
    _c.AT_BOUNDARY: r"\b",
    _c.AT_NON_BOUNDARY: r"\B",
}
_LACKS = {
    _c.ASSERT: "a lookaround",
    _c.ASSERT_NOT: "a lookaround",
    _c.GROUPREF: "a back reference",
    _c.GROUPREF_EXISTS: "a condition on a group",
}
# Where the bytes that are no UTF-8 stand: a set has all of them, or none.
_HALVES = ("\ud800", "\udbff", "\udc80", "\udcff", "\udfff")
_WORDS = (_c.AT_BOUNDARY, _c.AT_NON_BOUNDARY)

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
    forms     of a pattern that is one of several: what each costs, which together is less than the product says
    """

    power: int
    choices: int
    begins: tuple[tuple[str, int], ...]
    anchored: bool
    forms: tuple[SearchCost, ...] = ()

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
        if self.forms:
            return sum(form.count_steps(text) for form in self.forms)
        starts = 1 if self.anchored else len(text) + 1
        if self.begins and not self.anchored:
            starts = sum(within * text.count(begin) for begin, within in self.begins)
        return len(text) + int(starts * self.choices * (len(text) + 1) ** self.power)

    def is_within(self, text: str, most: int) -> bool:
        """Say whether one line takes at most so many steps."""
        for form in self.forms or (self,):  # the dearest first: of most lines it decides
            most -= form.count_steps(text)
            if most < 0:
                return False
        return True

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
        if self.forms:
            return sum(form._count_worst(length) for form in self.forms)
        starts: float = 1 if self.anchored else length + 1
        if self.begins and not self.anchored:
            starts = sum(within * length / len(begin) for begin, within in self.begins)
        return length + starts * self.choices * float(length + 1) ** self.power


@lru_cache(maxsize=4096)
def measure_cost(pattern: str, flags: int = 0) -> SearchCost | None:
    """Return what a search costs, or None when no bound holds; raises re.error."""
    tree = _parser.parse(pattern, flags)
    steps = list(_flatten(tree, tree.state.flags))
    whole = _measure_form(steps)
    if whole is None or not steps or steps[-1][0] is not _c.BRANCH:
        return whole
    *head, (_, branch, branch_flags) = steps
    arms = [_measure_form([*head, *_flatten(arm, branch_flags)]) for arm in branch[1]]
    known = [arm for arm in arms if arm is not None]
    forms = tuple(sorted(known, key=lambda one: (one.power, one.choices), reverse=True))
    return replace(whole, forms=forms) if len(forms) == len(arms) else whole


def _measure_form(steps: list[_Step]) -> SearchCost | None:
    """Return what a search costs by the product of what repeats, or None when no bound holds."""
    try:
        _, power, choices, places = _measure_steps(steps, last=True)
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
    parts = []
    for kind, value in arg:
        if kind is _c.NEGATE:
            parts.append("^")
        elif kind is _c.CATEGORY:
            parts.append(CATEGORIES[value])
        elif kind is _c.RANGE:
            parts.append(f"{_write_char(value[0])}-{_write_char(value[1])}")
        else:
            parts.append(_write_char(value))
    return f"[{''.join(parts)}]"


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
    return _measure_steps(list(_flatten(tree, flags)), last=last)


def _measure_steps(steps: list[_Step], *, last: bool) -> _Measure:
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


class NotForRe2Error(Exception):
    """RE2 has no words for a part of the pattern."""


class Re2Pattern:
    """A pattern compiled by RE2, for lines of ASCII or of all characters.

    relaxed  leave out what RE2 has not: it then finds every line that the pattern matches, and others
    """

    def __init__(
        self, pattern: str, flags: int, *, ascii_only: bool, relaxed: bool = False
    ) -> None:
        """Raises NotForRe2Error when RE2 cannot take it, or is not installed."""
        re2 = _load_re2()
        if re2 is None:
            raise NotForRe2Error("google-re2 is not installed")
        writer = _Writer(pattern, flags, ascii_only, relaxed)
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1 if ascii_only else re2.Options.Encoding.UTF8
        options.log_errors = False
        options.max_mem = 64 << 20
        try:
            self._search = re2.compile(writer.text.encode(), options).search
        except re2.error as error:
            raise NotForRe2Error(str(error)) from None
        self._names = writer.names
        self._same_groups = writer.same_groups

    def is_found(self, text: str) -> bool:
        """Say whether a line matches."""
        return self._search(_encode_text(text)) is not None

    def find_groups(self, text: str) -> dict[str, str | None] | None:
        """Return the named groups of a line that matches; None when RE2 may cut them otherwise than `re`."""
        raw = _encode_text(text)
        if not self._same_groups or _STAND_IN in text or _ODD.search(text):
            return None
        match = self._search(raw)
        if match is None:
            return {}
        found: dict[str, str | None] = {}
        for number, name in enumerate(self._names, 1):
            part = match.group(number)
            found[name] = part if part is None else part.decode()
        return found


@cache
def _load_re2() -> Any:
    try:
        return importlib.import_module("re2")
    except Exception:  # noqa: BLE001 - a broken wheel must not stop a triage
        return None


def _encode_text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _ODD.sub(_STAND_IN, text).encode()


class _Writer:
    """Writes the pattern; `names` are the named groups in the order of their numbers."""

    def __init__(self, pattern: str, flags: int, ascii_only: bool, relaxed: bool) -> None:
        tree = _parser.parse(pattern, flags)
        self._ascii, self._relaxed = ascii_only, relaxed
        self._named = {number: name for name, number in tree.state.groupdict.items()}
        self.names: list[str] = []
        self.same_groups = True
        try:
            self.text = self._write_sequence(tree, tree.state.flags)
        except RecursionError:
            raise NotForRe2Error("nested too deep") from None

    def _write_sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> str:
        return "".join(self._write_step(op, arg, flags) for op, arg in tree)

    def _write_step(self, op: Any, arg: Any, flags: int) -> str:
        if op in SINGLE:
            return _write_set(class_text(op, arg), flags & _FLAGS, self._ascii)
        if op is _c.SUBPATTERN:
            number, added, removed, inner = arg
            own = (flags | added) & ~removed
            name = self._named.get(number) if number is not None else None
            if name is None:
                return f"(?:{self._write_sequence(inner, own)})"
            self.names.append(name)
            return f"({self._write_sequence(inner, own)})"
        if op is _c.BRANCH:
            return "(?:" + "|".join(self._write_sequence(arm, flags) for arm in arg[1]) + ")"
        if op in (_c.MAX_REPEAT, _c.MIN_REPEAT):
            return self._write_repeat(arg, flags, lazy=op is _c.MIN_REPEAT)
        if op is _c.AT and (self._ascii or arg not in _WORDS or flags & re.ASCII):
            return _ANCHORS[arg]
        if self._relaxed:
            if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):
                return ""
            if op is POSSESSIVE:
                return self._write_repeat(arg, flags, lazy=False)
            return f"(?:{self._write_sequence(arg, flags)})" if op is ATOMIC else ".*"
        raise NotForRe2Error(
            _LACKS.get(op, "a \\b of all letters" if op is _c.AT else "a possessive repeat")
        )

    def _write_repeat(self, arg: tuple[int, int, Any], flags: int, *, lazy: bool) -> str:
        least, most, inner = arg
        endless = most is _c.MAXREPEAT
        if least > MOST_COUNT or (not endless and most > MOST_COUNT):
            if not self._relaxed:
                raise NotForRe2Error("a count above a thousand")
            least, endless = min(least, 1), True
        known = len(self.names)
        body = self._write_sequence(inner, flags)
        if len(self.names) > known and not inner.getwidth()[0]:
            self.same_groups = False  # what a turn that takes nothing leaves in a group, each engine says otherwise
        if not endless:
            count = f"{{{least},{most}}}"
        elif least:
            count = f"{{{least},}}"
        else:
            count = "*"
        return f"(?:{body}){count}?" if lazy else f"(?:{body}){count}"


@lru_cache(maxsize=4096)
def _write_set(text: str, flags: int, ascii_only: bool) -> str:
    """Return a set of characters as the ranges that `re` gives it."""
    compiled = re.compile(text, flags)
    holds_stand_in = compiled.match(_STAND_IN) is not None
    for half in _HALVES:
        if (compiled.match(half) is not None) is not holds_stand_in:
            raise NotForRe2Error("a byte that is not UTF-8, by its name")
    every = _list_characters(ascii_only)
    ranges = []
    for found in re.finditer(f"(?:{text})+", every, flags):
        low, top = ord(every[found.start()]), ord(every[found.end() - 1])
        ranges.append(f"\\x{{{low:x}}}-\\x{{{top:x}}}")
    if ranges:
        return f"[{''.join(ranges)}]"
    return r"[^\x00-\x{ff}]" if ascii_only else r"[^\x00-\x{10ffff}]"


@cache
def _list_characters(ascii_only: bool) -> str:
    codes = range(0x80) if ascii_only else (*range(0xD800), *range(0xE000, 0x110000))
    return "".join(map(chr, codes)) if ascii_only else array("I", codes).tobytes().decode("utf-32")


STEPS = 256  # steps a character that count as quick
_FORMS = 8  # forms of a pattern whose steps are counted before RE2 is asked


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
        forms = self._cost.forms if self._cost is not None else ()
        # to count the steps of each of many forms takes longer than RE2 takes for a line
        counts_first = len(forms) <= _FORMS or len(text) <= self._sure
        if not text or (counts_first and self.is_quick(text)):
            return self._compiled.search(text)
        if (other := self._find_re2(text)) is not None:
            return PROVEN if other.is_found(text) else None
        if not counts_first and self.is_quick(text):
            return self._compiled.search(text)
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
        return self._cost is not None and self._cost.is_within(text, STEPS * len(text))

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
