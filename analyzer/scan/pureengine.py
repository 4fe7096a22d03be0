"""The engine that needs nothing but Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from analyzer.lazy_dataclass import dataclass
from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import SAMPLE, Needle, Proposal, places, sought


@dataclass(slots=True)
class _Plan:
    """What to seek: literals (as they stand, and in lowered text) and regexes, with pattern numbers.

    every  patterns for which every line is proposed
    """

    exact: dict[bytes, list[int]] = field(default_factory=dict)
    lowered: dict[bytes, list[int]] = field(default_factory=dict)
    regexes: list[tuple[re.Pattern[bytes], int]] = field(default_factory=list)
    every: list[int] = field(default_factory=list)


class PureEngine:
    """Required literals with `bytes.find`; needs nothing but Python."""

    def __init__(self, needles: Mapping[int, Needle]) -> None:
        self._needles = needles
        self._plan = self._planned(b"")
        self._sampled = False

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        if not self._sampled and end >= SAMPLE:
            self._plan = self._planned(bytes(memoryview(data)[:SAMPLE]))
            self._sampled = True
        found: list[Proposal] = []
        for literal, numbers in self._plan.exact.items():
            found += ((at, n) for at in places(data, end, literal) for n in numbers)
        if self._plan.lowered:
            lowered = bytes(memoryview(data)[:end]).lower()
            for literal, numbers in self._plan.lowered.items():
                found += ((at, n) for at in places(lowered, end, literal) for n in numbers)
        for regex, number in self._plan.regexes:
            found += ((match.end() - 1, number) for match in regex.finditer(data, 0, end))
        if self._plan.every:
            found += ((at, n) for at in places(data, end, b"\n") for n in self._plan.every)
        return found

    def _planned(self, sample: bytes) -> _Plan:
        plan = _Plan()
        for number, needle in self._needles.items():
            choice = needle.best_choice(sample)
            if choice is None:
                regex = sought(needle)
                if regex is None:
                    plan.every.append(number)
                else:
                    plan.regexes.append((regex, number))
                continue
            where = plan.lowered if choice.ignore_case else plan.exact
            for literal in choice.encoded():
                where.setdefault(literal, []).append(number)
        return plan
