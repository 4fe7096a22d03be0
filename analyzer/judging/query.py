"""One rule as one query: its answers for every subject, and what a finding shows of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.database import quoted
from analyzer.facts import GHOST
from analyzer.judging.stages import Stages, leaves
from analyzer.language.expression import Node
from analyzer.language.logic import Writer, stage_column

SUBJECTS = 200_000  # rows of `each` that are judged; the rest is named in the judgement


@dataclass(slots=True)
class Subject:
    """One row of `each` with its answers; None is unknown. The `safe_` ones mind what may be missing."""

    number: int
    node: str
    ghost: bool
    only: bool | None
    when: bool | None
    outcomes: list[bool | None]
    safe_only: bool | None
    safe_when: bool | None
    safe_outcomes: list[bool | None]


@dataclass(slots=True)
class Detail:
    """Everything a finding shows of one subject.

    values   id of a node -> value; rows: alias -> `_row` or None
    worst    (id of an aggregate, column) -> row that decides; hits: id -> rows that fulfil it
    lists    alias -> rows; counts: id of an aggregate -> (rows, known, true)
    """

    node: str
    name: str
    values: dict[int, Any] = field(default_factory=dict)
    rows: dict[str, int | None] = field(default_factory=dict)
    worst: dict[tuple[int, str], int | None] = field(default_factory=dict)
    hits: dict[int, list[int]] = field(default_factory=dict)
    lists: dict[str, list[int]] = field(default_factory=dict)
    counts: dict[int, tuple[int, int, int]] = field(default_factory=dict)


class Query(Stages):
    """The query of one rule over the facts of one case."""

    def subjects(self) -> list[Subject]:
        """Return one answer for each row of `each` and each ghost, in the order of the case."""
        rule = self.rule
        conditions = self.conditions
        plain, safe = self._writer(strict=False), self._writer(strict=True)
        written = [plain.sql(node) if node else "TRUE" for node in conditions]
        lossy = plain.unsure != safe.unsure
        if lossy:
            written += [safe.sql(node) if node else "TRUE" for node in conditions]
        cells = ", ".join(f"{sql} AS c{number}" for number, sql in enumerate(written))
        row = stage_column(rule.each.name, "_row")
        stages, last = self._stages(detail=False)
        sql = f"{stages} SELECT _b, _node, {row}, {cells} FROM {last} ORDER BY _b LIMIT {SUBJECTS + 1}"
        found = []
        count = len(conditions)
        for number, node, at, *answers in self.facts.ask(self.tables, sql):
            own = answers[:count]
            sure = answers[count:] if lossy else own
            found.append(Subject(number, node, at == GHOST, own[0], own[1], own[2:], sure[0], sure[1], sure[2:]))
        return found

    def details(self, numbers: Sequence[int]) -> dict[int, Detail]:
        """Return what is shown of the subjects with these numbers."""
        if not numbers:
            return {}
        writer = self._writer(strict=False)
        wanted = _outside([*self.rule.expressions(), *self.shown])
        cells = {f"n{place}": self._display(writer, node) for place, node in enumerate(wanted)}
        singles = [alias for alias in self.rule.aliases if alias not in self.many]
        cells |= {f"r.{alias}": stage_column(alias, "_row") for alias in singles}
        stages, last = self._stages(detail=True)
        parts = self._detail_parts()
        cells |= {name: quoted(name) for name in parts}
        chosen = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in cells.items())
        ids = ", ".join(str(int(number)) for number in numbers)
        sql = f"{stages} SELECT _b, _node, node, {chosen} FROM {last} WHERE _b IN ({ids}) ORDER BY _b"
        out: dict[int, Detail] = {}
        for number, node, name, *values in self.facts.ask(self.tables, sql):
            got = dict(zip(cells, values, strict=True))
            detail = Detail(node, name)
            detail.values = {id(one): got[f"n{place}"] for place, one in enumerate(wanted)}
            detail.rows = {alias: _real(got[f"r.{alias}"]) for alias in singles}
            self._fill(detail, got)
            out[number] = detail
        return out

    def _fill(self, detail: Detail, got: Mapping[str, Any]) -> None:
        for number, node in enumerate(self.aggregates):
            counts = (got[f"a{number}.n"], got[f"a{number}.k"], got[f"a{number}.t"])
            detail.counts[id(node)] = (counts[0] or 0, counts[1] or 0, counts[2] or 0)
            detail.hits[id(node)] = got.get(f"a{number}.hits") or []
            for column in leaves(node):
                detail.worst[id(node), column] = got[f"a{number}.at.{column}"]
        for alias in self.listed:
            detail.lists[alias] = got[f"rows.{alias}"] or []

    def _display(self, writer: Writer, node: Node) -> str:
        """Return SQL of a node's value as people read it: of a version its text."""
        if node.op == "column" and node.type == "version":
            return stage_column(node.name, node.column)
        if node.op == "let":
            return self._display(writer, node.args[0])
        if node.op == "literal":
            return "NULL"  # known from the node itself
        if node.op == "row":
            return f"CASE WHEN {stage_column(node.name, '_row')} >= 0 THEN TRUE END"
        return writer.sql(node)

    def _detail_parts(self) -> list[str]:
        names = [f"a{number}.{part}" for number in range(len(self.aggregates)) for part in "nkt"]
        for number, node in enumerate(self.aggregates):
            argument = node.args[0]
            if argument.type == "bool" and argument.op != "row":
                names.append(f"a{number}.hits")
            names += [f"a{number}.at.{column}" for column in leaves(node)]
        return names + [f"rows.{alias}" for alias in self.listed]


def _outside(nodes: Iterable[Node]) -> list[Node]:
    """Return all nodes that have one value for a subject: none inside an aggregate, none with many rows."""
    found: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) in found or node.many:
            return
        found[id(node)] = node
        if not node.is_aggregate:
            for child in node.args:
                visit(child)

    for node in nodes:
        visit(node)
    return list(found.values())


def _real(row: int | None) -> int | None:
    return None if row is None or row == GHOST else int(row)
