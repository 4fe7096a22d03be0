"""Checked expressions: typed nodes, and the names in scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from analyzer.artefacts.tables import ORIGIN_COLUMNS, Column, Table
from analyzer.rules.language.rulefile import FileSpan

# `group` is text cut out of a log line; it takes the type of what it is compared with.
Type = Literal["bool", "int", "float", "str", "version", "time", "group"]

AGGREGATES = ("any", "all", "share", "count", "sum", "max", "min", "mean")
FUNCTIONS = (*AGGREGATES, "known")
SEEN_FIELDS: dict[str, Type] = {"count": "int", "first": "time", "last": "time", "lines": "str"}

# What a question to the logs asks for itself; a text that prints it cannot differ from what is asked.
PLAIN_KINDS: dict[str, Type] = {"at_least": "int", "within": "str"}

# A comparison with its sides exchanged, and one that is true when it is false.
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for the rows of a table inside a rule; `many` marks several rows for one subject."""

    name: str
    table: Table
    many: bool = False
    groups: tuple[str, ...] = ()  # named groups of a log signature

    def column(self, name: str) -> Column | None:
        """Return a declared or origin column."""
        if name in ORIGIN_COLUMNS:
            return Column(name, ORIGIN_COLUMNS[name], "origin of the row")
        return self.table.column(name)

    def columns(self) -> list[str]:
        """Return the names an expression may use behind the dot."""
        return [*(column.name for column in self.table.columns), *self.groups, *ORIGIN_COLUMNS]


@dataclass(frozen=True, eq=False, slots=True)
class ExprNode:
    """One checked part of an expression.

    op     literal, column, row, let, seen, seen_field, and, or, not, neg, + - * /,
           compare (name is the operator), in, least, greatest, known, or an aggregate's name
    text   as the author wrote it; name/column what a leaf refers to
    many   aliases with many rows that no aggregate has folded yet
    size   number of nodes with all names written out; level of nested aggregates
    place  where a number or a text is in the rule file
    """

    op: str
    type: Type
    text: str
    args: tuple[ExprNode, ...] = ()
    name: str = ""
    column: str = ""
    value: bool | int | float | str | None = None
    many: frozenset[str] = frozenset()
    size: int = 1
    level: int = 0
    place: FileSpan | None = None

    def walk(self) -> Iterator[ExprNode]:
        """Yield this node and all below it, those behind names as well."""
        yield self
        for child in self.args:
            yield from child.walk()

    @property
    def is_aggregate(self) -> bool:
        """Say whether this node folds many rows into one value."""
        return self.op in AGGREGATES


def bare_node(node: ExprNode) -> ExprNode:
    """Return what a name stands for."""
    while node.op == "let":
        node = node.args[0]
    return node


def list_conjuncts(node: ExprNode) -> list[ExprNode]:
    """Return the parts of a condition that must all be true, names written out."""
    node = bare_node(node)
    return (
        [part for child in node.args for part in list_conjuncts(child)]
        if node.op == "and"
        else [node]
    )


@dataclass(slots=True)
class NameScope:
    """The names an expression may use.

    seen  names of questions to the logs, each with what it asks for: its window in words, how many lines
    """

    aliases: dict[str, Alias] = field(default_factory=dict)
    lets: dict[str, ExprNode] = field(default_factory=dict)
    seen: dict[str, Mapping[str, int | str]] = field(default_factory=dict)
    bare: Alias | None = None  # its columns may be used without an alias (`where` of a log)
    used: set[str] = field(default_factory=set)  # lets and seen names that some expression uses

    def names(self) -> list[str]:
        """Return every name in reach."""
        return [*self.aliases, *self.lets, *self.seen]
