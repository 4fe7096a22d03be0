"""A subject's conditions once more, with some values otherwise: does the rule match then?

The judge's answers come from SQL. Here only what a changed value touches is worked out anew,
in Python and three-valued like there; all else keeps the answer it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from analyzer.facts.database import version_key
from analyzer.language.expression import ExprNode

_NODES = 8192  # nodes whose names are remembered
_HUGE = 2**127  # whole numbers beyond this are unknown to the database

Changes = Mapping[str, Any]  # what `same` names -> its value


@lru_cache(maxsize=_NODES)
def same(node: ExprNode) -> str:
    """Return one name for all nodes of a rule that stand for the same value, however they are written."""
    if node.op == "let":
        return same(node.args[0])
    if node.op == "column":
        return f"{node.name}.{node.column}"
    if node.op == "literal":
        return f"{node.type} {node.value!r}"
    return f"{node.op} {node.name} {node.column}({', '.join(same(child) for child in node.args)})"


@lru_cache(maxsize=_NODES)
def parts(node: ExprNode) -> frozenset[str]:
    """Return the names of everything in a node."""
    return frozenset(same(one) for one in node.walk())


def bare(node: ExprNode) -> ExprNode:
    """Return what a name stands for."""
    while node.op == "let":
        node = node.args[0]
    return node


def inputs(node: ExprNode, opaque: str = "") -> frozenset[str]:
    """Return what a node's value comes from: columns, rows, names seen in logs; `opaque` is not looked into."""
    if opaque and same(node) == opaque:
        return frozenset()
    if node.op == "column":
        return frozenset((same(node),))
    own = {f"row {node.name}"} if node.op == "row" else set()
    own |= {f"seen {node.name}"} if node.op in ("seen", "seen_field") else set()
    return frozenset(own).union(*(inputs(child, opaque) for child in node.args))


class Otherwise:
    """The values of one subject with some of them changed.

    present  the value the judge found for a node; nodes it did not ask for are worked out
    """

    def __init__(self, present: Callable[[ExprNode], Any], asked: Callable[[ExprNode], bool], changes: Changes) -> None:
        self.present, self.asked, self.changes = present, asked, changes

    def value(self, node: ExprNode) -> Any:
        """Return the value of a node; None is unknown, also where it cannot be worked out without the rows."""
        name = same(node)
        if name in self.changes:
            return self.changes[name]
        if self.asked(node) and parts(node).isdisjoint(self.changes):
            return self.present(node)
        work = _WORK.get(node.op)
        return work(self, node) if work is not None else self.present(node) if node.op == "literal" else None

    def values(self, nodes: Sequence[ExprNode]) -> list[Any]:
        """Return the values of several nodes."""
        return [self.value(node) for node in nodes]

    def _let(self, node: ExprNode) -> Any:
        return self.value(node.args[0])

    def _not(self, node: ExprNode) -> bool | None:
        value = self.value(node.args[0])
        return None if value is None else not value

    def _logical(self, node: ExprNode) -> bool | None:
        return logical(node.op, self.values(node.args))

    def _compare(self, node: ExprNode) -> bool | None:
        one, two = self.values(node.args)
        return compared(node, node.name, one, two)

    def _in(self, node: ExprNode) -> bool | None:
        value, *choices = self.values(node.args)
        return logical("or", [compared(node, "==", value, choice) for choice in choices])

    def _known(self, node: ExprNode) -> bool | None:
        value = node.args[0]
        return None if value.op == "row" else self.value(value) is not None or None

    def _neg(self, node: ExprNode) -> Any:
        value = self.value(node.args[0])
        return None if value is None else -value

    def _arithmetic(self, node: ExprNode) -> Any:
        one, two = self.values(node.args)
        if one is None or two is None or (node.op == "/" and not two):
            return None
        if node.args[0].type == "time":
            return (moment(one) - moment(two)).total_seconds()
        found = _ARITHMETIC[node.op](one, two)
        return None if isinstance(found, int) and abs(found) >= _HUGE else found

    def _extreme(self, node: ExprNode) -> Any:
        values = self.values(node.args)
        return None if None in values else (min if node.op == "least" else max)(values)


def logical(op: str, values: Sequence[bool | None]) -> bool | None:
    """Return Kleene's `and` or `or`."""
    decisive = op == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def compared(node: ExprNode, sign: str, one: Any, two: Any) -> bool | None:
    """Return a comparison of two values, versions part by part, times as moments; unknown when one is."""
    types = {child.type for child in node.args[:2]}
    if "version" in types:
        one, two = (None if value is None else version_key(str(value)) for value in (one, two))
    elif "time" in types:
        one, two = (None if value is None else moment(value) for value in (one, two))
    if one is None or two is None:
        return None
    return bool(_COMPARE[sign](one, two))


def moment(value: Any) -> datetime:
    """Return a time of the database, or one written in a rule, as a moment in UTC."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value).rstrip("Z"))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda one, two: one < two,
    "<=": lambda one, two: one <= two,
    ">": lambda one, two: one > two,
    ">=": lambda one, two: one >= two,
    "==": lambda one, two: one == two,
    "!=": lambda one, two: one != two,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, two: one + two,
    "-": lambda one, two: one - two,
    "*": lambda one, two: one * two,
    "/": lambda one, two: one / two,
}
_WORK: dict[str, Callable[[Otherwise, ExprNode], Any]] = {
    "let": Otherwise._let,
    "not": Otherwise._not,
    "and": Otherwise._logical,
    "or": Otherwise._logical,
    "compare": Otherwise._compare,
    "in": Otherwise._in,
    "known": Otherwise._known,
    "neg": Otherwise._neg,
    "+": Otherwise._arithmetic,
    "-": Otherwise._arithmetic,
    "*": Otherwise._arithmetic,
    "/": Otherwise._arithmetic,
    "least": Otherwise._extreme,
    "greatest": Otherwise._extreme,
}
