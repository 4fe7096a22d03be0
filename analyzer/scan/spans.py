"""Where the parts of a regular expression stand in its text: Python's parse tree does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|0[0-7]{0,2}|[0-7]{3}|[1-9]\d?|.)",
    re.DOTALL,
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(
    r"\(\?P<[^>]*>|\(\?P=[^)]*|\(\?\([^)]*\)|\(\?#[^)]*|\(\?(?:[a-zA-Z]*-?[a-zA-Z]*:|[a-zA-Z]+(?=\)))|\(\?<?[=!>]|\("
)
_REPEAT = re.compile(r"(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})[?+]?")


@dataclass(slots=True)
class PatternPart:
    """One piece of a pattern.

    opening  "(", "(?:", "(?=", … of a group, "" for anything else; inner: where its content stands
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
