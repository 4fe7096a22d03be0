"""Checked conditions to DuckDB SQL for searches of an archive, three-valued as SQL is.

NULL is "unknown"; AND, OR and NOT of SQL are Kleene's. What SQL does otherwise is written out: nothing is
divided by zero, a whole number does not overflow, the least of values is unknown when one of them is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from analyzer.artefacts.tables import SQL_TYPES
from analyzer.facts.database import KEY, quote_name, version_key
from analyzer.rules.language.expression import ExprNode, Type

# alias, column -> SQL of that column where the expression is evaluated
Reference = Callable[[str, str], str]

_COMPARE = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}


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
        shown += (
            "e0" if isinstance(value, float) and "e" not in shown else ""
        )  # a DOUBLE, not a DECIMAL
        return f"({shown})" if value < 0 else shown
    if type_ == "version":
        return text_literal(version_key(str(value)) or "")
    if type_ == "time":
        return f"TIMESTAMP {text_literal(str(value).replace('T', ' ').rstrip('Z'))}"
    return text_literal(str(value))


def stage_column(alias: str, column: str) -> str:
    """Return the column of a query's stage that holds `alias.column`."""
    return quote_name(f"{alias}.{column}")


@dataclass
class Writer:
    """Writes SQL for the nodes of a condition on one row; `writers` tells which method writes which."""

    reference: Reference = stage_column

    writers: ClassVar[dict[str, str]] = {
        "literal": "_literal", "column": "_column", "row": "_row", "let": "_let", "and": "_logical", "or": "_logical",
        "not": "_not", "neg": "_neg", "+": "_arithmetic", "-": "_arithmetic", "*": "_arithmetic", "/": "_divide",
        "compare": "_compare", "in": "_in", "least": "_extreme", "greatest": "_extreme", "known": "_known",
    }  # fmt: skip

    def sql(self, node: ExprNode) -> str:
        """Return the SQL of a node."""
        written: str = getattr(self, self.writers[node.op])(node)
        return written

    def _literal(self, node: ExprNode) -> str:
        return literal(node.value, node.type)

    def _column(self, node: ExprNode) -> str:
        return self.reference(
            node.name, node.column + KEY if node.type == "version" else node.column
        )

    def _let(self, node: ExprNode) -> str:
        return self.sql(node.args[0])

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
        return self.sql(value) if value.op == "row" else f"({self.sql(value)} IS NOT NULL)"

    def _compare(self, node: ExprNode) -> str:
        left, right = node.args
        return f"({self.sql(left)} {_COMPARE[node.name]} {self.sql(right)})"


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
