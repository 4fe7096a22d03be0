"""Explains a verdict: the tree of values with their lines, and the cause of an unknown.

A `Why` holds one subject of one rule: the values a query brought, the rows they stand in
and what the logs answered. It names things in the words of the rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from analyzer.artefacts.tables import Table
from analyzer.case.verdicts import Mark, Reason, Trace
from analyzer.facts import Facts
from analyzer.facts.records import MadeRow
from analyzer.judge import plain_words
from analyzer.judge.causes import Cause, no_value, table_cause
from analyzer.judge.log_hits import LogAnswer
from analyzer.judge.subjects import Detail
from analyzer.rules import Join, Rule
from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.template import UNKNOWN, Template, show_number
from analyzer.runtime.text import count_noun

# What a machine is called that no file names: by its kind, or after its file.
_NAMELESS = re.compile(
    r"\(loose files\)$|\.(?:log|txt|json|csv|out|gz|tgz|zip|html?|eml|md)(?:\.\d+)*$", re.IGNORECASE
)

HITS_SHOWN = 4


def shown(value: object) -> str:
    """Return a value as the trace prints it."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return show_number(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(slots=True)
class TraceContext:
    """The reasons of one verdict."""

    rule: Rule
    facts: Facts
    detail: Detail
    answers: Mapping[str, LogAnswer]
    blamed: dict[int, Mark] = field(
        default_factory=dict
    )  # id of a line of the tree made last -> what it says
    brief: bool = False  # for readers: plain words, named values once, of the steps what decides; blames nobody
    same: dict[tuple[object, ...], Trace] | None = (
        None  # lines of earlier trees: one that is alike is not kept twice
    )
    _written: set[str] = field(default_factory=set)
    _causes: dict[int, Cause | None] = field(default_factory=dict)
    _aliases: Mapping[str, Alias] = field(init=False)

    def __post_init__(self) -> None:
        self._aliases = self.rule.aliases

    def value(self, node: ExprNode) -> Any:
        """Return the value of a node that stands outside aggregates."""
        return node.value if node.op == "literal" else self.detail.value(node)

    def fill(self, template: Template) -> tuple[str, bool]:
        """Return a text with the values of this subject, and whether all are known."""
        return template.fill(self.value, machine=self.machine)

    @property
    def machine(self) -> str:
        """Return the name of the machine of this subject; "" where no file of it names one."""
        return "" if _NAMELESS.search(self.detail.name) else self.detail.name

    def aggregate_table(self, node: ExprNode) -> str:
        """Return the table an aggregate looks over."""
        return self._aliases[node.name].table.name

    # -- the tree

    def tree(self, verdict: str, subject: str, taken: int | None) -> Trace:
        """Return the whole tree: gate, condition, the outcomes down to the one taken, what decides the steps.

        In brief, of the outcomes and grades only the one that holds and the next worse one.
        """
        rule = self.rule
        self.blamed = {}
        self._written = set()
        root = Trace(f"{rule.id}: {subject}" if subject else rule.id, verdict)
        if rule.only is not None:
            root.children.append(self._titled("only", rule.only))
        root.children.append(self._titled("when", rule.when))
        if self.value(rule.when) is True and (
            rule.only is None or self.value(rule.only) is not False
        ):
            for place, outcome in enumerate(rule.outcomes):
                if self.brief and taken is not None and place < taken - 1:
                    continue  # a reader gets the one that holds, and the next worse one that it missed
                if outcome.when.op != "literal":
                    title = ", ".join(filter(None, (f"outcome {place + 1}", outcome.severity)))
                    root.children.append(self._titled(title, outcome.when))
                if place == taken:
                    break
            root.children += self._grades(taken)
            for show_number, step in enumerate(rule.fix if taken is not None else (), 1):
                if step.when.op != "literal":
                    root.children.append(self._titled(f"fix {show_number}", step.when))
        return root if self.same is None else self._kept(root, self.same)

    def _grades(self, taken: int | None) -> list[Trace]:
        """Return the grades down to the one that holds; for a reader that one and the next worse one alone."""
        rule = self.rule
        if taken is None or rule.outcomes[taken].severity:
            return []
        holds = next(
            (place for place, one in enumerate(rule.grades) if self.value(one.when) is True),
            len(rule.grades),
        )
        first = max(0, holds - 1) if self.brief else 0
        return [
            self._titled(f"grade {one.severity}", one.when)
            for one in rule.grades[first : holds + 1]
        ]

    def _kept(self, line: Trace, same: dict[tuple[object, ...], Trace]) -> Trace:
        """Return the line, or an earlier one that says the same with all below it."""
        line.children = [self._kept(child, same) for child in line.children]
        return same.setdefault(
            (line.text, line.value, line.at, line.note, *map(id, line.children)), line
        )

    def marks(self, tree: Trace) -> dict[int, Mark]:
        """Return for the tree made last which of its lines, numbered from the top, kept the rule from matching."""
        found: dict[int, Mark] = {}
        below = [tree]
        passed = 0
        while below:
            line = below.pop()
            below += reversed(line.children)
            if id(line) in self.blamed:
                found[passed] = self.blamed[id(line)]
            passed += 1
        return found

    def _titled(self, title: str, node: ExprNode) -> Trace:
        wanted = None if self.brief or title.startswith(("grade", "fix")) else True
        made = self.trace(node, wanted=wanted, decides=self.brief and title.startswith("fix"))
        made.text = plain_words.title(title, made.text) if self.brief else f"{title}: {made.text}"
        return made

    def trace(self, node: ExprNode, *, wanted: bool | None = None, decides: bool = False) -> Trace:
        """Return the tree of one expression with values; leaves carry `address:line`.

        wanted   what it would have to be for a match; the leaves that are not are noted in `blamed`
        decides  of the parts of `and` and `or` only those that make the whole what it is
        """
        if node.op == "let":
            if self.brief and node.name in self._written:
                again = "" if node.args[0].op == "literal" else "see above"
                return Trace(self._told(node), shown(self.value(node)), note=again)
            made = self.trace(node.args[0], wanted=wanted, decides=decides)
            self._written.add(node.name)
            constant = self.brief and node.args[0].op == "literal"  # its value says it all
            made.text = self._told(node) if constant else f"{self._told(node)}: {made.text}"
            return made
        wanted = None if self.value(node) is wanted else wanted
        made = Trace(self._told(node), shown(self.value(node)))
        if node.op == "column":
            made.at = self.at(node)
        elif node.op in ("seen", "seen_field"):
            self._seen(made, node)
        elif node.is_aggregate:
            self._aggregate(made, node)
        else:
            below = [child for child in node.args if child.op != "literal" and not child.many]
            if decides and node.op in ("and", "or"):
                below = [child for child in below if self.value(child) is self.value(node)]
            made.children = [
                self.trace(child, wanted=self._below(node, child, wanted), decides=decides)
                for child in below
            ]
            made.note = self.arithmetic(node)
        self._blame(made, node, wanted)
        if self.value(node) is None and not made.note and not made.children:
            cause = self.cause(node)
            made.note = cause.why if cause else ""
        return made

    def _told(self, node: ExprNode) -> str:
        """Return a part of the rule: for a reader in words, for an author as written; a named value by its name."""
        if self.brief:
            return plain_words.in_words(node, self._aliases)
        return node.name if node.op == "let" else node.text

    def _below(self, node: ExprNode, child: ExprNode, wanted: bool | None) -> bool | None:
        """Return what a part would have to be so that the whole is as wanted; None when it is not to blame."""
        if node.op == "not":
            return None if wanted is None else not wanted
        return (
            wanted if node.op in ("and", "or") and self.value(child) is self.value(node) else None
        )

    def _blame(self, made: Trace, node: ExprNode, wanted: bool | None) -> None:
        """Note a leaf that is not what it would have to be, with what would settle an unknown one."""
        if wanted is None or node.op in ("and", "or", "not"):
            return
        cause = self.cause(node)
        self.blamed[id(made)] = (
            Mark("no") if cause is None else Mark("unknown", cause.ask(self.rule))
        )

    def arithmetic(self, node: ExprNode) -> str:
        """Return "7086 + 3284" for a sum of known numbers, or why there is no value."""
        if node.op in ("+", "-", "*", "/"):
            if self.value(node) is None:
                cause = self.cause(node)
                return cause.why if cause else ""
            return f" {node.op} ".join(shown(self.value(child)) for child in node.args)
        return ""

    def _seen(self, made: Trace, node: ExprNode) -> None:
        answer = self.answers.get(node.name, LogAnswer())
        made.note = answer.why if answer.value is None else count_noun(answer.count or 0, "line")
        for found in answer.hits[:HITS_SHOWN]:
            at = f"{found.hit.address}:{found.hit.line}"
            made.children.append(Trace("line", shown(found.hit.text[:200]), at=at))

    def _aggregate(self, made: Trace, node: ExprNode) -> None:
        rows, known, true = self.detail.counted(node)
        if not rows:
            cause = self.cause(node)
            made.note = cause.why if cause else "no rows"
            return
        made.note = (
            f"{true:,} of {count_noun(rows, 'row')}"
            if node.op in ("any", "all", "share", "count")
            else count_noun(rows, "row")
        )
        if known < rows:
            made.note += f", {rows - known} of them unknown"
        elif self.value(node) is None:
            made.note += ", and there may be more"
        table = self.aggregate_table(node)
        for column, row in self.detail.deciding(node).items():
            if row is not None:
                value, at = self.facts.value(table, row, column), self.place(table, row, column)
                whose = column if self.brief else f"{node.name}.{column}"
                made.children.append(Trace(f"{whose}, the row that decides", shown(value), at=at))

    def at(self, node: ExprNode) -> str:
        """Return `address:line` of the value of a column, "" when its row is not there."""
        row = self.detail.row(node.name)
        return (
            "" if row is None else self.place(self._aliases[node.name].table.name, row, node.column)
        )

    def place(self, table: str, row: int, column: str) -> str:
        """Return `address:line` of a cell."""
        origin = self.facts.origin(table, row)
        if origin.row is None:
            return f"{origin.block.address}:{origin.line}"
        return f"{origin.row.block_of(column).address}:{origin.row.line_of(column)}"

    # -- causes of an unknown

    def cause(self, node: ExprNode) -> Cause | None:
        """Return the first cause of an unknown value, or None when the value is known."""
        if self.value(node) is not None:
            return None
        if id(node) not in self._causes:
            self._causes[id(node)] = self._found(node)
        return self._causes[id(node)]

    def _found(self, node: ExprNode) -> Cause | None:
        if node.op == "column":
            return self._column(node)
        if node.op == "row":
            return self.absent(node.name)
        if node.op in ("seen", "seen_field"):
            answer = self.answers.get(node.name, LogAnswer())
            table = self.rule.logs[self.rule.seen[node.name].logs[0]].table
            missing = answer.missing or table.name
            return Cause(answer.reason or Reason.MISSING, missing, answer.why, table, answer.rescan)
        if node.is_aggregate:
            return self._folded(node)
        if node.op == "known":
            return self._lossy(node)
        for child in node.args:
            found = self.cause(child)
            if found is not None:
                return found
        if node.op == "/":
            why = f"{node.args[1].text} is 0, so {node.text} has no value"
            return Cause(Reason.NOT_APPLICABLE, node.args[1].text, why)
        return Cause(Reason.NOT_APPLICABLE, node.text, f"{node.text} has no value")

    def _column(self, node: ExprNode) -> Cause:
        row = self.detail.row(node.name)
        if row is None:
            return self.absent(node.name)
        table = self._aliases[node.name].table
        return self._empty(table, row, node.text, node.column)

    def _empty(self, table: Table, row: int, text: str, column: str) -> Cause:
        key = self.facts.origin(table.name, row).block.node
        if (lack := self._link(table, row, column)) is not None:
            return lack
        unparsed = self.facts.coverage(key, table.name).state == "unparsed"
        reason = Reason.UNPARSED if unparsed else Reason.MISSING
        given = (
            {name: self.facts.value(table.name, row, name) for name in table.key}
            if table.given is not None
            else {}
        )
        return Cause(
            reason, text, no_value(table, column, self.place(table.name, row, column), given), table
        )

    def _link(self, table: Table, row: int, column: str) -> Cause | None:
        """Return why a chain does not tell a cell: the table of the link that is not there."""
        made = self.facts.origin(table.name, row).row
        if not isinstance(made, MadeRow) or column not in made.lacks:
            return None
        source, why = made.lacks[column]
        return Cause(Reason.MISSING, source, why, self.facts.tables[source])

    def _folded(self, node: ExprNode) -> Cause:
        rows, known, _ = self.detail.counted(node)
        if not rows:
            return self.absent(node.name)
        if known < rows:
            for leaf in node.args[0].walk():
                if (
                    leaf.op == "column"
                    and not leaf.many
                    and (cause := self._inside(leaf)) is not None
                ):
                    return cause
            columns = list(self.detail.deciding(node))
            table = self._aliases[node.name].table
            for column, row in (
                (column, row) for column in columns for row in self.detail.listed(node.name)
            ):
                if table.made_of and (lack := self._link(table, row, column)) is not None:
                    return lack
            name = f"{node.name}.{columns[0]}" if columns else node.text
            stated = " or ".join(columns) or node.args[0].text
            why = f"{rows - known:,} of {rows:,} rows of {table.words} do not state {stated}"
            return Cause(Reason.MISSING, name, why, table)
        return self._lossy(node) or Cause(
            Reason.NOT_APPLICABLE, node.text, f"{node.text} has no value"
        )

    def _inside(self, leaf: ExprNode) -> Cause | None:
        """Return why a single value used inside an aggregate is unknown, or None when it is known."""
        row = self.detail.row(leaf.name)
        if row is None:
            return self.absent(leaf.name)
        table = self._aliases[leaf.name].table
        if self.facts.value(table.name, row, leaf.column) is None:
            return self._empty(table, row, leaf.text, leaf.column)
        return None

    def _lossy(self, node: ExprNode) -> Cause | None:
        for leaf in node.walk():
            if leaf.op in ("column", "row") and leaf.name in self._aliases:
                return self.absent(leaf.name)
            if leaf.is_aggregate:
                return self.absent(leaf.name)
        return None

    def absent(self, alias: str) -> Cause:
        """Return why a row of an alias is not there."""
        owner = self._aliases[alias]
        join = next((join for join in self.rule.joins if join.alias.name == alias), None)
        if join is not None:
            for mine, _ in join.by:
                first = self._mine_unknown(mine)
                if first is not None:
                    return first
        return table_cause(
            self.facts, self._node_of(owner, join), owner.table, self._looked_for(join)
        )

    def _node_of(self, owner: Alias, join: Join | None) -> str | None:
        """Return the key of the node whose coverage tells, None for the whole case."""
        if join is None or not join.any_node:
            return self.detail.node
        nodes = self.facts.nodes_with(owner.table.name)
        bad = [key for key in nodes if self.facts.lossy(key, owner.table.name)]
        return bad[0] if bad else (nodes[0] if nodes else None)

    def _mine_unknown(self, mine: str) -> Cause | None:
        alias, _, column = mine.rpartition(".")
        row = self.detail.row(alias)
        if row is None:
            return self.absent(alias) if alias != self.rule.each.name or column != "node" else None
        table = self._aliases[alias].table
        if self.facts.value(table.name, row, column) is None:
            return self._empty(table, row, mine, column)
        return None

    def _looked_for(self, join: Join | None) -> str:
        parts = []
        population = self.rule.population
        pairs: list[tuple[str, str]] = list(join.by) if join else []
        if join is None and population is not None:
            pairs = [(f"{population.alias.name}.{theirs}", mine) for mine, theirs in population.by]
        for mine, theirs in pairs:
            alias, _, column = mine.rpartition(".")
            row = self.detail.row(alias)
            if row is not None:
                value = self.facts.value(self._aliases[alias].table.name, row, column)
                parts.append(f"{theirs} {shown(value)}")
        return ", ".join(parts)
