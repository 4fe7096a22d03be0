"""The leaves of a rule's conditions: their names, what they look at, and what a comparison says of a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from analyzer.facts.database import version_key
from analyzer.judge.causes import Cause
from analyzer.rules.language.expression import OPPOSITE, ExprNode, bare_node

_NODES = 8192  # nodes whose names are remembered


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


def inputs(node: ExprNode) -> frozenset[str]:
    """Return what a node's value comes from: columns, rows, names seen in logs."""
    if node.op == "column":
        return frozenset((same(node),))
    own = {f"row {node.name}"} if node.op == "row" else set()
    own |= {f"seen {node.name}"} if node.op in ("seen", "seen_field") else set()
    return frozenset(own).union(*(inputs(child) for child in node.args))


def sides(node: ExprNode, *, want: bool) -> Iterator[tuple[ExprNode, str, ExprNode]]:
    """Yield each side of a comparison that is no plain value, with the sign that should hold and the other side."""
    if node.op != "compare":
        return
    left, right = node.args
    sign = node.name if want else OPPOSITE[node.name]
    if bare_node(left).op != "literal":
        yield left, sign, right
    if bare_node(right).op != "literal":
        yield right, sign.translate(str.maketrans("<>", "><")), left


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


@dataclass(frozen=True, slots=True)
class Need:
    """A leaf that would have to be `want`: a comparison, a membership, a name seen in logs, any(), a column …"""

    node: ExprNode
    want: bool
    part: str  # only, when or outcome
    far: float | None = None
    cause: Cause | None = None  # why its value is unknown, when it is
    row_far: float | None = None  # the same of the row that decides, inside a fold

    @property
    def known(self) -> bool:
        """Tell whether the leaf has a value, the wrong one."""
        return self.cause is None

    @property
    def thing(self) -> str:
        """What would have to be otherwise: the leaf, or the source whose absence leaves it unknown."""
        if self.cause is None:
            return f"{same(self.node)} {self.want}"
        return f"? {self.cause.table.name if self.cause.table is not None else self.cause.missing}"
