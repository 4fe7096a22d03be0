"""The rest of a rule's query: aggregates over many rows, values, and what is selected in the end.

A `Sheet` is one query in the making. Expressions ask it for the parts of aggregates and hand
it formulas; what is asked twice is there once. The stages: `g…` groups the rows of an alias,
`s1…` sets the parts and the formulas over them beside each subject, `v` holds named values,
`w` the conditions that stand in several places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from analyzer.facts.database import quote_name
from analyzer.judge.joining import LISTED
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.logic import stage_column
from tests.sql_oracle.stages import Stages
from tests.sql_oracle.writer import StageWriter

_COUNTING = ("any", "all", "share", "count")
_BY_PLACE = "_row ORDER BY _order, _line, _row"


@dataclass(slots=True)
class _Group:
    """The aggregates of one level over the rows of one alias.

    rows    SQL over a row -> its name; cells: SQL over the group -> its column
    beside  True when the rows need the subject's own values
    """

    number: int
    alias: str
    rows: dict[str, str] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    beside: bool = False

    def row(self, sql: str) -> str:
        return self.rows.setdefault(sql, f"x{len(self.rows)}")

    def cell(self, sql: str) -> str:
        return self.cells.setdefault(sql, f"g{self.number}_{len(self.cells)}")

    def sql(self, last: str) -> str:
        """Return the stage: subject, and the cells over its rows."""
        rows = ", ".join(
            [
                "m._b",
                "m._row",
                "m._order",
                "m._line",
                *(f"{sql} AS {x}" for sql, x in self.rows.items()),
            ]
        )
        source = f"m_{self.alias} m" + (f" JOIN {last} s ON s._b = m._b" if self.beside else "")
        cells = ", ".join(f"{sql} AS {name}" for sql, name in self.cells.items())
        return (
            f"g{self.number} AS (SELECT _b, {cells} FROM (SELECT {rows} FROM {source}) GROUP BY _b)"
        )


class Sheet:
    """One query of a rule; `writer` writes expressions into it."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.groups: dict[tuple[int, str], _Group] = {}
        self.formulas: defaultdict[int, dict[str, str]] = defaultdict(dict)
        self.kept: dict[str, dict[str, str]] = {"v": {}, "w": {}}
        self.unsure = stages.unsure(strict=False)
        self.whole = stages.whole()
        self.writer = StageWriter(unsure=self.unsure, folds=self, keep=self._keep, whole=self.whole)

    def careful(self) -> StageWriter | None:
        """Return the writer that minds all that may be missing, or None where it would write the same."""
        unsure = self.stages.unsure(strict=True)
        return (
            StageWriter(unsure=unsure, folds=self, whole=self.whole)
            if unsure != self.unsure
            else None
        )

    def shown(self) -> StageWriter:
        """Return the writer of what a finding prints: of lines of logs that may go on, the value over those seen."""
        lines = {
            name
            for name, alias in self.stages.aliases.items()
            if alias.table.lines_of is not None and alias.many
        }
        unsure = {name: condition for name, condition in self.unsure.items() if name not in lines}
        return replace(self.writer, unsure=unsure)

    # -- what expressions ask for

    def nothing(self, node: ExprNode) -> bool:
        """Tell whether an aggregate has no rows at all, for any subject."""
        return self.stages.nothing(self.stages.aliases[node.name])

    def part(self, node: ExprNode, part: str) -> str:
        """Return the column of one part of an aggregate: n rows, k known, t true, v value."""
        group = self._group(node)
        each = self._argument(node) if part != "n" else ""
        if part == "n" or each == "TRUE":
            return group.cell("count(*)")
        if node.op in _COUNTING:
            return group.cell(
                f"count({each})" if part == "k" else f"count(*) FILTER (WHERE {each})"
            )
        if part == "k":
            return group.cell(f"count({each})")
        if (
            node.op in ("sum", "mean") and node.type == "float"
        ):  # the last bit hangs on the order of the rows
            each += " ORDER BY _row"
        return group.cell(f"{'avg' if node.op == 'mean' else node.op}({each})")

    def hits(self, node: ExprNode) -> str:
        """Return the column of the first rows that fulfil an aggregate's condition."""
        return self._group(node).cell(
            f"list({_BY_PLACE}) FILTER (WHERE {self._argument(node)})[1:{LISTED}]"
        )

    def deciding(self, node: ExprNode, leaf: ExprNode, *, least: bool) -> str:
        """Return the column of the row that decides an aggregate: where its condition holds, the extreme one.

        Of several the first: the same rows give the same evidence, in whatever order they are met.
        """
        group = self._group(node)
        argument = node.args[0]
        condition = self._argument(node) if argument.type == "bool" and argument.op != "row" else ""
        condition = (
            f"NOT {condition}" if condition and node.op == "all" else condition
        )  # one row decides a "no"
        pick, known = "min(_row)", ""
        if leaf.type in ("int", "float", "time"):
            value = group.row(self._inner(node.name).sql(leaf))
            pick, known = (
                f"first(_row ORDER BY {value}{'' if least else ' DESC'}, _row)",
                f"{value} IS NOT NULL",
            )
        each = [" AND ".join(filter(None, (condition, known))), known]
        picks = [pick + (f" FILTER (WHERE {one})" if one else "") for one in each]
        return group.cell(f"coalesce({', '.join(picks)})" if condition else picks[1])

    def rows(self, alias: str) -> str:
        """Return the column of all rows of an alias."""
        return self._at(1, alias).cell(f"list({_BY_PLACE})")

    def value(self, node: ExprNode, formula: str) -> str:
        """Return the column of a formula over the parts of an aggregate."""
        known = self.formulas[node.level]
        return known.setdefault(formula, f"f{node.level}_{len(known)}")

    def _keep(self, node: ExprNode, sql: str) -> str:
        stage = "v" if node.op == "let" else "w"
        return self.kept[stage].setdefault(sql, f"{stage}{len(self.kept[stage])}")

    def _at(self, level: int, alias: str) -> _Group:
        return self.groups.setdefault((level, alias), _Group(len(self.groups), alias))

    def _group(self, node: ExprNode) -> _Group:
        group = self._at(node.level, node.name)
        group.beside = group.beside or any(
            leaf.op in ("seen", "seen_field", "known")
            or (leaf.op in ("column", "row") and leaf.name != node.name)
            or leaf.is_aggregate
            for leaf in node.args[0].walk()
        )
        return group

    def _argument(self, node: ExprNode) -> str:
        """Return the name of what an aggregate folds, or TRUE where it only counts rows.

        A row of which it is unknown whether it belongs to the group is unknown, whatever it says.
        """
        value = node.args[0]
        counted = node.op in _COUNTING and (value.type != "bool" or value.op == "row")
        written = "TRUE" if counted else self._inner(node.name).sql(value)
        if node.op in ("sum", "mean"):
            written = f"CAST({written} AS {'HUGEINT' if node.type == 'int' else 'DOUBLE'})"
        if self.stages.joins[node.name].where is not None:
            written = f"CASE WHEN m._maybe THEN NULL ELSE {written} END"
        return written if written == "TRUE" else self._group(node).row(written)

    def _inner(self, own: str) -> StageWriter:
        """Return the writer over the rows of an alias, beside their subject."""

        def reference(alias: str, name: str) -> str:
            return f"m.{quote_name(name)}" if alias == own else f"s.{stage_column(alias, name)}"

        return StageWriter(reference, self.unsure, self, "s.", whole=self.whole)

    # -- the whole

    def sql(self, cells: Mapping[str, str], aliases: Iterable[str], tail: str) -> str:
        """Return the query that selects the cells of every subject, joined with what the aliases name."""
        stages, last = self.stages.before_folds(aliases)
        for level in range(1, 1 + max([0, *(level for level, _ in self.groups)])):
            groups = [group for (at, _), group in self.groups.items() if at == level]
            stages += [group.sql(last) for group in groups]
            names = [name for group in groups for name in group.cells.values()]
            names += [f"{sql} AS {name}" for sql, name in self.formulas[level].items()]
            beside = " ".join(
                f"LEFT JOIN g{group.number} ON g{group.number}._b = s._b" for group in groups
            )
            stages.append(
                f"s{level} AS (SELECT {', '.join(['s.*', *names])} FROM {last} s {beside})"
            )
            last = f"s{level}"
        for stage, kept in self.kept.items():
            if kept:
                more = ", ".join(f"{sql} AS {name}" for sql, name in kept.items())
                stages.append(f"{stage} AS (SELECT *, {more} FROM {last})")
                last = stage
        chosen = ", ".join(f"{sql} AS {name}" for name, sql in cells.items())
        return f"WITH {', '.join(stages)} SELECT {chosen} FROM {last} {tail}"
