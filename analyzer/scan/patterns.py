"""What is dangerous in a regular expression of a rule file, where it stands, and how to write it instead.

Kinds: `exponential` and `repeat` are refused when a rule is loaded. `polynomial` (the cube of the
line and more) and `quadratic` are searched with care (`analyzer.scan.careful`) and can leave a long
line undecided. The others are advice: `backreference`, `lookaround`, `no-literal`, `dot`.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analyzer.scan.construct import MOST_POSITIONS, TooLargeError
from analyzer.scan.prefilter import required_literals
from analyzer.scan.spans import PatternPart, parts_of, walk
from analyzer.scan.witness import Worst, worst

_parser: Any = importlib.import_module("re._parser")
_c: Any = importlib.import_module("re._constants")

FATAL = ("exponential", "repeat")
LITERAL = 4  # characters of a literal that is worth seeking

_RANK = ("", "quadratic", "polynomial", "exponential")
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_TRIED = 40  # stretches of a pattern that are looked at for the one that is to blame; fewer of a long one
_REPEATS = {_c.MAX_REPEAT, _c.MIN_REPEAT, getattr(_c, "POSSESSIVE_REPEAT", _c.MAX_REPEAT)}


@dataclass(frozen=True, slots=True)
class Danger:
    """One dangerous place of a pattern: kind, offsets into its text, why, and what to write instead."""

    kind: str
    start: int
    end: int
    why: str
    instead: str


def dangers(pattern: str, ignore_case: bool = False) -> list[Danger]:
    """Return the dangers of a pattern, in the order of their places; raises re.error when it is none."""
    flags = re.IGNORECASE if ignore_case else 0
    re.compile(pattern, flags)
    found = [*_blow_up(pattern, flags), *_signs(pattern), *_without_literal(pattern, flags)]
    return sorted(found, key=lambda danger: (danger.start, danger.end, danger.kind))


@lru_cache(maxsize=8192)
def fatal(pattern: str, ignore_case: bool = False) -> Danger | None:
    """Return the danger for which a rule file is refused, or None; quick for patterns without nested repeats."""
    flags = re.IGNORECASE if ignore_case else 0
    if _harmless(_parser.parse(pattern, flags)):
        return None
    return next((danger for danger in _blow_up(pattern, flags) if danger.kind in FATAL), None)


def ambiguous(pattern: str, flags: int = 0) -> str:
    """Return what Python warns of in a pattern (sets in sets, signs of later versions), or ""; raises re.error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _parser.parse(pattern, flags)
        except (FutureWarning, DeprecationWarning) as warning:
            return str(warning)
    return ""


# --- repeats that blow up -----------------------------------------------------------------------


def _blow_up(pattern: str, flags: int) -> Iterator[Danger]:
    found = _worst(pattern, flags)
    if found is None:
        start, end = _blamed(pattern, lambda text: _worst(text, flags) is None)
        yield Danger(
            "repeat", start, end,
            f"with all counts written out it has more than {MOST_POSITIONS:,} places",
            'count less, or write + or * for "many"',
        )  # fmt: skip
    elif found.leading:
        yield _leading(pattern, flags)
    elif found.kind:
        rank = _RANK.index(found.kind)
        start, end = _blamed(pattern, lambda text: _rank(text, flags) >= rank)
        yield Danger(found.kind, start, end, _why(found), _instead(found.kind, pattern[start:end]))


def _worst(pattern: str, flags: int) -> Worst | None:
    """Return the worst line of a pattern; None when it is too large to tell."""
    try:
        return worst(pattern, flags)
    except TooLargeError:
        return None


def _rank(text: str, flags: int) -> int:
    found = _worst(text, flags)
    return 0 if found is None or found.leading else _RANK.index(found.kind)


def _why(found: Worst) -> str:
    shown = found.line(12)[:24]
    if found.kind == "exponential":
        return f"a line like {shown!r} can be shared out among the repeats in so many ways that the search never ends"
    power = "square" if found.kind == "quadratic" else "cube, or more,"
    return f"a line like {shown!r} fits several repeats at once: the time grows with the {power} of its length"


def _instead(kind: str, text: str) -> str:
    if kind == "exponential":
        return "let one repeat take it, (a+)+ is a+, or part two repeats by a character that neither of them takes"
    if ".*" in text or ".+" in text:
        return r"write what stands there instead of the dot, [^ ]* or \S+ or \d+, or give it an end: .{0,80}"
    return "let one repeat take it, or part two repeats by a character that neither of them takes"


def _leading(pattern: str, flags: int) -> Danger:
    first = next((part for arm in parts_of(pattern) if (part := _first(arm)) is not None), None)
    start, end = (first.start, first.end) if first else (0, len(pattern))
    return Danger(
        "quadratic", start, end,
        "the search begins anew at each character this takes: the time grows with the square of the line",
        _beginning(pattern, start, flags),
    )  # fmt: skip


def _first(arm: list[PatternPart]) -> PatternPart | None:
    """Return the first part of an alternative that can take more or less, if nothing else stands before it."""
    part = next((one for one in arm if not one.opening or one.arms != [[]]), None)
    return part if part is not None and _loose(part) else None


def _beginning(pattern: str, start: int, flags: int) -> str:
    """Return the advice how to begin a pattern, after trying that it helps."""
    if re.match(r"\.[*+]", pattern[start:]):
        return "leave it out, a search finds the rest anywhere in a line"
    for sign in (r"\b", r"(?<!\S)"):
        found = _worst(f"{pattern[:start]}{sign}{pattern[start:]}", flags)
        if found is not None and not found.kind:
            return f"write {sign} before it, or the text that stands before it"
    return "write ^ before it, or the text that stands before it"


def _blamed(pattern: str, bad: Any) -> tuple[int, int]:
    """Return the shortest stretch of whole parts that is as bad alone as the pattern is."""
    spans = sorted(_stretches(pattern), key=lambda span: (span[1] - span[0], span))
    for start, end in spans[: min(_TRIED, 8000 // len(pattern))]:
        try:
            if bad(pattern[start:end]):
                return start, end
        except re.error:  # a back reference to a group that stands elsewhere
            continue
    return 0, len(pattern)


def _stretches(pattern: str) -> set[tuple[int, int]]:
    """Return the spans that begin and end with a part that can take more or less; of very many only the short ones."""
    found: set[tuple[int, int]] = set()
    for arm, index in walk(parts_of(pattern)):
        if _loose(arm[index]):
            others = [other for other in arm[index : index + _TRIED] if _loose(other)]
            found |= {(arm[index].start, other.end) for other in others}
    return found


def _loose(part: PatternPart) -> bool:
    return bool(part.repeat) or any(_loose(one) for arm in part.arms for one in arm)


def _harmless(tree: Any) -> bool:
    """Tell at a glance that a pattern cannot be fatal: no repeat in a repeat, and few choices."""
    free, choices, places = _measure(tree)
    return free <= 4 and choices <= 64 and places <= MOST_POSITIONS // 2


def _measure(tree: Any) -> tuple[int, int, int]:
    """Return how many free repeats, choices and places a pattern has; very many for what needs a look."""
    free, choices, places = 0, 1, 0
    for op, arg in tree:
        inner: list[Any] = []
        if op in _REPEATS:
            least, most, body = arg
            one = _measure(body)
            if most is _c.MAXREPEAT or most > 1:
                if one[0] or one[1] > 1:
                    return 99, 99, 99
                free += least != most
                places += one[2] * (least + 1 if most is _c.MAXREPEAT else most)
            else:
                free, choices, places = free + one[0], choices * one[1] * (2 - least), places + one[2]
        elif op is _c.SUBPATTERN:
            inner = [arg[3]]
        elif op is _c.BRANCH:
            inner = arg[1]
            choices *= len(inner)
        elif op in (_c.LITERAL, _c.NOT_LITERAL, _c.ANY, _c.IN):
            places += 1
        elif op is not _c.AT:
            return 99, 99, 99
        for own in map(_measure, inner):
            free, choices, places = free + own[0], choices * own[1], places + own[2]
    return free, choices, places


# --- advice -------------------------------------------------------------------------------------


def _signs(pattern: str) -> Iterator[Danger]:
    """Yield back references, lookaround and dots that were meant as dots."""
    for arm, index in walk(parts_of(pattern)):
        part = arm[index]
        text = pattern[part.start : part.atom_end]
        if re.fullmatch(r"\\[1-9]\d?", text) or text.startswith(("(?P=", "(?(")):
            yield Danger(
                "backreference", part.start, part.end,
                "a back reference has to be tried by going back and forth; a long line may stay undecided",
                "name both places as groups and compare them in `where`",
            )  # fmt: skip
        elif part.opening in _LOOKS and not _one_character(part):
            yield Danger(
                "lookaround", part.start, part.end,
                "what is looked at here is not part of the search beforehand, which finds more lines than match",
                "write what the line does hold, and leave out in `where` what it must not",
            )  # fmt: skip
        elif text == "." and not part.repeat and all(_is_word(pattern, arm, index + step) for step in (-1, 1)):
            yield Danger("dot", part.start, part.end, "an unescaped dot stands for any character", r"write \.")


def _one_character(part: PatternPart) -> bool:
    inside = [one for arm in part.arms for one in arm]
    return len(inside) == 1 and not inside[0].repeat and not inside[0].arms


def _is_word(pattern: str, arm: list[PatternPart], index: int) -> bool:
    """Tell whether a neighbour is a plain letter or digit."""
    if not 0 <= index < len(arm) or arm[index].repeat:
        return False
    text = pattern[arm[index].start : arm[index].end]
    return len(text) == 1 and text.isalnum()


def _without_literal(pattern: str, flags: int) -> Iterator[Danger]:
    texts = required_literals(pattern, flags)
    if not texts or min(map(len, texts)) < LITERAL:
        yield Danger(
            "no-literal", 0, len(pattern),
            f"no text of {LITERAL} characters stands in every match, so that very many lines have to be tried",
            "add a word that the line always holds",
        )  # fmt: skip
