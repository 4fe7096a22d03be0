"""Checked expressions to DuckDB SQL, three-valued as SQL is.

NULL is "unknown"; AND, OR and NOT of SQL are Kleene's. What SQL does otherwise is written
out: a group that holds an unknown and no `true` is unknown, a sum over an unknown is
unknown, nothing is divided by zero. A comparison with share(), count(), max() or min() is
decided as soon as the unknown rows can no longer change it.

`Writer` writes scalar expressions over a stage of a query; where rows of an alias may be
missing (a cut source), `unsure` holds an SQL condition for it, and whatever such rows could
change becomes unknown. Planning a query costs by its length, far more than running it over a
case: what is written twice is handed to an earlier stage (`Folds`, `keep`) and named instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from analyzer.facts.database import KEY, quoted, version_key
from analyzer.language.expression import AGGREGATES, ExprNode, Type
from analyzer.tables import SQL_TYPES

# alias, column -> SQL of that column where the expression is evaluated
Reference = Callable[[str, str], str]

_COMPARE = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}
_BOUNDED = ("share", "count", "max", "min")
_ZERO = ("any", "count", "sum")  # they have a value over no rows, where that is known; the others have none
_KEPT = ("compare", "in")  # conditions that stand in several places of a rule


class Folds(Protocol):
    """The stages that fold many rows, as an expression sees them."""

    def nothing(self, node: ExprNode) -> bool:
        """Tell whether an aggregate has no rows at all, for any subject."""

    def part(self, node: ExprNode, part: str) -> str:
        """Return the column of one part of an aggregate: n rows, k known, t true, v value."""

    def value(self, node: ExprNode, formula: str) -> str:
        """Return the column of a formula over the parts of an aggregate."""


def text_literal(text: str) -> str:
    """Return text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: object, type_: Type) -> str:
    """Return a checked value as SQL of its type; None is an unknown of that type."""
    if value is None:
        return f"CAST(NULL AS {SQL_TYPES['str' if type_ == 'group' else type_]})"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        shown = repr(value)
        shown += "e0" if isinstance(value, float) and "e" not in shown else ""  # a DOUBLE, not a DECIMAL
        return f"({shown})" if value < 0 else shown
    if type_ == "version":
        return text_literal(version_key(str(value)) or "")
    if type_ == "time":
        return f"TIMESTAMP {text_literal(str(value).replace('T', ' ').rstrip('Z'))}"
    return text_literal(str(value))


def stage_column(alias: str, column: str) -> str:
    """Return the column of a query's stage that holds `alias.column`."""
    return quoted(f"{alias}.{column}")


@dataclass(slots=True)
class Writer:
    """Writes SQL for nodes.

    unsure  alias -> condition on the stage under which rows of it may be missing
    whole   alias -> condition on the stage under which a subject without rows of it is known to have none
    stage   prefix of the stage's own columns where they stand beside others
    texts   True where a number may still be text: groups cut out of a log line
    keep    takes the SQL of a node that may stand in several places; returns what to write instead
    """

    reference: Reference = stage_column
    unsure: Mapping[str, str] = field(default_factory=dict)
    folds: Folds | None = None
    stage: str = ""
    texts: bool = False
    keep: Callable[[ExprNode, str], str] | None = None
    whole: Mapping[str, str] = field(default_factory=dict)

    def sql(self, node: ExprNode) -> str:
        """Return the SQL of a node."""
        written = _WRITE[node.op](self, node)
        return self.keep(node, written) if self.keep is not None and node.op in _KEPT else written

    def _fold(self, node: ExprNode) -> Folds:
        assert self.folds is not None, f"{node.op}() outside a query"
        return self.folds

    def _folded_value(self, node: ExprNode, formula: str) -> str:
        return self.stage + self._fold(node).value(node, formula)

    def _parts(self, node: ExprNode, names: str) -> list[str]:
        parts = [self._fold(node).part(node, name) for name in names]
        whole = self.whole.get(node.name, "") if node.op in _ZERO else ""
        return [f"coalesce({part}, CASE WHEN {whole} THEN 0 END)" for part in parts] if whole else parts

    def _sure(self, node: ExprNode) -> str:
        """Return the condition under which an aggregate has seen all its rows, with AND in front."""
        condition = self.unsure.get(node.name, "")
        return f" AND NOT ({condition})" if condition else ""

    def _surely(self, node: ExprNode, value: str) -> str:
        """Return a value that is unknown where rows of an aggregate may be missing."""
        condition = self.unsure.get(node.name, "")
        return f"CASE WHEN NOT ({condition}) THEN {value} END" if condition else value

    def _literal(self, node: ExprNode) -> str:
        return literal(node.value, node.type)

    def _column(self, node: ExprNode) -> str:
        name = node.column + KEY if node.type == "version" else node.column
        found = self.reference(node.name, name)
        return f"TRY_CAST({found} AS DOUBLE)" if self.texts and node.type == "float" else found

    def _let(self, node: ExprNode) -> str:
        body = node.args[0]
        if self.keep is None or body.op in ("literal", "column", "let") or body.is_aggregate:
            return self.sql(body)
        return self.keep(node, replace(self, keep=None).sql(body))

    def _seen(self, node: ExprNode) -> str:
        return self.stage + quoted(f"{node.name}?")

    def _seen_field(self, node: ExprNode) -> str:
        return self.stage + quoted(f"{node.name}?.{node.column}")

    def _row(self, node: ExprNode) -> str:
        return f"({self.reference(node.name, '_row')} IS NOT NULL)"

    def _logical(self, node: ExprNode) -> str:
        return "(" + f" {node.op.upper()} ".join(self.sql(child) for child in node.args) + ")"

    def _not(self, node: ExprNode) -> str:
        return f"(NOT {self.sql(node.args[0])})"

    def _number(self, node: ExprNode, type_: Type) -> str:
        written = self.sql(node)
        if node.type == type_ == "float":
            return written
        return f"CAST({written} AS {'HUGEINT' if type_ == 'int' else 'DOUBLE'})"

    def _neg(self, node: ExprNode) -> str:
        return f"(- {self._number(node.args[0], node.type)})"

    def _arithmetic(self, node: ExprNode) -> str:
        left, right = node.args
        if left.type == "time":
            return f"epoch({self.sql(left)} - {self.sql(right)})"
        one, two = self._number(left, node.type), self._number(right, node.type)
        whole = f"{one} {node.op} {two}"
        return f"TRY({whole})" if node.type == "int" else f"({whole})"

    def _divide(self, node: ExprNode) -> str:
        one, two = (self._number(child, "float") for child in node.args)
        return f"({one} / nullif({two}, 0))"

    def _extreme(self, node: ExprNode) -> str:
        values = ", ".join(self._number(child, node.type) for child in node.args)
        order = "ASC" if node.op == "least" else "DESC"
        return f"list_sort([{values}], '{order}', 'NULLS FIRST')[1]"

    def _in(self, node: ExprNode) -> str:
        value = self.sql(node.args[0])
        return "(" + " OR ".join(f"{value} = {self.sql(choice)}" for choice in node.args[1:]) + ")"

    def _known(self, node: ExprNode) -> str:
        value = node.args[0]
        there = self.sql(value) if value.op == "row" else f"({self.sql(value)} IS NOT NULL)"
        aliases = sorted({leaf.name for leaf in value.walk() if leaf.op in ("column", "row")})
        conditions = [self.unsure[alias] for alias in aliases if self.unsure.get(alias)]
        if not conditions:
            return there
        return f"({there} OR CASE WHEN {' OR '.join(f'({c})' for c in conditions)} THEN NULL ELSE FALSE END)"

    def _compare(self, node: ExprNode) -> str:
        sign = _COMPARE[node.name]
        left, right = node.args
        if sign in ("=", "<>") or not (_bounded(left) or _bounded(right)):
            return f"({self.sql(left)} {sign} {self.sql(right)})"
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
        n, k, *rest = self._parts(node, "nkt" if node.op in ("any", "all", "share", "count") else "nkv")
        whole, value = f"{n} = {k}{self._sure(node)}", rest[0]
        if node.op == "any":
            formula = f"CASE WHEN {value} > 0 THEN TRUE WHEN {whole} THEN FALSE END"
        elif node.op == "all":
            formula = f"CASE WHEN {k} > {value} THEN FALSE WHEN {whole} THEN TRUE END"
        else:
            value = f"CAST({value} AS DOUBLE) / {n}" if node.op == "share" else value
            formula = f"CASE WHEN {whole} THEN {value} END"
        return self._folded_value(node, formula)


def kleene(node: ExprNode, seen: Mapping[str, object]) -> bool | None:
    """Return what a condition is when only what was seen in logs is known; None is unknown."""
    if node.op == "literal":
        return node.value if isinstance(node.value, bool) else None
    if node.op == "seen":
        value = seen.get(node.name)
        return value if isinstance(value, bool) else None
    if node.op == "let":
        return kleene(node.args[0], seen)
    if node.op == "not":
        value = kleene(node.args[0], seen)
        return None if value is None else not value
    if node.op in ("and", "or"):
        values = [kleene(child, seen) for child in node.args]
        decisive = node.op == "or"
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    return None


def _bounded(node: ExprNode) -> ExprNode | None:
    """Return the aggregate with bounds that a node stands for, through names."""
    while node.op == "let":
        node = node.args[0]
    return node if node.op in _BOUNDED else None


_WRITE: dict[str, Callable[[Writer, ExprNode], str]] = {
    "literal": Writer._literal,
    "column": Writer._column,
    "row": Writer._row,
    "let": Writer._let,
    "seen": Writer._seen,
    "seen_field": Writer._seen_field,
    "and": Writer._logical,
    "or": Writer._logical,
    "not": Writer._not,
    "neg": Writer._neg,
    "+": Writer._arithmetic,
    "-": Writer._arithmetic,
    "*": Writer._arithmetic,
    "/": Writer._divide,
    "compare": Writer._compare,
    "in": Writer._in,
    "least": Writer._extreme,
    "greatest": Writer._extreme,
    "known": Writer._known,
    **dict.fromkeys(AGGREGATES, Writer._aggregate),
}
