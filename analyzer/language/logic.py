"""Checked expressions to DuckDB SQL, three-valued as SQL is.

NULL is «unknown»; AND, OR and NOT of SQL are Kleene's. What SQL does otherwise is written
out: a group that holds an unknown and no `true` is unknown, a sum over an unknown is
unknown, nothing is divided by zero. A comparison with share(), count(), max() or min() is
decided as soon as the unknown rows can no longer change it.

`Writer` writes scalar expressions over a stage of a query; where rows of an alias may be
missing (a cut source), `unsure` holds an SQL condition for it, and whatever such rows could
change becomes unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from analyzer.database import KEY, quoted, version_key
from analyzer.language.expression import Node, Type
from analyzer.tables import SQL_TYPES

# alias, column -> SQL of that column where the expression is evaluated
Reference = Callable[[str, str], str]

_COMPARE = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}
_BOUNDED = ("share", "count", "max", "min")


def text_literal(text: str) -> str:
    """Return text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: object, type_: Type) -> str:
    """Return a checked value as SQL of its type; None is an unknown of that type."""
    if value is None:
        return f"CAST(NULL AS {SQL_TYPES['str' if type_ == 'group' else type_]})"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return f"({value})"
    if isinstance(value, float):
        return f"(CAST({value!r} AS DOUBLE))"
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
    """Writes SQL for nodes; `unsure` maps an alias (or "" for none) to a condition on the stage."""

    reference: Reference = stage_column
    unsure: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[int, int] = field(default_factory=dict)  # id of an aggregate -> its number
    stage: str = ""  # prefix of the stage's own columns where they stand beside others

    def sql(self, node: Node) -> str:
        """Return the SQL of a node."""
        return _WRITE[node.op](self, node)

    def ingredient(self, node: Node, part: str) -> str:
        """Return the stage column of one part (n rows, k known, t true, v value) of an aggregate."""
        return self.stage + quoted(f"a{self.numbers[id(node)]}.{part}")

    def _sure(self, node: Node) -> str:
        """Return the condition under which an aggregate has seen all its rows, with AND in front."""
        condition = self.unsure.get(node.name, "")
        return f" AND NOT ({condition})" if condition else ""

    def _literal(self, node: Node) -> str:
        return literal(node.value, node.type)

    def _column(self, node: Node) -> str:
        name = node.column + KEY if node.type == "version" else node.column
        found = self.reference(node.name, name)
        return f"TRY_CAST({found} AS DOUBLE)" if node.type == "float" else found

    def _let(self, node: Node) -> str:
        return self.sql(node.args[0])

    def _seen(self, node: Node) -> str:
        return self.stage + quoted(f"{node.name}?")

    def _seen_field(self, node: Node) -> str:
        return self.stage + quoted(f"{node.name}?.{node.column}")

    def _row(self, node: Node) -> str:
        return f"({self.reference(node.name, '_row')} IS NOT NULL)"

    def _logical(self, node: Node) -> str:
        return "(" + f" {node.op.upper()} ".join(self.sql(child) for child in node.args) + ")"

    def _not(self, node: Node) -> str:
        return f"(NOT {self.sql(node.args[0])})"

    def _number(self, node: Node, type_: Type) -> str:
        return f"CAST({self.sql(node)} AS {'HUGEINT' if type_ == 'int' else 'DOUBLE'})"

    def _neg(self, node: Node) -> str:
        return f"(- {self._number(node.args[0], node.type)})"

    def _arithmetic(self, node: Node) -> str:
        left, right = node.args
        if left.type == "time":
            return f"epoch({self.sql(left)} - {self.sql(right)})"
        one, two = self._number(left, node.type), self._number(right, node.type)
        whole = f"{one} {node.op} {two}"
        return f"TRY({whole})" if node.type == "int" else f"({whole})"

    def _divide(self, node: Node) -> str:
        one, two = (self._number(child, "float") for child in node.args)
        return f"({one} / nullif({two}, 0))"

    def _extreme(self, node: Node) -> str:
        values = ", ".join(self._number(child, node.type) for child in node.args)
        order = "ASC" if node.op == "least" else "DESC"
        return f"list_sort([{values}], '{order}', 'NULLS FIRST')[1]"

    def _in(self, node: Node) -> str:
        value = self.sql(node.args[0])
        return "(" + " OR ".join(f"{value} = {self.sql(choice)}" for choice in node.args[1:]) + ")"

    def _known(self, node: Node) -> str:
        value = node.args[0]
        there = self.sql(value) if value.op == "row" else f"({self.sql(value)} IS NOT NULL)"
        aliases = sorted({leaf.name for leaf in value.walk() if leaf.op in ("column", "row")})
        conditions = [self.unsure[alias] for alias in aliases if self.unsure.get(alias)]
        if not conditions:
            return there
        return f"({there} OR CASE WHEN {' OR '.join(f'({c})' for c in conditions)} THEN NULL ELSE FALSE END)"

    def _compare(self, node: Node) -> str:
        sign = _COMPARE[node.name]
        left, right = node.args
        if sign in ("=", "<>") or not (_bounded(left) or _bounded(right)):
            return f"({self.sql(left)} {sign} {self.sql(right)})"
        if sign in ("<", "<="):  # a < b is b > a
            left, right, sign = right, left, sign.replace("<", ">")
        low, high = self.bounds(left)
        low2, high2 = self.bounds(right)
        return f"(CASE WHEN {low} {sign} {high2} THEN TRUE WHEN NOT ({high} {sign} {low2}) THEN FALSE END)"

    def bounds(self, node: Node) -> tuple[str, str]:
        """Return SQL of the least and the greatest value a node can have, given what is unknown."""
        aggregate = _bounded(node)
        if aggregate is None:
            value = self.sql(node)
            return value, value
        n, k, t, v = (self.ingredient(aggregate, part) for part in "nktv")
        sure = self._sure(aggregate)
        if aggregate.op == "count":
            return t, f"CASE WHEN TRUE{sure} THEN {t} + {n} - {k} END"
        if aggregate.op == "share":
            most = f"CASE WHEN TRUE{sure} THEN CAST({t} + {n} - {k} AS DOUBLE) / {n} END"
            return f"CASE WHEN TRUE{sure} THEN CAST({t} AS DOUBLE) / {n} END", most
        complete = f"CASE WHEN {n} = {k}{sure} THEN {v} END"
        return (v, complete) if aggregate.op == "max" else (complete, v)

    def _any(self, node: Node) -> str:
        n, k, t = (self.ingredient(node, part) for part in "nkt")
        return f"(CASE WHEN {t} > 0 THEN TRUE WHEN {n} = {k}{self._sure(node)} THEN FALSE END)"

    def _all(self, node: Node) -> str:
        n, k, t = (self.ingredient(node, part) for part in "nkt")
        return f"(CASE WHEN {k} > {t} THEN FALSE WHEN {n} = {k}{self._sure(node)} THEN TRUE END)"

    def _share(self, node: Node) -> str:
        n, k, t = (self.ingredient(node, part) for part in "nkt")
        return f"(CASE WHEN {n} = {k}{self._sure(node)} THEN CAST({t} AS DOUBLE) / {n} END)"

    def _count(self, node: Node) -> str:
        n, k, t = (self.ingredient(node, part) for part in "nkt")
        return f"(CASE WHEN {n} = {k}{self._sure(node)} THEN {t} END)"

    def _folded(self, node: Node) -> str:
        n, k, v = (self.ingredient(node, part) for part in "nkv")
        return f"(CASE WHEN {n} = {k}{self._sure(node)} THEN {v} END)"

    def ingredients(self, node: Node, inner: Writer, maybe: str = "") -> dict[str, str]:
        """Return the SQL of an aggregate's parts, to be selected where its rows are grouped.

        `inner` writes over the rows; `maybe` marks rows of which it is unknown whether they
        belong to the group at all: their value is unknown whatever it says.
        """
        value = node.args[0]
        parts = {"n": "count(*)"}
        if node.op in ("any", "all", "share", "count"):
            each = inner.sql(value) if value.type == "bool" and value.op != "row" else "TRUE"
            each = f"CASE WHEN {maybe} THEN NULL ELSE {each} END" if maybe else each
            return parts | {"k": f"count({each})", "t": f"count(*) FILTER (WHERE {each})", "v": "NULL"}
        each = inner.sql(value)
        each = f"CASE WHEN {maybe} THEN NULL ELSE {each} END" if maybe else each
        if node.op in ("sum", "mean"):
            each = f"CAST({each} AS {'HUGEINT' if node.type == 'int' else 'DOUBLE'})"
        function = {"mean": "avg"}.get(node.op, node.op)
        return parts | {"k": f"count({each})", "t": "NULL", "v": f"{function}({each})"}


def kleene(node: Node, seen: Mapping[str, object]) -> bool | None:
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


def _bounded(node: Node) -> Node | None:
    """Return the aggregate with bounds that a node stands for, through names."""
    while node.op == "let":
        node = node.args[0]
    return node if node.op in _BOUNDED else None


_WRITE: dict[str, Callable[[Writer, Node], str]] = {
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
    "any": Writer._any,
    "all": Writer._all,
    "share": Writer._share,
    "count": Writer._count,
    "sum": Writer._folded,
    "mean": Writer._folded,
    "max": Writer._folded,
    "min": Writer._folded,
}
