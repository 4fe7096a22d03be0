"""How bad a subject is by its rule, and which are reported in full: the worst overall, and the worst of every node.

The magnitude is the value that the rule compares with its threshold, the excess how many times it is over that.
Nothing has to be written into a rule for either; see `gauge`. The order itself is that of `analyzer.case.ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.rules import Rule
from analyzer.rules.language.expression import ExprNode

_NUMBERS = ("int", "float")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FIXED = ("literal", "let", "neg", "+", "-", "*", "/")


MOST_EXCESS = 1e6  # what is more times over its bar, or has nothing left of what must be there


@dataclass(frozen=True, slots=True)
class Gauge:
    """The value that tells how bad a subject is, and what it is compared with.

    sign  1 when more is worse, -1 when less is
    """

    node: ExprNode
    sign: int
    bar: ExprNode

    def magnitude(self, value: Any) -> float | None:
        """Return a value as a number of which the larger is the worse, None when it is not known."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            return None
        return float(self.sign * value)

    def excess(self, value: Any, bar: Any) -> float | None:
        """Return how many times a value is over its bar, or the bar over the value where less is worse.

        None when one of them is not known, or the bar is no measure, as 0 is none.
        """
        if self.magnitude(value) is None or self.magnitude(bar) is None or bar <= 0:
            return None
        over, under = (value, bar) if self.sign > 0 else (bar, value)
        return MOST_EXCESS if under <= 0 else min(max(over / under, 0.0), MOST_EXCESS)


def gauge(rule: Rule) -> Gauge | None:
    """Return what measures the subjects of a rule: the first number compared by size with something fixed.

    Looked for in the grades, then in the outcomes, then in `when`: what grades the severity tells best how bad
    a subject is. How many samples there are tells how sure it is, and is passed over. None when a rule compares no
    number by size.
    """
    conditions = [
        *(one.when for one in rule.grades),
        *(one.when for one in rule.outcomes),
        rule.when,
    ]
    found = (one for condition in conditions for one in _compared(condition, holds=True))
    return next((one for one in found if not _counts_samples(one.node, rule)), None)


def gauge_of(rule: Rule, conditions: Iterable[ExprNode]) -> Gauge | None:
    """Return the gauge of a rule with the bar that holds for one subject: that of the first condition that has one.

    conditions  those that decide on the subject, the most telling first
    """
    usual = gauge(rule)
    if usual is None:
        return None
    alike = (
        one
        for condition in conditions
        for one in _compared(condition, holds=True)
        if _is_same(one, usual)
    )
    return next(alike, usual)


def _is_same(one: Gauge, other: Gauge) -> bool:
    return (one.node.text, one.sign) == (other.node.text, other.sign)


def _counts_samples(node: ExprNode, rule: Rule) -> bool:
    """Tell whether a value is the number of samples of an object, without any condition on them."""
    inner = node
    while inner.op == "let":
        inner = inner.args[0]
    counted = inner.op == "count" and all(
        part.op in ("count", "column", "row") for part in inner.walk()
    )
    aliases = {part.name for part in inner.walk() if part.op in ("column", "row")}
    return counted and all(
        rule.aliases[name].table.column("sample") is not None for name in aliases
    )


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
                yield Gauge(side, 1 if (sign[0] == ">") is holds else -1, other)


def _fixed(node: ExprNode) -> bool:
    """Tell whether a value is the same for every subject."""
    return all(part.op in _FIXED for part in node.walk())


def worst(
    ranked: Sequence[int], most: int, groups: Iterable[Callable[[int], Hashable]]
) -> set[int]:
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
