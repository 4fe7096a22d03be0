"""One rule as one query: its answers for every subject, and what a finding shows of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from analyzer.facts import UNSEEN_ROW, Facts
from analyzer.judge.joining import list_leaves
from analyzer.judge.subjects import SUBJECTS, Detail, Subject, list_single_nodes
from analyzer.rules import Rule
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.logic import literal, stage_column
from analyzer.rules.own import scopes
from tests.sql_oracle.folds import Sheet
from tests.sql_oracle.stages import Part, Seen, Stages
from tests.sql_oracle.timed import ask
from tests.sql_oracle.writer import StageWriter

# tables, SQL -> rows
Ask = Callable[[Iterable[str], str], list[tuple[Any, ...]]]
Cells = dict[str, str]


class Found(Detail):
    """What a query brought of one subject.

    values   id of a node -> value; rows: alias -> `_row` or None
    worst    id of an aggregate -> column -> row that decides; hits: id -> rows that fulfil it
    lists    alias -> rows; counts: id of an aggregate -> (rows, known, true)
    """

    def __init__(self, node: str, name: str) -> None:
        super().__init__(node, name)
        self.values: dict[int, Any] = {}
        self.rows: dict[str, int | None] = {}
        self.worst: dict[int, dict[str, int | None]] = {}
        self.hits: dict[int, list[int]] = {}
        self.lists: dict[str, list[int]] = {}
        self.counts: dict[int, tuple[int, int, int]] = {}

    def is_asked(self, node: ExprNode) -> bool:
        """Tell whether a node has one value that was asked for."""
        return id(node) in self.values

    def read_value(self, node: ExprNode) -> Any:
        """Return the value of a node outside of aggregates."""
        return self.values.get(id(node))

    def find_row(self, alias: str) -> int | None:
        """Return the number of the row of an alias, None when it is not there."""
        return self.rows.get(alias)

    def count_rows(self, node: ExprNode) -> tuple[int, int, int]:
        """Return rows, known ones and true ones of an aggregate."""
        return self.counts.get(id(node), (0, 0, 0))

    def find_deciding(self, node: ExprNode) -> dict[str, int | None]:
        """Return for each column that an aggregate looks at the row that decides."""
        return self.worst.get(id(node), {})

    def list_fulfilling(self, node: ExprNode) -> list[int]:
        """Return the first rows that fulfil the condition of an aggregate."""
        return self.hits.get(id(node), [])

    def list_rows(self, alias: str) -> list[int]:
        """Return all rows of an alias, in the order of the case."""
        return self.lists.get(alias, [])


class Query:
    """The query of one rule over the facts of one case, or with `over` of many."""

    def __init__(self, rule: Rule, facts: Facts, seen: Seen, unseen_nodes: Sequence[str]) -> None:
        self._set(rule, Stages(rule, [Part(facts, seen, unseen_nodes)]), partial(ask, facts))

    @classmethod
    def over(cls, rule: Rule, parts: Sequence[Part], ask: Ask) -> Query:
        """Return the query over many cases that lie side by side in one database."""
        query = cls.__new__(cls)
        query._set(rule, Stages(rule, parts, many=True), ask)
        return query

    def _set(self, rule: Rule, stages: Stages, ask: Ask) -> None:
        self.rule, self.stages, self.ask = rule, stages, ask
        self.nodes = [*rule.expressions(), *stages.shown]

    def subjects(self, added: Sequence[ExprNode] = ()) -> list[Subject]:
        """Return one answer for each row of `each` and each ghost, in the order of the case.

        `added` are further conditions that shall be answered.
        """
        sheet = Sheet(self.stages)
        cells = self._answers(sheet, added)
        wanted = _needed(self.rule, [*filter(None, self.stages.conditions), *added])
        return self._subjects(*self._select(sheet, cells, wanted, self._limit()))

    def details(
        self, numbers: Sequence[int], *, lean: bool = False, charts: bool = True
    ) -> Mapping[int, Detail]:
        """Return what is shown of the subjects with these numbers.

        lean    leaves out the rows of aggregates, and all lists of rows
        charts  False leaves out the lists of rows that only a chart draws
        """
        if not numbers:
            return {}
        sheet = Sheet(self.stages)
        self.stages.only = [
            int(number) for number in numbers
        ]  # so that joins and folds leave out the others
        try:
            cells = self._details(sheet, lean=lean, charts=charts)
            found = self._select(sheet, cells, self.stages.aliases, "ORDER BY _b")
        finally:
            self.stages.only = ()
        return self._shown(*found)

    def whole(self, *, lean: bool = False) -> tuple[list[Subject], Mapping[int, Detail]]:
        """Return all subjects and what is shown of each: one query over few subjects, where two cost more."""
        sheet = Sheet(self.stages)
        cells = self._answers(sheet, ()) | self._details(sheet, lean=lean)
        at, rows = self._select(sheet, cells, self.stages.aliases, "ORDER BY _b")
        return self._subjects(at, rows), self._shown(at, rows)

    def _select(
        self, sheet: Sheet, cells: Cells, aliases: Iterable[str], tail: str
    ) -> tuple[dict[str, int], list[tuple[Any, ...]]]:
        """Return where each cell stands, and the rows; cells of the same SQL are selected once."""
        places: dict[str, int] = {}
        for sql in cells.values():
            places.setdefault(sql, len(places))
        query = sheet.sql({f"c{place}": sql for sql, place in places.items()}, aliases, tail)
        return {name: places[sql] for name, sql in cells.items()}, self.ask(
            self.stages.tables, query
        )

    def _limit(self) -> str:
        if not self.stages.many:
            return f"ORDER BY _b LIMIT {SUBJECTS + 1}"
        return f"QUALIFY row_number() OVER (PARTITION BY _case ORDER BY _b) <= {SUBJECTS + 1} ORDER BY _b"

    # -- answers

    def _answers(self, sheet: Sheet, added: Sequence[ExprNode]) -> Cells:
        row = stage_column(self.rule.each.name, "_row")
        cells = {
            "number": "_b",
            "case": "_case" if self.stages.many else "0",
            "node": "_node",
            "row": row,
        }
        careful = sheet.careful()
        for place, node in enumerate(self.stages.conditions):
            cells[f"answer {place}"] = sheet.writer.sql(node) if node else "TRUE"
            cells[f"sure {place}"] = (
                careful.sql(node) if node and careful else cells[f"answer {place}"]
            )
        for place, node in enumerate(added):
            cells[f"added {place}"] = sheet.writer.sql(node)
            cells[f"surely added {place}"] = (
                careful.sql(node) if careful else cells[f"added {place}"]
            )
        return cells

    def _subjects(self, at: Mapping[str, int], rows: Iterable[tuple[Any, ...]]) -> list[Subject]:
        number, case, node, unseen_row = (at[name] for name in ("number", "case", "node", "row"))
        count = range(len(self.stages.conditions))
        answers = [at[f"answer {place}"] for place in count]
        sure = [at[f"sure {place}"] for place in count]
        added = [place for name, place in at.items() if name.startswith("added ")]
        safe_added = [place for name, place in at.items() if name.startswith("surely added ")]
        found = []
        for row in rows:
            only, when, *outcomes = (row[place] for place in answers)
            safe_only, safe_when, *safe = (
                (row[place] for place in sure) if sure != answers else (only, when, *outcomes)
            )
            subject = Subject(
                row[number],
                row[case],
                row[node],
                row[unseen_row] == UNSEEN_ROW,
                only,
                when,
                outcomes,
                safe_only,
                safe_when,
                safe,
                [row[place] for place in added],
                [row[place] for place in safe_added],
            )
            found.append(subject)
        return found

    # -- what is shown

    def _details(self, sheet: Sheet, *, lean: bool, charts: bool = True) -> Cells:
        cells = {"number": "_b", "node": "_node", "name": "node"}
        shown, printed = sheet.shown(), {id(node) for node in self.stages.shown}
        cells |= {
            f"value {id(node)}": _display(shown if id(node) in printed else sheet.writer, node)
            for node in list_single_nodes(self.nodes)
        }
        for alias, declared in self.stages.aliases.items():
            if not declared.many:
                cells[f"row {alias}"] = stage_column(alias, "_row")
        for node in _aggregates(self.nodes):
            cells |= {} if sheet.nothing(node) else _folded(sheet, node, lean=lean)
        listed = self.stages.listed if charts else self.stages.cited
        for alias in [*listed, *self._of_chains(listed)] if not lean else ():
            if not self.stages.nothing(self.stages.aliases[alias]):
                cells[f"rows {alias}"] = sheet.rows(alias)
        return cells

    def _of_chains(self, listed: Iterable[str]) -> list[str]:
        """Return the further aliases whose rows tell why a fold over them is unknown: those of chains."""
        folded = dict.fromkeys(node.name for node in _aggregates(self.nodes))
        return [
            name
            for name in folded
            if name not in listed and self.stages.aliases[name].table.made_of
        ]

    def _shown(
        self, at: Mapping[str, int], rows: Iterable[tuple[Any, ...]]
    ) -> Mapping[int, Detail]:
        values = [(id(node), at[f"value {id(node)}"]) for node in list_single_nodes(self.nodes)]
        singles = [
            (name, at[f"row {name}"])
            for name, alias in self.stages.aliases.items()
            if not alias.many
        ]
        folds = [(id(node), list(list_leaves(node))) for node in _aggregates(self.nodes)]
        more = [(name, place) for name, place in at.items() if name.startswith(_FOLDED)]

        def detail_of(row: tuple[Any, ...]) -> Detail:
            detail = Found(row[at["node"]], row[at["name"]])
            detail.values = {node: row[place] for node, place in values}
            detail.rows = {alias: _real(row[place]) for alias, place in singles}
            got = {name: row[place] for name, place in more}
            for node, columns in folds:
                n, k, t = (got.get(f"fold {part} {node}") or 0 for part in "nkt")
                detail.counts[node] = (n, k, t)
                detail.hits[node] = got.get(f"fold hits {node}") or []
                detail.worst[node] = {
                    column: got.get(f"fold at {column} {node}") for column in columns
                }
            detail.lists = {alias: got.get(f"rows {alias}") or [] for alias in self.stages.aliases}
            return detail

        return _Details({row[at["number"]]: row for row in rows}, detail_of)


_FOLDED = ("fold ", "rows ")


class _Details(Mapping[int, Detail]):
    """What is shown of each subject, worked out when it is asked for: most subjects are not told of."""

    def __init__(
        self, rows: Mapping[int, tuple[Any, ...]], detail_of: Callable[[tuple[Any, ...]], Detail]
    ) -> None:
        self._rows, self._detail_of = rows, detail_of

    def __getitem__(self, number: int) -> Detail:
        return self._detail_of(self._rows[number])

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _folded(sheet: Sheet, node: ExprNode, *, lean: bool) -> Cells:
    """Return what is shown of an aggregate: how many rows, how many known and true, and which decide."""
    argument = node.args[0]
    counting = node.op in ("any", "all", "share", "count")
    cells = {
        f"fold {part} {id(node)}": sheet.part(node, part) for part in ("nkt" if counting else "nk")
    }
    if lean:
        return cells
    if argument.type == "bool" and argument.op != "row":
        cells[f"fold hits {id(node)}"] = sheet.hits(node)
    for column, (leaf, least) in list_leaves(node).items():
        cells[f"fold at {column} {id(node)}"] = sheet.deciding(node, leaf, least=least)
    return cells


def _display(writer: StageWriter, node: ExprNode) -> str:
    """Return SQL of a node's value as people read it: of a version its text."""
    named = node
    while named.op == "let":
        named = named.args[0]
    if named.op == "column" and named.type == "version":
        return stage_column(named.name, named.column)
    if named.op == "literal":  # a bare one is known from the node itself
        return (
            "NULL"
            if named is node
            else literal(named.value, "str" if named.type == "version" else named.type)
        )
    if named.op == "row":
        return f"CASE WHEN {stage_column(named.name, '_row')} >= 0 THEN TRUE END"
    return writer.sql(node)


def _aggregates(nodes: Iterable[ExprNode]) -> list[ExprNode]:
    found = {id(node): node for top in nodes for node in top.walk() if node.is_aggregate}
    return list(found.values())


def _needed(rule: Rule, nodes: Iterable[ExprNode]) -> set[str]:
    """Return the aliases some conditions need; the others are joined only for what is shown."""
    leaves_of = [leaf for node in nodes for leaf in node.walk()]
    found = {leaf.name for leaf in leaves_of if leaf.op in ("column", "row")}
    if any(
        leaf.op.startswith("seen") for leaf in leaves_of
    ):  # whose lines they are is told by columns
        found |= {
            key.mine.rpartition(".")[0] for scope in scopes(rule).values() for key in scope.keys
        }
    for join in reversed(rule.joins):
        if join.alias.name in found:
            found |= {mine.rpartition(".")[0] for mine, _ in join.by}
            found |= (
                {leaf.name for leaf in join.where.walk() if leaf.op == "column"}
                if join.where
                else set()
            )
    return found


def _real(row: int | None) -> int | None:
    return None if row is None or row == UNSEEN_ROW else int(row)
