"""A subject of a rule: its answers, what a finding shows of it, and what is looked up of the rule for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.rules import Rule
from analyzer.rules.column_usage import shown_of
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.own import OwnScope, find_scopes

SUBJECTS = 200_000  # rows of `each` of one case that are judged; the rest is named in the judgement


@dataclass(slots=True)
class Subject:
    """One row of `each` with its answers; None is unknown. The `safe_` ones mind what may be missing.

    case   number of its case; node: key of its node
    added  answers of further conditions that were asked for
    """

    number: int
    case: int
    node: str
    unseen_row: bool
    only: bool | None
    when: bool | None
    outcomes: list[bool | None]
    safe_only: bool | None
    safe_when: bool | None
    safe_outcomes: list[bool | None]
    added: list[bool | None] = field(default_factory=list)
    safe_added: list[bool | None] = field(default_factory=list)


class Detail(ABC):
    """Everything a finding shows of one subject: its node (key and name), values, and the rows they rest on."""

    def __init__(self, node: str, name: str) -> None:
        self.node = node
        self.name = name

    @abstractmethod
    def is_asked(self, node: ExprNode) -> bool:
        """Say whether a node has one value that was asked for."""

    @abstractmethod
    def read_value(self, node: ExprNode) -> Any:
        """Return the value of a node outside of aggregates."""

    @abstractmethod
    def find_row(self, alias: str) -> int | None:
        """Return the number of the row of an alias, None when it is not there."""

    @abstractmethod
    def count_rows(self, node: ExprNode) -> tuple[int, int, int]:
        """Return rows, known ones and true ones of an aggregate."""

    @abstractmethod
    def find_deciding(self, node: ExprNode) -> dict[str, int | None]:
        """Return for each column that an aggregate looks at the row that decides."""

    @abstractmethod
    def list_fulfilling(self, node: ExprNode) -> list[int]:
        """Return the first rows that fulfil the condition of an aggregate."""

    @abstractmethod
    def list_rows(self, alias: str) -> list[int]:
        """Return all rows of an alias, in the order of the case."""

    def draw_samples(self, alias: str, column: str) -> tuple[list[str], list[float]] | None:  # noqa: ARG002 - of those that can
        """Return the stamps and values of a counter over the samples of an alias; None where only its rows can tell."""
        return None


def list_single_nodes(nodes: Iterable[ExprNode]) -> list[ExprNode]:
    """Return all nodes that have one value for a subject: none inside an aggregate, none with many rows."""
    found: dict[int, ExprNode] = {}
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        if id(node) in found or node.many:
            continue
        found[id(node)] = node
        if not node.is_aggregate:
            waiting += reversed(node.args)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class RuleNodes:
    """The nodes of a rule by their `id`, and the scopes of its questions to logs.

    printed  what a finding prints besides the conditions
    single   what has one value for a subject: not inside an aggregate, none with many rows
    scopes   of every `seen` name
    """

    printed: frozenset[int]
    single: frozenset[int]
    scopes: Mapping[str, OwnScope]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Forget them on the way to another process, or in a copy: an `id` holds where it was taken."""
        return type(None), ()


def nodes_of(rule: Rule) -> RuleNodes:
    """Return what is looked up of a rule that was read whole."""
    if rule.nodes is None:
        shown = list(shown_of(rule))
        single = list_single_nodes([*rule.expressions(), *shown])
        rule.nodes = RuleNodes(
            frozenset(map(id, shown)), frozenset(map(id, single)), find_scopes(rule)
        )
    found: RuleNodes = rule.nodes
    return found
