"""What is dangerous in a regular expression of a rule file, where it is, and how to write it instead.

Kinds: `exponential` and `repeat` are refused when a rule is loaded; only patterns can be so that RE2 does
not take (`analyzer.scan.careful`). The others are advice: `backreference`, `lookaround`, `no-literal`, `dot`.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from analyzer.scan.careful import PLACES, is_decidable, refused_by_re2
from analyzer.scan.prefilter import required_literals

_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|0[0-7]{0,2}|[0-7]{3}|[1-9]\d?|.)",
    re.DOTALL,
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(
    r"\(\?P<[^>]*>|\(\?P=[^)]*|\(\?\([^)]*\)|\(\?#[^)]*|\(\?(?:[a-zA-Z]*-?[a-zA-Z]*:|[a-zA-Z]+(?=\)))|\(\?<?[=!>]|\("
)
_REPEAT = re.compile(r"(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})[?+]?")


# --- where the parts of a regular expression are in its text: Python's parse tree does not say ---


@dataclass(slots=True)
class PatternPart:
    """One piece of a pattern.

    opening  "(", "(?:", "(?=", … of a group, "" for anything else; inner: where its content is
    repeat   the text of its quantifier, "" when it has none; `atom_end` is where the quantifier begins
    arms     of a group its alternatives, each a list of parts
    """

    start: int
    end: int
    atom_end: int
    opening: str = ""
    repeat: str = ""
    inner: tuple[int, int] = (0, 0)
    arms: list[list[PatternPart]] = field(default_factory=list)

    @property
    def varies(self) -> bool:
        """True when it takes its atom not always the same number of times."""
        return bool(self.repeat) and not re.fullmatch(r"\{\d+\}[?+]?", self.repeat)


def parts_of(pattern: str) -> list[list[PatternPart]]:
    """Return the alternatives of a pattern that compiles; a verbose one is a single piece."""
    if re.match(r"\(\?[a-zA-Z]*x", pattern):
        return [[PatternPart(0, len(pattern), len(pattern))]]
    arms, _ = _read_arms(pattern, 0)
    return arms


def walk_parts(arms: list[list[PatternPart]]) -> Iterator[tuple[list[PatternPart], int]]:
    """Yield (alternative, index) of every part, those inside groups too."""
    for arm in arms:
        for index, part in enumerate(arm):
            yield arm, index
            yield from walk_parts(part.arms)


def _read_arms(pattern: str, at: int) -> tuple[list[list[PatternPart]], int]:
    """Read alternatives up to the closing parenthesis or the end."""
    arms: list[list[PatternPart]] = [[]]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            arms.append([])
            at += 1
            continue
        part = _read_part(pattern, at)
        found = _REPEAT.match(pattern, part.end)
        if found:
            part.repeat, part.end = found[0], found.end()
        arms[-1].append(part)
        at = part.end
    return arms, at


def _read_part(pattern: str, at: int) -> PatternPart:
    char = pattern[at]
    if char == "(":
        found = _GROUP.match(pattern, at)
        opening = found[0] if found else "("
        inside = at + len(opening)
        arms, close = _read_arms(pattern, inside)
        end = min(close + 1, len(pattern))
        return PatternPart(at, end, end, opening=opening, inner=(inside, close), arms=arms)
    found = (_ESCAPE if char == "\\" else _CLASS).match(pattern, at) if char in "\\[" else None
    end = found.end() if found else at + 1
    return PatternPart(at, end, end)


_parser: Any = importlib.import_module("re._parser")

FATAL = ("exponential", "repeat")
LITERAL = 4  # characters of a literal that is worth seeking

_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_ONE_REPEAT = "let one repeat take it, (a+)+ is a+, or part two repeats by a character that neither of them takes"


@dataclass(frozen=True, slots=True)
class Danger:
    """One dangerous place of a pattern: kind, offsets into its text, why, and what to write instead."""

    kind: str
    start: int
    end: int
    why: str
    instead: str


def find_dangers(pattern: str, ignore_case: bool = False) -> list[Danger]:
    """Return the dangers of a pattern, in the order of their places; raises re.error when it is none."""
    flags = re.IGNORECASE if ignore_case else 0
    re.compile(pattern, flags)
    found = [*_find_blow_up(pattern, flags), *_find_signs(pattern)]
    texts = required_literals(pattern, flags)
    if not texts or min(map(len, texts)) < LITERAL:
        why = (
            f"no text of {LITERAL} characters stands in every match, "
            "so that very many lines have to be tried"
        )
        instead = "add a word that the line always holds"
        found.append(Danger("no-literal", 0, len(pattern), why, instead))
    return sorted(found, key=lambda danger: (danger.start, danger.end, danger.kind))


@lru_cache(maxsize=8192)
def find_fatal(pattern: str, ignore_case: bool = False) -> Danger | None:
    """Return the danger for which a rule file is refused, or None; raises re.error when it is no pattern."""
    return next(_find_blow_up(pattern, re.IGNORECASE if ignore_case else 0), None)


def find_ambiguity(pattern: str, flags: int = 0) -> str:
    """Return what Python warns of in a pattern (sets in sets, signs of later versions), or ""; raises re.error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _parser.parse(pattern, flags)
        except (FutureWarning, DeprecationWarning) as warning:
            return str(warning)
    return ""


def _find_blow_up(pattern: str, flags: int) -> Iterator[Danger]:
    """Yield what neither RE2 nor `re` can search in a bounded time."""
    if is_decidable(pattern, flags):
        return
    counted: PatternPart | None = None
    for arm, index in walk_parts(parts_of(pattern)):
        part = arm[index]
        if part.varies and (len(part.arms) > 1 or any(map(_arm_varies, part.arms))):
            why = refused_by_re2(pattern, flags)
            yield Danger(
                "exponential", part.start, part.end,
                "a repeat inside a repeat can divide a line in endless ways, and RE2, which would not mind, cannot "
                f"take this pattern: {why}",
                _ONE_REPEAT,
            )  # fmt: skip
            return
        if counted is None and part.repeat.startswith("{"):
            counted = part
    start, end = (counted.start, counted.end) if counted else (0, len(pattern))
    why = f"with all counts written out it has more than {PLACES:,} places, or too many choices"
    yield Danger("repeat", start, end, why, 'count less, or write + or * for "many"')


def _arm_varies(arm: list[PatternPart]) -> bool:
    return any(part.varies or any(map(_arm_varies, part.arms)) for part in arm)


# --- advice -------------------------------------------------------------------------------------


def _find_signs(pattern: str) -> Iterator[Danger]:
    """Yield back references, lookaround and dots that were meant as dots."""
    for arm, index in walk_parts(parts_of(pattern)):
        part = arm[index]
        text = pattern[part.start : part.atom_end]
        inside = list(chain.from_iterable(part.arms))
        is_single = len(inside) == 1 and not inside[0].repeat and not inside[0].arms
        if re.fullmatch(r"\\[1-9]\d?", text) or text.startswith(("(?P=", "(?(")):
            yield Danger(
                "backreference", part.start, part.end,
                "a back reference has to be tried by going back and forth; a long line may stay undecided",
                "name both places as groups and compare them in `where`",
            )  # fmt: skip
        elif part.opening in _LOOKS and not is_single:
            yield Danger(
                "lookaround", part.start, part.end,
                "the fast search leaves this condition out, so it finds more lines than match",
                "write what the line does hold, and leave out in `where` what it must not",
            )  # fmt: skip
        elif (
            text == "."
            and not part.repeat
            and all(_is_word(pattern, arm, index + step) for step in (-1, 1))
        ):
            yield Danger(
                "dot",
                part.start,
                part.end,
                "an unescaped dot stands for any character",
                r"write \.",
            )


def _is_word(pattern: str, arm: list[PatternPart], index: int) -> bool:
    """Say whether a neighbour is a plain letter or digit."""
    if not 0 <= index < len(arm) or arm[index].repeat:
        return False
    text = pattern[arm[index].start : arm[index].end]
    return len(text) == 1 and text.isalnum()
