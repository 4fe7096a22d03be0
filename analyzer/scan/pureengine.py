"""The engine that needs nothing but Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import SAMPLE, Needle, Proposal, find_places, find_sought


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
        self._plan = self._make_plan(b"")
        self._sampled = False

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        if not self._sampled and end >= SAMPLE:
            self._plan = self._make_plan(bytes(memoryview(data)[:SAMPLE]))
            self._sampled = True
        plan = self._plan
        found: list[Proposal] = []
        _propose_literals(data, end, plan.exact, found)
        if plan.lowered:
            lowered = bytes(memoryview(data)[:end]).lower()
            _propose_literals(lowered, end, plan.lowered, found)
        for regex, number in plan.regexes:
            found += ((match.end() - 1, number) for match in regex.finditer(data, 0, end))
        if plan.every:
            _propose_literals(data, end, {b"\n": plan.every}, found)
        return found

    def _make_plan(self, sample: bytes) -> _Plan:
        plan = _Plan()
        for number, needle in self._needles.items():
            choice = needle.best_choice(sample)
            if choice is None:
                regex = find_sought(needle)
                if regex is None:
                    plan.every.append(number)
                else:
                    plan.regexes.append((regex, number))
                continue
            where = plan.lowered if choice.ignore_case else plan.exact
            for literal in choice.encode_literals():
                where.setdefault(literal, []).append(number)
        return plan


def _propose_literals(
    data: Buffer, end: int, literals: Mapping[bytes, list[int]], found: list[Proposal]
) -> None:
    """Add the places of some literals, each for all patterns that seek it."""
    for literal, numbers in literals.items():
        for at in find_places(data, end, literal):
            found += ((at, number) for number in numbers)
