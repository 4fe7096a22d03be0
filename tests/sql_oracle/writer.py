"""Conditions over many rows as SQL: folds, and what rows that may be missing leave unknown.

A group that holds an unknown and no `true` is unknown, a sum over an unknown is unknown. A comparison with
share(), count(), max() or min() is decided as soon as the unknown rows can no longer change it. Where rows of an
alias may be missing (a cut source), `unsure` holds an SQL condition for it, and whatever such rows could
change becomes unknown. Planning a query costs by its length: what is written twice is handed to an
earlier stage (`Folds`, `keep`) and named instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from analyzer.facts.database import quote_name
from analyzer.rules.language.expression import AGGREGATES, ExprNode
from analyzer.rules.language.logic import Writer, literal

_BOUNDED = ("share", "count", "max", "min")
_ZERO = (
    "any",
    "count",
    "sum",
)  # they have a value over no rows, where that is known; the others have none
_KEPT = ("compare", "in")  # conditions that stand in several places of a rule


class Folds(Protocol):
    """The stages that fold many rows, as an expression sees them."""

    def nothing(self, node: ExprNode) -> bool:
        """Tell whether an aggregate has no rows at all, for any subject."""

    def part(self, node: ExprNode, part: str) -> str:
        """Return the column of one part of an aggregate: n rows, k known, t true, v value."""

    def value(self, node: ExprNode, formula: str) -> str:
        """Return the column of a formula over the parts of an aggregate."""


@dataclass
class StageWriter(Writer):
    """Writes SQL for nodes over a stage of a query.

    unsure  alias -> condition on the stage under which rows of it may be missing
    whole   alias -> condition on the stage under which a subject without rows of it is known to have none
    stage   prefix of the stage's own columns where they stand beside others
    texts   True where a number may still be text: groups cut out of a log line
    keep    takes the SQL of a node that may stand in several places; returns what to write instead
    """

    unsure: Mapping[str, str] = field(default_factory=dict)
    folds: Folds | None = None
    stage: str = ""
    texts: bool = False
    keep: Callable[[ExprNode, str], str] | None = None
    whole: Mapping[str, str] = field(default_factory=dict)

    writers: ClassVar[dict[str, str]] = {
        **Writer.writers, "seen": "_seen", "seen_field": "_seen_field", **dict.fromkeys(AGGREGATES, "_aggregate"),
    }  # fmt: skip

    def sql(self, node: ExprNode) -> str:
        """Return the SQL of a node."""
        written = super().sql(node)
        return self.keep(node, written) if self.keep is not None and node.op in _KEPT else written

    def _fold(self, node: ExprNode) -> Folds:
        assert self.folds is not None, f"{node.op}() outside a query"
        return self.folds

    def _folded_value(self, node: ExprNode, formula: str) -> str:
        return self.stage + self._fold(node).value(node, formula)

    def _parts(self, node: ExprNode, names: str) -> list[str]:
        parts = [self._fold(node).part(node, name) for name in names]
        whole = self.whole.get(node.name, "") if node.op in _ZERO else ""
        return (
            [f"coalesce({part}, CASE WHEN {whole} THEN 0 END)" for part in parts]
            if whole
            else parts
        )

    def _sure(self, node: ExprNode) -> str:
        """Return the condition under which an aggregate has seen all its rows, with AND in front."""
        condition = self.unsure.get(node.name, "")
        return f" AND NOT ({condition})" if condition else ""

    def _surely(self, node: ExprNode, value: str) -> str:
        """Return a value that is unknown where rows of an aggregate may be missing."""
        condition = self.unsure.get(node.name, "")
        return f"CASE WHEN NOT ({condition}) THEN {value} END" if condition else value

    def _column(self, node: ExprNode) -> str:
        found = super()._column(node)
        return f"TRY_CAST({found} AS DOUBLE)" if self.texts and node.type == "float" else found

    def _let(self, node: ExprNode) -> str:
        body = node.args[0]
        if self.keep is None or body.op in ("literal", "column", "let") or body.is_aggregate:
            return self.sql(body)
        return self.keep(node, replace(self, keep=None).sql(body))

    def _seen(self, node: ExprNode) -> str:
        return self.stage + quote_name(f"{node.name}?")

    def _seen_field(self, node: ExprNode) -> str:
        return self.stage + quote_name(f"{node.name}?.{node.column}")

    def _known(self, node: ExprNode) -> str:
        value = node.args[0]
        there = super()._known(node)
        aliases = sorted({leaf.name for leaf in value.walk() if leaf.op in ("column", "row")})
        conditions = [self.unsure[alias] for alias in aliases if self.unsure.get(alias)]
        if not conditions:
            return there
        return f"({there} OR CASE WHEN {' OR '.join(f'({c})' for c in conditions)} THEN NULL ELSE FALSE END)"

    def _compare(self, node: ExprNode) -> str:
        sign = node.name
        left, right = node.args
        if sign in ("==", "!=") or not (_bounded(left) or _bounded(right)):
            return super()._compare(node)
        if sign in ("<", "<="):  # a < b is b > a
            left, right, sign = right, left, sign.replace("<", ">")
        low, high = self.bounds(left)
        low2, high2 = self.bounds(right)
        return f"(CASE WHEN {low} {sign} {high2} THEN TRUE WHEN NOT ({high} {sign} {low2}) THEN FALSE END)"

    def bounds(self, node: ExprNode) -> tuple[str, str]:
        """Return SQL of the least and the greatest value a node can have, given what is unknown."""
        aggregate = _bounded(node)
        if aggregate is None:
            value = self.sql(node)
            return value, value
        if self._fold(aggregate).nothing(aggregate):
            value = self._nothing(aggregate)
            return value, value
        low, high = self._bounds(aggregate)
        return self._folded_value(aggregate, low), self._folded_value(aggregate, high)

    def _bounds(self, node: ExprNode) -> tuple[str, str]:
        if node.op in ("max", "min"):
            n, k, v = self._parts(node, "nkv")
            complete = f"CASE WHEN {n} = {k}{self._sure(node)} THEN {v} END"
            return (v, complete) if node.op == "max" else (complete, v)
        n, k, t = self._parts(node, "nkt")
        if node.op == "count":
            return t, self._surely(node, f"{t} + {n} - {k}")
        share = self._surely(node, f"CAST({t} AS DOUBLE) / {n}")
        return share, self._surely(node, f"CAST({t} + {n} - {k} AS DOUBLE) / {n}")

    def _nothing(self, node: ExprNode) -> str:
        """Return the value of an aggregate over a table without rows."""
        whole = self.whole.get(node.name, "") if node.op in _ZERO else ""
        if not whole:
            return literal(None, node.type)
        return f"CASE WHEN {whole} THEN {'FALSE' if node.op == 'any' else '0'} END"

    def _aggregate(self, node: ExprNode) -> str:
        if self._fold(node).nothing(node):
            return self._nothing(node)
        n, k, *rest = self._parts(
            node, "nkt" if node.op in ("any", "all", "share", "count") else "nkv"
        )
        whole, value = f"{n} = {k}{self._sure(node)}", rest[0]
        if node.op == "any":
            formula = f"CASE WHEN {value} > 0 THEN TRUE WHEN {whole} THEN FALSE END"
        elif node.op == "all":
            formula = f"CASE WHEN {k} > {value} THEN FALSE WHEN {whole} THEN TRUE END"
        else:
            value = f"CAST({value} AS DOUBLE) / {n}" if node.op == "share" else value
            formula = f"CASE WHEN {whole} THEN {value} END"
        return self._folded_value(node, formula)


def _bounded(node: ExprNode) -> ExprNode | None:
    """Return the aggregate with bounds that a node stands for, through names."""
    while node.op == "let":
        node = node.args[0]
    return node if node.op in _BOUNDED else None
