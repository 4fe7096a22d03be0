"""Which subjects are reported in full when there are too many: the worst overall, and the worst of every node.

A weight is severity first, then confidence, then magnitude: the value that the rule compares with its
threshold. Nothing has to be written into a rule for that; see `gauge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from analyzer.language.expression import ExprNode
from analyzer.lazy_dataclass import dataclass
from analyzer.rules import Rule
from analyzer.verdicts import CONFIDENCES, SEVERITIES

_NUMBERS = ("int", "float")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FIXED = ("literal", "let", "neg", "+", "-", "*", "/")


@dataclass(frozen=True, slots=True)
class Gauge:
    """The value that tells how bad a subject is; `sign` is 1 when more is worse, -1 when less is."""

    node: ExprNode
    sign: int

    def magnitude(self, value: Any) -> float | None:
        """Return a value as a number of which the larger is the worse, None when it is not known."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(self.sign * value)


@dataclass(frozen=True, slots=True, order=True)
class Weight:
    """How much a match weighs; the smaller comes first. `less` is minus the magnitude, infinite when unknown."""

    severity: int
    confidence: int
    less: float

    @classmethod
    def of(cls, severity: str, confidence: str, magnitude: float | None) -> Weight:
        """Return the weight of a verdict in the words of a rule."""
        less = math.inf if magnitude is None else -magnitude
        return cls(SEVERITIES.index(severity), CONFIDENCES.index(confidence), less)


def gauge(rule: Rule) -> Gauge | None:
    """Return what measures the subjects of a rule: the first number compared by size with something fixed.

    Looked for in the grades, then in the outcomes, then in `when`: what grades the severity tells best how bad
    a subject is. None when a rule compares no number by size.
    """
    conditions = [*(one.when for one in rule.grades), *(one.when for one in rule.outcomes), rule.when]
    for condition in conditions:
        for found in _compared(condition, holds=True):
            return found
    return None


def _compared(node: ExprNode, *, holds: bool) -> Iterator[Gauge]:
    """Yield the values that a condition compares by size, outside of folds over rows."""
    if node.op in ("let", "and", "or"):
        for child in node.args:
            yield from _compared(child, holds=holds)
    elif node.op == "not":
        yield from _compared(node.args[0], holds=not holds)
    elif node.op == "compare" and node.name in _FLIPPED:
        left, right = node.args
        for side, other, sign in ((left, right, node.name), (right, left, _FLIPPED[node.name])):
            if side.type in _NUMBERS and not side.many and not _fixed(side) and _fixed(other):
                yield Gauge(side, 1 if (sign[0] == ">") is holds else -1)


def _fixed(node: ExprNode) -> bool:
    """Tell whether a value is the same for every subject."""
    return all(part.op in _FIXED for part in node.walk())


def worst(ranked: Sequence[int], most: int, groups: Iterable[Callable[[int], Hashable]]) -> set[int]:
    """Return the first `most` of what is ranked, and in any case the first of every group.

    ranked  worst first
    groups  each gives the group of an entry, such as its node; with more groups than `most` there are more entries
    """
    firsts: dict[tuple[int, Hashable], int] = {}
    for place, group in enumerate(groups):
        for one in ranked:
            firsts.setdefault((place, group(one)), one)
    kept = set(firsts.values())
    for one in ranked:
        if len(kept) >= most:
            break
        kept.add(one)
    return kept
