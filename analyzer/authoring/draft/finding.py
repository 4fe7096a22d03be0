"""The evidence of a finding in a case document, as the source of a new rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Column, ColumnValueError, Table, Tables, convert_cell
from analyzer.authoring.draft import source
from analyzer.authoring.draft.pick import LogLine, read_log_line
from analyzer.authoring.draft.signs import Sign
from analyzer.authoring.draft.source import DraftSource
from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Evidence, Finding
from analyzer.facts import Facts
from analyzer.report.finding_names import find_finding
from analyzer.rules import Join, Rule
from analyzer.rules.language.expression import ExprNode
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line

_LABEL = re.compile(
    r"(?P<alias>[a-z]\w*)\.(?P<column>\w+) = (?P<value>.*?)(?: \((?:worst|first) of \d+ rows\))?$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """One piece of evidence that tells a value of a column."""

    alias: str
    table: Table
    column: Column
    value: Any


def load_finding(text: str) -> tuple[CaseDocument, Finding]:
    """Return the document and the finding of `CASE.json#finding`.

    Raises UsageError when the fragment fits none or several (`finding_names`).
    """
    # A `#` may be part of the path.
    path, _, fragment = text.partition("#")
    for place in [found.start() for found in re.finditer("#", text)] + [len(text)]:
        if text[:place] and Path(text[:place]).is_file():
            path = text[:place]
            fragment = text[place + 1 :]
    document = case_file.read_case(Path(path))
    findings = document.findings
    if not findings:
        raise UsageError(
            "the case has no finding",
            where=path,
            do="Start from lines: --from-lines MEMBER:120-124 BUNDLE",
        )
    return document, find_finding(document, fragment, example="Write CASE.json#1.")


def read_finding(document: CaseDocument, finding: Finding, rule: Rule | None) -> DraftSource:
    """Return the material of a finding: its evidence, and the subject and joins of its rule where that is known."""
    reading = _Reading(document, finding, rule)
    reading.read_evidence()
    made = reading.build_source()
    made.names = source.collect_document_names(document)
    for piece in reading.pieces:
        source.add_names(made.names, [(piece.column.name, piece.value)])
    for line in reading.lines:
        source.add_names(made.names, line.values.items())
    title = one_line(finding.rule, 60)
    made.origin = f"the evidence of a finding of rule {title}"
    return made


class _Reading:
    """Reads the pieces of evidence of one finding."""

    def __init__(self, document: CaseDocument, finding: Finding, rule: Rule | None) -> None:
        self.finding = finding
        # Lines used as rows are drafted as lines.
        if rule is not None and rule.hits:
            rule = None
        self.rule = rule
        self.tables = parsing.tables()
        self.facts = Facts()
        self.pieces: list[EvidencePiece] = []
        self.lines: list[LogLine] = []
        self.quiet: dict[str, list[str]] = {}
        # Cells that a `where` or `only` of the rule asks for.
        self.fixed: dict[tuple[str, str], Any] = {}
        self.captured = {node.name: node.captured for node in document.nodes}
        self.read_by = {source.address: source.read_by for source in document.sources}

    def read_evidence(self) -> None:
        """Read the evidence as cells of tables and as lines of logs."""
        for item in self.finding.evidence:
            label = item.label
            found = _LABEL.match(label)
            if found:
                table = self.find_row_table(found, item)
            else:
                table = None
            if found and table is not None:
                column = table.column(found["column"])
                assert column is not None
                self.pieces.append(
                    EvidencePiece(
                        found["alias"], table, column, _read_value(column, found["value"])
                    )
                )
            elif (log := self.find_log_table(label, item)) is not None and item.text.strip():
                node = item.node
                if node not in self.facts.nodes:
                    self.facts.node(node, node, captured=self.captured.get(node, ""))
                made = read_log_line(
                    self.facts,
                    log,
                    item.text,
                    item.address,
                    item.line,
                    node,
                )
                if all((one.address, one.line) != (made.address, made.line) for one in self.lines):
                    self.lines.append(made)
                    self.quiet.setdefault(log.name, []).extend([*item.before, *item.after])
        self.facts.close()
        home = {piece.alias: piece.table for piece in reversed(self.pieces)}
        self.pieces = [piece for piece in self.pieces if piece.table is home[piece.alias]]
        if not self.pieces and not self.lines:
            raise UsageError(
                "the finding shows no evidence that a rule could be made from",
                where=one_line(self.finding.id or self.finding.rule, 120),
                do="Start from lines: --from-lines MEMBER:120-124 BUNDLE",
            )

    def find_row_table(self, found: re.Match[str], item: Evidence) -> Table | None:
        """Return the table an alias stands for: by the rule, else by the parsers that read the member."""
        if self.rule:
            alias = self.rule.aliases.get(found["alias"])
        else:
            alias = None
        if alias is not None:
            if alias.table.column(found["column"]):
                return alias.table
            return None
        tables = []
        for parser in self.list_readers(item):
            for table in parser.tables:
                if not table.log and table.column(found["column"]):
                    tables.append(table)
        # An alias is one table: the one that has all columns the evidence names with it.
        labels = []
        for one in self.finding.evidence:
            labels.append(_LABEL.match(one.label))
        columns = {one["column"] for one in labels if one and one["alias"] == found["alias"]}
        for table in tables:
            if all(table.column(name) for name in columns):
                return table
        if tables:
            return tables[0]
        return None

    def find_log_table(self, label: str, item: Evidence) -> Table | None:
        """Return the log that a line of evidence is from, None where no parser says."""
        for parser in self.list_readers(item):
            if parser.log:
                return parser.tables[0]
        if self.rule is None or label not in self.rule.seen:
            return None
        logs = []
        for name in self.rule.seen[label].logs:
            logs.append(self.rule.logs[name])
        for log in logs:
            if re.search(log.pattern, item.text):
                return log.table
        return logs[0].table

    def list_readers(self, item: Evidence) -> list[Parser]:
        """Return the parsers that read the source of a line of evidence."""
        names = self.read_by.get(item.address, "").split(",")
        parsers = [parsing.registry().get(name.strip()) for name in names]
        return [parser for parser in parsers if parser]

    # -- the material

    def build_source(self) -> DraftSource:
        """Put the pieces together around the subject of the rule, or of the first piece."""
        if self.rule is not None:
            made = self.start_from(self.rule)
        elif self.pieces:
            first = self.pieces[0]
            made = DraftSource((first.alias, first.table))
            made.subject = source.describe_subject(*made.each)
            for piece in self.pieces:
                if piece.alias not in (first.alias, *made.joins):
                    made.joins[piece.alias] = source.write_join(
                        first.table, piece.table, apart=False
                    )
        else:
            table, apart, note = source.find_subject(
                self.facts, self.lines[0].table, self.lines[0].node
            )
            made = DraftSource(
                (source.ALIASES.get(table.name, source.choose_alias(table, ())), table)
            )
            made.apart |= {self.lines[0].table.name} if apart else set()
            if note:
                made.notes.append(note)
            source.judge_machine(made)
        made.lines, made.quiet = self.lines, self.quiet
        signs = []
        for p in self.pieces:
            if p.value is not None:
                many = _has_many(made, p.alias)
                signs.append(Sign(p.alias, p.column, p.value, many))
        # The condition of the rule rests on these columns.
        wanted = set()
        for node in (self.rule.when, self.rule.only) if self.rule else ():
            wanted |= {f"{leaf.name}.{leaf.column}" for leaf in _list_columns(node)}
        asked = [sign for sign in signs if sign.name in wanted]
        source.choose_signs(made, asked or signs, by_hand=False)
        if made.only and self.rule is not None:
            # What the gate of the rule asks for is no part of the condition.
            made.gate = {f"{leaf.name}.{leaf.column}" for leaf in _list_columns(self.rule.only)}
            made.also += [sign for sign in made.signs if sign.name in made.gate]
            made.signs = [sign for sign in made.signs if sign.name not in made.gate]
        named = {sign.name for sign in (*made.signs, *made.also)}
        unnamed = {sign.name: sign for sign in signs if sign.name not in named}
        made.also += unnamed.values()
        self.make_rows(made)
        return made

    def start_from(self, rule: Rule) -> DraftSource:
        """Return a source with the subject, the joins and the gate of a rule, as far as the evidence uses them."""
        subject = rule.each.name
        made = DraftSource((subject, rule.each.table))
        heads = set()
        for field in re.findall(r"\{([^{}]*)\}", rule.subject.text):
            heads.add(field.partition(".")[0].strip())
        made.subject = source.describe_subject(*made.each)
        if heads == {subject}:
            made.subject = rule.subject.text
        used = {piece.alias for piece in self.pieces}
        for join in reversed(rule.joins):
            if join.alias.name in used:
                used |= {mine.partition(".")[0] for mine, _ in join.by}
        for join in rule.joins:
            name = join.alias.name
            if name in used:
                made.joins[name] = self.write_join(join, subject)
        if rule.only is not None:
            names = {leaf.name for leaf in _list_columns(rule.only)}
            kinds = {leaf.op for leaf in rule.only.walk()}
            plain = kinds.isdisjoint(("let", "seen", "seen_field"))
            if plain and names <= {subject, *made.joins}:
                made.only = rule.only.text
                self.fixed |= find_fixed(rule.only)
        made.apart = {log.table.name for log in rule.logs.values() if log.any_node}
        return made

    def write_join(self, join: Join, each: str) -> dict[str, Any]:
        """Return a join of the rule as it is written; a `where` only when it speaks of the joined rows alone."""
        same = all(mine == f"{each}.{theirs}" for mine, theirs in join.by)
        if same:
            by: Any = [theirs for _, theirs in join.by]
        else:
            by = dict(join.by)
        made: dict[str, Any] = {"table": join.alias.table.name, "by": by}
        if join.alias.many:
            made["rows"] = "many"
        if join.any_node:
            made["nodes"] = "any"
        others = {leaf.name for leaf in _list_columns(join.where)} - {join.alias.name}
        if join.where is not None and not others:
            made["where"] = join.where.text
            self.fixed |= find_fixed(join.where)
        return made

    def make_rows(self, made: DraftSource) -> None:
        """Write the rows of the examples: the n-th value of each column makes the n-th row of its table."""
        tables = {piece.alias: piece.table for piece in self.pieces}
        alias, table = made.each
        tables[alias] = table
        for alias, body in made.joins.items():
            tables.setdefault(alias, self.tables[body["table"]])
        for alias, table in tables.items():
            rows = made.rows.setdefault(table.name, [])
            if rows:
                continue  # two aliases of one table: its rows are those of the first
            cells: dict[str, list[Any]] = {}
            for piece in self.pieces:
                if piece.alias == alias:
                    cells.setdefault(piece.column.name, []).append(piece.value)
            fixed = {}
            for (name, column), value in self.fixed.items():
                if name == alias:
                    fixed[column] = value
            columns = dict.fromkeys([*table.key, *_list_join_columns(made, alias), *fixed, *cells])
            count = 1
            many = _has_many(made, alias)
            if many:
                longest = max(map(len, cells.values()), default=1)
                count = min(source.MOST_ROWS, longest)
            for number in range(count):
                row = {name: source.make_filler(table.column(name)) for name in columns}
                made.made_up |= {value for value in row.values() if isinstance(value, str)}
                row |= fixed
                for name, values in cells.items():
                    row[name] = values[min(number, len(values) - 1)]
                last = table.key[-1] if table.key else ""
                if many and number and last and last not in cells:
                    row[last] = _count_on(row[last], number)
                rows.append(row)
        _fill_joined(made, tables)


def _count_on(value: Any, number: int) -> Any:
    """Return the value of a key in the row `number` rows further down."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return value
    if isinstance(value, int):
        return value + number
    stem = value.rpartition("-")[0] or value
    return f"{stem}-{number + 1}"


def _list_columns(node: ExprNode | None) -> Sequence[ExprNode]:
    """Return the columns that an expression reads."""
    if node is not None:
        return [leaf for leaf in node.walk() if leaf.op == "column"]
    return ()


def find_fixed(node: ExprNode) -> dict[tuple[str, str], Any]:
    """Return the cells, (alias, column) -> value, that a chain of `and` asks to be equal to a value."""
    if node.op == "and":
        found = {}
        for child in node.args:
            for key, value in find_fixed(child).items():
                found[key] = value
        return found
    if node.op in ("compare", "in") and node.args and node.args[0].op == "column":
        plain = [child.value for child in node.args[1:] if child.op == "literal"]
        if plain and (node.op == "in" or node.name == "=="):
            return {(node.args[0].name, node.args[0].column): plain[0]}
    return {}


def _has_many(made: DraftSource, alias: str) -> bool:
    return made.joins.get(alias, {}).get("rows") == "many"


def _pair_columns(by: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of columns that `by` of a join compares."""
    if isinstance(by, dict):
        return list(by.items())
    return [(column, column) for column in by]


def _list_join_columns(made: DraftSource, alias: str) -> list[str]:
    """Return the columns of an alias that joins meet on."""
    found = []
    for name, body in made.joins.items():
        for mine, theirs in _pair_columns(body.get("by") or []):
            head, _, column = str(mine).rpartition(".")
            if (head or made.each[0]) == alias:
                found.append(column)
            if name == alias:
                found.append(str(theirs))
    return found


def _fill_joined(made: DraftSource, tables: Tables) -> None:
    """Give the rows of a join the values of the rows they are joined to."""
    for name, body in made.joins.items():
        for mine, theirs in _pair_columns(body.get("by") or []):
            head, _, column = str(mine).rpartition(".")
            owner = made.rows[tables[head or made.each[0]].name][0]
            if theirs == "node" or column == "node":
                continue
            for row in made.rows[tables[name].name]:
                row[str(theirs)] = owner.get(column)


def _read_value(column: Column, shown: str) -> Any:
    """Return the value that a label shows; None when it is unknown."""
    if shown == "unknown":
        return None
    if len(shown) > 1 and shown[0] == shown[-1] == '"':
        shown = shown[1:-1]
    try:
        return convert_cell(column, shown)
    except ColumnValueError:
        return None
