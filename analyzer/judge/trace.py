"""Explains a verdict: the tree of values with their lines, and the cause of an unknown.

A `TraceContext` holds one subject of one rule: its values, the rows they are read from and what the logs answered. An
author reads the words of the rule. Who reads a report has not seen the rule, and gets names of columns and plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.case.verdicts import Mark, Reason, Trace
from analyzer.facts import Facts
from analyzer.facts.records import MadeRow
from analyzer.judge.log_answers import LogAnswer
from analyzer.judge.subjects import Detail
from analyzer.rules import Join, Rule
from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.template import UNKNOWN, Template, show_number
from analyzer.runtime.text import count_noun

HITS_SHOWN = 4
_LOST = (Reason.UNREADABLE, Reason.UNPARSED)
# What a machine is called that no file names: by its kind, or after its file.
_NAMELESS = re.compile(
    r"\(loose files\)$|\.(?:log|txt|json|csv|out|gz|tgz|zip|html?|eml|md)(?:\.\d+)*$", re.IGNORECASE
)
_COMPARED = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
_FOLDED = {
    "any": "some {rows} where {what}",
    "all": "every {rows} where {what}",
    "share": "share of {rows} where {what}",
    "count": "number of {rows} where {what}",
    "sum": "sum of {what} over {rows}",
    "max": "largest {what} of {rows}",
    "min": "smallest {what} of {rows}",
    "mean": "mean {what} of {rows}",
}
_JOINED = ("and", "or", "+", "-", "*", "/")
_EXTREMES = {"least": "smallest", "greatest": "largest"}


# -- values and conditions in words


def format_value(value: object) -> str:
    """Return a value as the trace prints it."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return show_number(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def write_title(name: str, condition: str) -> str:
    """Return a condition in words after its part of the rule: `only`, `when`, `outcome 2, major`, `fix 1`."""
    part, _, rest = name.partition(" ")
    titles = {
        "only": "Looked at when",
        "when": "Found when",
        "outcome": f"Outcome {rest}, when",
        "grade": f"Severity {rest}, when",
        "fix": f"Step {rest} of the fix, when",
    }
    return f"{titles[part]}: {condition}"


def write_name(name: str) -> str:
    """Return the name that a rule gives a value as words."""
    return name.replace("_", " ")


def write_condition(node: ExprNode, aliases: Mapping[str, Alias], inside: bool = False) -> str:
    """Return a part of a condition in words.

    inside  it is a part of an aggregate, which names the rows itself
    """
    if node.is_aggregate:
        return write_aggregate(node, aliases)
    if not node.args:
        return write_leaf(node, aliases, inside)
    if node.op == "let":
        return write_name(node.name)
    denies_known = node.op == "not" and node.args[0].op == "known"
    enclosed = node.op in ("not", *_JOINED)
    parts = []
    for child in node.args[0].args if denies_known else node.args:
        words = write_condition(child, aliases, inside)
        parts.append(f"({words})" if enclosed and child.op in _JOINED else words)
    first = parts[0]
    match node.op:
        case "not":
            return f"{first} is not known" if denies_known else f"not {first}"
        case "neg":
            return f"-{first}"
        case "compare":
            return f"{first} {_COMPARED[node.name]} {parts[1]}"
        case "in":
            return f"{first} is one of {', '.join(parts[1:])}"
        case "known":
            return f"{first} is known"
        case "least" | "greatest":
            return f"the {_EXTREMES[node.op]} of {', '.join(parts)}"
        case _:
            return f" {node.op} ".join(parts)


def write_leaf(node: ExprNode, aliases: Mapping[str, Alias], inside: bool) -> str:
    """Return a value that is made of no other: a constant, a column, a row, lines of a log."""
    if node.op == "column":
        if inside:
            return node.column
        return f"{node.column} of {write_rows(aliases[node.name], 'the')}"
    if node.op == "row":
        return write_rows(aliases[node.name], "the row of")
    if node.op not in ("seen", "seen_field"):
        return show_number(node.value) if isinstance(node.value, float) else node.text
    words = "seen in the log"
    if node.op == "seen_field":
        words = f"{write_name(node.column)} of the log lines"
    # `sign` is what the short form of a rule calls its only lines.
    if node.name == "sign":
        return words
    return f"{words} ({write_name(node.name)})"


def write_aggregate(node: ExprNode, aliases: Mapping[str, Alias]) -> str:
    """Return an aggregate in words: what is counted or measured, over which rows."""
    rows = write_rows(aliases[node.name])
    what = node.args[0]
    if node.op == "count" and what.op == "row":
        return f"number of {rows}"
    words = write_condition(what, aliases, inside=True)
    if node.op == "count" and what.op == "column":
        words = f"{words} is known"
    return _FOLDED[node.op].format(what=words, rows=rows)


def write_rows(alias: Alias, lead: str = "rows of") -> str:
    """Return what rows of a table are to a reader: log lines, rows of the catalog, rows of a table by its name."""
    table = alias.table
    many = lead == "rows of"
    if table.lines_of is not None:
        return f"log lines ({write_name(table.signature)})" if many else "the log line"
    if table.given is not None:
        return "entries of the catalog" if many else "the catalog"
    if lead == "the":
        return table.name
    return f"{lead} {table.name}"


# -- why a value is not known


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a value is unknown: reason, what is missing (table or alias.column), words, and the table to ask for.

    rescan  True when another reading of the case's own files brings it: then there is nothing to ask for
    """

    reason: str
    missing: str
    why: str
    table: Table | None = None
    rescan: bool = False

    def find_ask(self, rule: Rule) -> str:
        """Return what to request so that the value is known, "" when nothing."""
        # No one can send what the tool itself lacks.
        catalog = self.table is not None and self.table.given is not None
        return "" if self.rescan or catalog else rule.ask_for(self.table)


def find_read_file(facts: Facts, node: str, table: Table) -> str:
    """Return the address of a file of a node that was read and may hold a table but does not; "" for none."""
    own = table.declared_table.name
    siblings = parsing.find_siblings(own)
    addresses: dict[str, None] = {}
    for name in (*siblings, *parsing.read_beside(own)):
        if not facts.has_rows(name, node):
            continue
        covered = facts.coverage(node, name)
        if covered.state != "read":
            continue
        for address in covered.addresses:
            if name in siblings or parsing.may_be_in(own, address):
                addresses[address] = None
    first = next(iter(addresses), "")
    if len(addresses) > 1:
        return f"{first} (and {len(addresses) - 1} more like it)"
    return first


def explain_catalog(table: Table, wanted: str) -> str:
    """Return why the catalog says nothing: a table of releases tells of what is newer than itself."""
    has_versions = any(column.kind == "version" for column in table.columns)
    if not table.checked or not has_versions:
        return f"Backline's catalog has no entry{wanted}"
    return f"newer than Backline's catalog of {table.checked}, or not in it: no entry{wanted}"


def explain_table(
    facts: Facts,
    node: str | None,
    table: Table,
    describe_looked_for: Callable[[], str] | None = None,
) -> Cause:
    """Return why rows of a table are not there on a node (None: anywhere in the case).

    describe_looked_for  gives the values that the rows would have; asked only where they are in the answer
    """
    name = table.declared_table.name
    words = table.words

    def write_wanted() -> str:
        looked_for = "" if describe_looked_for is None else describe_looked_for()
        return f" with {looked_for}" if looked_for else ""

    if table.given is not None:
        return Cause(Reason.NOT_APPLICABLE, name, explain_catalog(table, write_wanted()), table)
    if node is None:
        return Cause(Reason.MISSING, name, f"{words} is not in the case", table)
    where = f" of {facts.name(node)}" if facts.name(node) else ""
    covered = facts.coverage(node, table.name)
    if covered.state == "excerpt":
        return Cause(Reason.OUTSIDE, name, covered.why, table)
    if covered.state == "cut":
        why = covered.why or f"{words}{where} ended early"
        return Cause(Reason.UNREADABLE, name, why, table, covered.rescan)
    if covered.state == "unparsed":
        why = covered.why or f"lines of {words}{where} were not understood"
        return Cause(Reason.UNPARSED, name, why, table)
    if node in facts.nodes and not facts.nodes[node].complete:
        why = f"the archive{where} ended early; nothing after that point was read"
        return Cause(Reason.UNREADABLE, name, why, table)
    if covered.state == "":
        read = find_read_file(facts, node, table)
        why = f"{read} was read and lacks {name}" if read else f"{words}{where} is not in the case"
        return Cause(Reason.MISSING, name, why, table)
    if table.lines_of is not None:  # nothing to ask for: the log is there
        spoken = table.spoken_name
        why = f"{words}{where} has no line of `{spoken}`{write_wanted()}"
        return Cause(Reason.NOT_APPLICABLE, spoken, why)
    return Cause(Reason.MISSING, name, f"{words}{where} has no row{write_wanted()}", table)


# -- one verdict


@dataclass(slots=True)
class TraceContext:
    """The reasons of one verdict.

    blamed  id of a line of the tree made last -> what it says
    brief   for readers: plain words, named values once, of the steps what decides; blames no line
    same    lines of earlier trees: one that is alike is not kept twice
    lossy   tables of which it is known whether rows may be missing anywhere in the case
    """

    rule: Rule
    facts: Facts
    detail: Detail
    answers: Mapping[str, LogAnswer]
    blamed: dict[int, Mark] = field(default_factory=dict)
    brief: bool = False
    same: dict[tuple[object, ...], Trace] | None = None
    lossy: dict[str, bool] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)
    _causes: dict[int, Cause | None] = field(default_factory=dict)
    _absent: dict[str, Cause] = field(default_factory=dict)
    aliases: Mapping[str, Alias] = field(init=False)

    def __post_init__(self) -> None:
        self.aliases = self.rule.aliases

    def read_value(self, node: ExprNode) -> Any:
        """Return the value of a node outside of aggregates."""
        return node.value if node.op == "literal" else self.detail.read_value(node)

    def fill_template(self, template: Template) -> tuple[str, bool]:
        """Return a text with the values of this subject, and whether all are known."""
        return template.fill(self.read_value, machine=self.machine)

    @property
    def machine(self) -> str:
        """Return the name of the machine of this subject; "" where no file of it names one."""
        return "" if _NAMELESS.search(self.detail.name) else self.detail.name

    def find_table(self, node: ExprNode) -> str:
        """Return the table of a column's row or an aggregate's rows."""
        return self.aliases[node.name].table.name

    def find_answer(self, node: ExprNode) -> LogAnswer:
        """Return what the logs answered to a question."""
        return self.answers.get(node.name) or LogAnswer()

    # -- the tree

    def write_tree(self, verdict: str, subject: str, taken: int | None) -> Trace:
        """Return the whole tree: gate, condition, the outcomes down to the one taken, what decides the steps.

        In brief, of the outcomes and grades only the one that holds and the next worse one.
        """
        rule = self.rule
        self.blamed = {}
        self._written = set()
        root = Trace(f"{rule.id}: {subject}" if subject else rule.id, verdict)
        if rule.only is not None:
            root.children.append(self._write_part("only", rule.only))
        root.children.append(self._write_part("when", rule.when))
        gate = None if rule.only is None else self.read_value(rule.only)
        if self.read_value(rule.when) is True and gate is not False:
            self._write_outcomes(root, taken)
        return root if self.same is None else self._share_lines(root, self.same)

    def _write_outcomes(self, root: Trace, taken: int | None) -> None:
        """Add the outcomes, the grades and the steps of the fix to a tree."""
        rule = self.rule
        for place, outcome in enumerate(rule.outcomes):
            if self.brief and taken is not None and place < taken - 1:
                continue  # a reader gets the one that holds, and the next worse one that it missed
            if outcome.when.op != "literal":
                title = f"outcome {place + 1}"
                if outcome.severity:
                    title += f", {outcome.severity}"
                root.children.append(self._write_part(title, outcome.when))
            if place == taken:
                break
        if taken is None:
            return
        if not rule.outcomes[taken].severity:
            holds = 0  # grades that do not hold, down to the one that does
            for grade in rule.grades:
                if self.read_value(grade.when) is True:
                    break
                holds += 1
            first = max(0, holds - 1) if self.brief else 0
            for grade in rule.grades[first : holds + 1]:
                root.children.append(self._write_part(f"grade {grade.severity}", grade.when))
        for place, step in enumerate(rule.fix, 1):
            if step.when.op != "literal":
                root.children.append(self._write_part(f"fix {place}", step.when))

    def _share_lines(self, line: Trace, same: dict[tuple[object, ...], Trace]) -> Trace:
        """Return the line, or an earlier one that says the same with all below it."""
        line.children = [self._share_lines(child, same) for child in line.children]
        key = (line.text, line.value, line.at, line.note, *map(id, line.children))
        return same.setdefault(key, line)

    def list_marks(self, tree: Trace) -> dict[int, Mark]:
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

    def _write_part(self, title: str, node: ExprNode) -> Trace:
        """Return the tree of one condition of the rule with its title."""
        wanted = None if self.brief or title.startswith(("grade", "fix")) else True
        decides = self.brief and title.startswith("fix")
        line = self.write_expression(node, wanted=wanted, decides=decides)
        line.text = write_title(title, line.text) if self.brief else f"{title}: {line.text}"
        return line

    def write_expression(
        self, node: ExprNode, *, wanted: bool | None = None, decides: bool = False
    ) -> Trace:
        """Return the tree of one expression with values; leaves carry `address:line`.

        wanted   what it would have to be for a match; the leaves that are not are noted in `blamed`
        decides  of the parts of `and` and `or` only those that make the whole what it is
        """
        value = self.read_value(node)
        if self.brief:
            text = write_condition(node, self.aliases)
        else:
            text = node.name if node.op == "let" else node.text
        if node.op == "let":
            constant = node.args[0].op == "literal"
            if self.brief and node.name in self._written:
                return Trace(text, format_value(value), note="" if constant else "see above")
            line = self.write_expression(node.args[0], wanted=wanted, decides=decides)
            self._written.add(node.name)
            # Of a constant its value says it all.
            line.text = text if self.brief and constant else f"{text}: {line.text}"
            return line
        if value is wanted:
            wanted = None
        line = Trace(text, format_value(value))
        if node.op == "column":
            line.at = self.locate_column(node)
        elif node.op in ("seen", "seen_field"):
            answer = self.find_answer(node)
            line.note = (
                answer.why if answer.value is None else count_noun(answer.count or 0, "line")
            )
            for found in answer.hits[:HITS_SHOWN]:
                at = f"{found.hit.address}:{found.hit.line}"
                line.children.append(Trace("line", format_value(found.hit.text[:200]), at=at))
        elif node.is_aggregate:
            self._write_rows(line, node)
        else:
            self._write_parts(line, node, wanted=wanted, decides=decides)
        if wanted is not None and node.op not in ("and", "or", "not"):
            cause = self.find_cause(node)
            mark = Mark("no") if cause is None else Mark("unknown", cause.find_ask(self.rule))
            self.blamed[id(line)] = mark
        if value is None and not line.note and not line.children:
            line.note = self._explain_unknown(node)
        return line

    def _write_parts(
        self, line: Trace, node: ExprNode, *, wanted: bool | None, decides: bool
    ) -> None:
        """Add the parts of an expression, each with what it would have to be so that the whole is as wanted."""
        value = self.read_value(node)
        logical = node.op in ("and", "or")
        for child in node.args:
            if child.op == "literal" or child.many:
                continue
            agrees = self.read_value(child) is value
            if decides and logical and not agrees:
                continue
            part: bool | None = None  # not to blame
            if node.op == "not":
                part = None if wanted is None else not wanted
            elif logical and agrees:
                part = wanted
            line.children.append(self.write_expression(child, wanted=part, decides=decides))
        line.note = self.write_sum(node)

    def write_sum(self, node: ExprNode) -> str:
        """Return "7086 + 3284" for a sum of known numbers, or why there is no value."""
        if node.op not in ("+", "-", "*", "/"):
            return ""
        if self.read_value(node) is None:
            return self._explain_unknown(node)
        return f" {node.op} ".join(format_value(self.read_value(child)) for child in node.args)

    def _explain_unknown(self, node: ExprNode) -> str:
        """Return why a value is not known, "" when it is."""
        cause = self.find_cause(node)
        return cause.why if cause else ""

    def _write_rows(self, line: Trace, node: ExprNode) -> None:
        """Add to an aggregate how many rows it has, and those that decide."""
        rows, known, true = self.detail.count_rows(node)
        if not rows:
            cause = self.find_cause(node)
            line.note = cause.why if cause else "no rows"
            return
        line.note = count_noun(rows, "row")
        if node.op in ("any", "all", "share", "count"):
            line.note = f"{true:,} of {line.note}"
        if known < rows:
            line.note += f", {rows - known} of them unknown"
        elif self.read_value(node) is None:
            line.note += ", and there may be more"
        table = self.find_table(node)
        for column, row in self.detail.find_deciding(node).items():
            if row is not None:
                value = format_value(self.facts.value(table, row, column))
                whose = column if self.brief else f"{node.name}.{column}"
                at = self.locate_cell(table, row, column)
                line.children.append(Trace(f"{whose}, the row that decides", value, at=at))

    def locate_column(self, node: ExprNode) -> str:
        """Return `address:line` of the value of a column, "" when its row is not there."""
        row = self.detail.find_row(node.name)
        if row is None:
            return ""
        return self.locate_cell(self.find_table(node), row, node.column)

    def locate_cell(self, table: str, row: int, column: str) -> str:
        """Return `address:line` of a cell."""
        origin = self.facts.origin(table, row)
        if origin.row is None:
            return f"{origin.block.address}:{origin.line}"
        return f"{origin.row.block_of(column).address}:{origin.row.line_of(column)}"

    # -- causes of an unknown

    def find_cause(self, node: ExprNode) -> Cause | None:
        """Return the first cause of an unknown value, or None when the value is known."""
        if self.read_value(node) is not None:
            return None
        if id(node) not in self._causes:
            self._causes[id(node)] = self._look_for_cause(node)
        return self._causes[id(node)]

    def _look_for_cause(self, node: ExprNode) -> Cause | None:
        """Return the cause of an unknown value by the kind of its node."""
        if node.op == "column":
            row = self.detail.find_row(node.name)
            if row is None:
                return self.explain_absent(node.name)
            return self._explain_empty(self.aliases[node.name].table, row, node.column, node.text)
        if node.op == "row":
            return self.explain_absent(node.name)
        if node.op in ("seen", "seen_field"):
            answer = self.find_answer(node)
            table = self.rule.logs[self.rule.seen[node.name].logs[0]].table
            missing = answer.missing or table.name
            return Cause(answer.reason or Reason.MISSING, missing, answer.why, table, answer.rescan)
        if node.is_aggregate:
            return self._explain_aggregate(node)
        if node.op == "known":
            return self._explain_first_row(node)
        for child in node.args:
            found = self.find_cause(child)
            if found is not None:
                return found
        if node.op == "/":
            divisor = node.args[1].text
            why = f"{divisor} is 0, so {node.text} has no value"
            return Cause(Reason.NOT_APPLICABLE, divisor, why)
        return self._lack_value(node)

    def _lack_value(self, node: ExprNode) -> Cause:
        """Return that an expression has no value for a reason of its own."""
        return Cause(Reason.NOT_APPLICABLE, node.text, f"{node.text} has no value")

    def _explain_cell(self, alias: str, column: str, text: str) -> Cause | None:
        """Return why a cell of a single row is not known, None when it is."""
        row = self.detail.find_row(alias)
        if row is None:
            return self.explain_absent(alias)
        table = self.aliases[alias].table
        if self.facts.value(table.name, row, column) is not None:
            return None
        return self._explain_empty(table, row, column, text)

    def _explain_empty(self, table: Table, row: int, column: str, text: str) -> Cause:
        """Return why a cell is empty, with its place; of a row of the catalog, which no one can send, what row it is."""
        broken = self._explain_link(table, row, column)
        if broken is not None:
            return broken
        node = self.facts.origin(table.name, row).block.node
        unparsed = self.facts.coverage(node, table.name).state == "unparsed"
        if table.given is None:
            why = f"{column} has no value at {self.locate_cell(table.name, row, column)}"
        else:
            known = []
            for name in table.key:
                value = self.facts.value(table.name, row, name)
                if value is not None:
                    known.append(f"{name} {value}")
            why = f"Backline's catalog has no {column}"
            if known:
                why += f" for {', '.join(known)}"
        return Cause(Reason.UNPARSED if unparsed else Reason.MISSING, text, why, table)

    def _explain_link(self, table: Table, row: int, column: str) -> Cause | None:
        """Return why a chain lacks a cell: the table of the link that is not there."""
        made = self.facts.origin(table.name, row).row
        if not isinstance(made, MadeRow) or column not in made.lacks:
            return None
        source, why = made.lacks[column]
        return Cause(Reason.MISSING, source, why, self.facts.tables[source])

    def _explain_aggregate(self, node: ExprNode) -> Cause:
        """Return why an aggregate is unknown: no rows, a value they lack, or rows that may be missing."""
        rows, known, _ = self.detail.count_rows(node)
        if not rows:
            return self.explain_absent(node.name)
        if known == rows:
            return self._explain_first_row(node) or self._lack_value(node)
        for leaf in node.args[0].walk():
            if leaf.op == "column" and not leaf.many:
                cause = self._explain_cell(leaf.name, leaf.column, leaf.text)
                if cause is not None:
                    return cause
        columns = list(self.detail.find_deciding(node))
        table = self.aliases[node.name].table
        if table.made_of:
            for column in columns:
                for row in self.detail.list_rows(node.name):
                    broken = self._explain_link(table, row, column)
                    if broken is not None:
                        return broken
        name = f"{node.name}.{columns[0]}" if columns else node.text
        stated = " or ".join(columns) or node.args[0].text
        why = f"{rows - known:,} of {rows:,} rows of {table.words} do not state {stated}"
        return Cause(Reason.MISSING, name, why, table)

    def _explain_first_row(self, node: ExprNode) -> Cause | None:
        """Return why the first rows are not there that an expression looks at."""
        for leaf in node.walk():
            if leaf.is_aggregate or (leaf.op in ("column", "row") and leaf.name in self.aliases):
                return self.explain_absent(leaf.name)
        return None

    def explain_lost(self, alias: str) -> Cause | None:
        """Return why rows of an alias may be there that were not read or not understood; None where all are known."""
        table = self.aliases[alias].table
        if table.name not in self.lossy:
            self.lossy[table.name] = self.facts.loses_rows(table.name)
        if not self.lossy[table.name]:
            return None
        cause = self.explain_absent(alias)
        lost = cause.table is table and cause.reason in _LOST
        return cause if lost else None

    def explain_absent(self, alias: str) -> Cause:
        """Return why a row of an alias is not there."""
        if alias not in self._absent:
            self._absent[alias] = self._look_for_absent(alias)
        return self._absent[alias]

    def _look_for_absent(self, alias: str) -> Cause:
        """Return why a row of an alias is not there, which is asked for the first time."""
        table = self.aliases[alias].table
        join = next((join for join in self.rule.joins if join.alias.name == alias), None)
        if join is None:
            looked_for = partial(self._describe_looked_for, None)
            return explain_table(self.facts, self.detail.node, table, looked_for)
        for mine, _ in join.by:
            owner, _, column = mine.rpartition(".")
            row = self.detail.find_row(owner)
            if row is None and owner == self.rule.each.name and column == "node":
                continue
            cause = self._explain_cell(owner, column, mine)
            if cause is not None:
                return cause
        node: str | None = self.detail.node
        if join.any_node:
            nodes = self.facts.nodes_with(table.name)
            lossy = [key for key in nodes if self.facts.lossy(key, table.name)]
            node = next(iter([*lossy, *nodes]), None)
        return explain_table(self.facts, node, table, partial(self._describe_looked_for, join))

    def _describe_looked_for(self, join: Join | None) -> str:
        """Return by which values a row was looked for."""
        population = self.rule.population
        pairs: list[tuple[str, str]] = []
        if join is not None:
            pairs = list(join.by)
        elif population is not None:
            pairs = [(f"{population.alias.name}.{theirs}", mine) for mine, theirs in population.by]
        parts = []
        for mine, theirs in pairs:
            alias, _, column = mine.rpartition(".")
            row = self.detail.find_row(alias)
            if row is not None:
                value = self.facts.value(self.aliases[alias].table.name, row, column)
                parts.append(f"{theirs} {format_value(value)}")
        return ", ".join(parts)
