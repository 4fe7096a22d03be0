"""Patterns as engines seek them, and where they may match: an over-approximation, of which each place names a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from analyzer.scan.blocks import Buffer
from analyzer.scan.prefilter import Required, analyse, is_known
from analyzer.scan.repeats import measure_cost

_RARE = (
    24  # characters of a literal that hardly any line holds which the whole pattern does not match
)
_NAMES, _NAME = (
    8,
    7,
)  # this many literals of one choice, of this many characters, are names: slow to compile together
SAMPLE = 1 << 18  # bytes of the first block in which the rarest literal is looked for

Proposal = tuple[int, int]  # offset of a byte of the line, number of the pattern


@dataclass(frozen=True, slots=True)
class Needle:
    """A pattern ready for the engines; `compiled` is the one that decides, made when a line is proposed for it."""

    pattern: str
    flags: int
    choices: tuple[Required, ...]
    approximation: str | None
    folds_case: bool  # it ignores case, somewhere

    @classmethod
    def of(cls, pattern: str, flags: int = 0) -> Needle:
        """Look at a pattern; raises re.error when it is none."""
        if not is_known(pattern, flags):
            _compile_pattern(pattern, flags)
        found = analyse(pattern, flags)
        return cls(pattern, flags, found.choices, found.approximation, found.folds_case)

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern itself."""
        return _compile_pattern(self.pattern, self.flags)

    @property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """The search of the pattern itself in one line."""
        return self.regex.search

    @property
    def every_line(self) -> bool:
        """True when nothing of it can be sought, so that it has to be tried on every line."""
        return not self.choices and self.approximation is None

    def best_choice(self, sample: bytes = b"") -> Required | None:
        """Return the literals to seek: the rarest in a sample of the text, else the longest."""
        if not self.choices:
            return None
        if len(self.choices) == 1 or not sample:
            return max(self.choices, key=lambda choice: choice.weight)
        lowered = sample.lower()

        def measure_cost(choice: Required) -> tuple[int, int]:
            text = lowered if choice.ignore_case else sample
            # a literal takes about as long to seek as 5,000 candidates take to look at
            seen = sum(text.count(literal) for literal in choice.encode_literals())
            return 5_000 * len(choice.texts) + 64 * seen, -choice.weight[0]

        return min(self.choices, key=measure_cost)


@lru_cache(8192)
def _compile_pattern(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


class Engine(Protocol):
    """Proposes (offset, pattern number) pairs for the lines of `data[:end]`, in any order."""

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """Return at least one place for each line and pattern that match."""


def find_places(data: Buffer, end: int, literal: bytes) -> Iterator[int]:
    """Yield one place of `literal` a line; of the line feed, each one."""
    at = data.find(literal, 0, end)
    while at >= 0:
        yield at
        line_end = data.find(b"\n", at, end) + 1
        if not line_end:
            return
        at = data.find(literal, line_end, end)


def find_needle_places(needle: Needle, data: Buffer, end: int) -> Iterator[int]:
    """Yield places a pattern may match, one a line for each thing sought; for any engine the same."""
    choice = needle.best_choice()
    if choice is not None:
        text = bytes(memoryview(data)[:end]).lower() if choice.ignore_case else data
        for literal in choice.encode_literals():
            yield from find_places(text, end, literal)
    elif (regex := find_sought(needle)) is not None:
        yield from (match.end() - 1 for match in regex.finditer(data, 0, end))
    else:
        yield from find_places(data, end, b"\n")


def find_sought(needle: Needle) -> re.Pattern[bytes] | None:
    """Return the approximation for Python's `re`, or None when it is not certain that its work stays linear."""
    text = needle.approximation
    bound = None if text is None else measure_cost(text, re.MULTILINE)
    if text is None or bound is None or not bound.quick:
        return None
    return re.compile(text.encode("ascii"), re.MULTILINE)


def list_expressions(needle: Needle) -> list[str]:
    """Return the regexes to compile: literals that are certain to be rare, else the approximation, else the literals.

    Literals alone are found in two thirds of the time of a regex with classes, and compiled in a tenth of it; each by
    itself, as an automaton for several of them takes ten times as long to compile.
    """
    choice = needle.best_choice()
    rare = choice is not None and choice.weight[0] >= (
        _NAME if len(choice.texts) >= _NAMES else _RARE
    )
    if needle.approximation is not None and not rare:
        return [needle.approximation]
    assert choice is not None, "a pattern tried on every line never comes here"
    texts = ("".join(f"\\x{byte:02x}" for byte in literal) for literal in choice.encode_literals())
    return [f"(?i:{text})" if choice.ignore_case else text for text in texts]
