"""The evidence of a finding in a case document, as the source of a new rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Column, ColumnValueError, Table, convert_cell
from analyzer.authoring.draft import source
from analyzer.authoring.draft.pick import LogLine, log_line
from analyzer.authoring.draft.signs import Sign
from analyzer.authoring.draft.source import DraftSource
from analyzer.facts import Facts
from analyzer.pipeline import case
from analyzer.report.finding_names import finding_of
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


def load(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the document and the finding of `CASE.json#finding`.

    Raises UsageError when the fragment fits none or several (`finding_names`).
    """
    path, fragment = _parted(text)
    document = case.load(Path(path))
    findings = document["findings"]
    if not findings:
        raise UsageError(
            "the case has no finding",
            where=path,
            do="Start from lines: --from-lines MEMBER:120-124 BUNDLE",
        )
    return document, finding_of(document, fragment, example="Write CASE.json#1.")


def _parted(text: str) -> tuple[str, str]:
    """Part a path and a fragment; a `#` may be part of the path."""
    places = [found.start() for found in re.finditer("#", text)]
    for place in [len(text), *reversed(places)]:
        if text[:place] and Path(text[:place]).is_file():
            return text[:place], text[place + 1 :]
    path, _, fragment = text.partition("#")
    return path, fragment


def from_finding(
    document: Mapping[str, Any], finding: Mapping[str, Any], rule: Rule | None
) -> DraftSource:
    """Return the material of a finding: its evidence, and the subject and joins of its rule where that is known."""
    reading = _Reading(document, finding, rule)
    reading.read()
    made = reading.made()
    made.names = source.document_names(document)
    for piece in reading.pieces:
        source.add_names(made.names, [(piece.column.name, piece.value)])
    for line in reading.lines:
        source.add_names(made.names, line.values.items())
    title = one_line(str(finding["rule"]), 60)
    made.origin = f"the evidence of a finding of rule {title}"
    return made


class _Reading:
    """Reads the pieces of evidence of one finding."""

    def __init__(
        self, document: Mapping[str, Any], finding: Mapping[str, Any], rule: Rule | None
    ) -> None:
        self.finding = finding
        self.rule = (
            rule if rule is not None and not rule.hits else None
        )  # lines used as rows are drafted as lines
        self.tables = parsing.tables()
        self.facts = Facts()
        self.pieces: list[EvidencePiece] = []
        self.lines: list[LogLine] = []
        self.quiet: dict[str, list[str]] = {}
        self.fixed: dict[
            tuple[str, str], Any
        ] = {}  # cells that a `where` or `only` of the rule asks for
        self.captured = {node["name"]: node["captured"] for node in document["nodes"]}
        self.read_by = {source["address"]: source["read_by"] for source in document["sources"]}

    def read(self) -> None:
        for item in self.finding["evidence"]:
            label = str(item["label"])
            found = _LABEL.match(label)
            table = self._row_table(found, item) if found else None
            if found and table is not None:
                column = table.column(found["column"])
                assert column is not None
                self.pieces.append(
                    EvidencePiece(found["alias"], table, column, _value(column, found["value"]))
                )
            elif (log := self._log_table(label, item)) is not None and str(item["text"]).strip():
                self._line(log, item)
        self.facts.close()
        home = {piece.alias: piece.table for piece in reversed(self.pieces)}
        self.pieces = [piece for piece in self.pieces if piece.table is home[piece.alias]]
        if not self.pieces and not self.lines:
            raise UsageError(
                "the finding shows no evidence that a rule could be made from",
                where=one_line(str(self.finding["id"] or self.finding["rule"]), 120),
                do="Start from lines: --from-lines MEMBER:120-124 BUNDLE",
            )

    def _line(self, table: Table, item: Mapping[str, Any]) -> None:
        node = str(item["node"])
        if node not in self.facts.nodes:
            self.facts.node(node, node, captured=self.captured.get(node, ""))
        made = log_line(
            self.facts, table, str(item["text"]), str(item["address"]), int(item["line"]), node
        )
        if all((one.address, one.line) != (made.address, made.line) for one in self.lines):
            self.lines.append(made)
            self.quiet.setdefault(table.name, []).extend([*item["before"], *item["after"]])

    def _row_table(self, found: re.Match[str], item: Mapping[str, Any]) -> Table | None:
        """Return the table an alias stands for: by the rule, else by the parsers that read the member."""
        alias = self.rule.aliases.get(found["alias"]) if self.rule else None
        if alias is not None:
            return alias.table if alias.table.column(found["column"]) else None
        makers = [parsing.registry().get(name) for name in self._readers(item)]
        tables = [table for parser in makers if parser for table in parser.tables if not table.log]
        told = [table for table in tables if table.column(found["column"])]
        # an alias is one table: the one that has all columns the evidence names with it
        whole = [
            table
            for table in told
            if all(table.column(name) for name in self._columns(found["alias"]))
        ]
        return next(iter(whole or told), None)

    def _columns(self, alias: str) -> set[str]:
        labels = (_LABEL.match(str(item["label"])) for item in self.finding["evidence"])
        return {found["column"] for found in labels if found and found["alias"] == alias}

    def _log_table(self, label: str, item: Mapping[str, Any]) -> Table | None:
        makers = [parsing.registry().get(name) for name in self._readers(item)]
        logs = [parser.tables[0] for parser in makers if parser and parser.log]
        if logs:
            return logs[0]
        seen = self.rule.seen.get(label) if self.rule else None
        if self.rule is None or seen is None:
            return None
        defs = [self.rule.logs[name] for name in seen.logs]
        return next(
            (one.table for one in defs if re.search(one.pattern, str(item["text"]))), defs[0].table
        )

    def _readers(self, item: Mapping[str, Any]) -> list[str]:
        return [name.strip() for name in self.read_by.get(str(item["address"]), "").split(",")]

    # -- the material

    def made(self) -> DraftSource:
        """Put the pieces together around the subject of the rule, or of the first piece."""
        if self.rule is not None:
            made = self._of_rule(self.rule)
        elif self.pieces:
            made = self._of_pieces()
        else:
            table, apart, note = source.subject_of(
                self.facts, self.lines[0].table, self.lines[0].node
            )
            made = DraftSource((source.ALIASES.get(table.name, source.alias_of(table, ())), table))
            made.apart |= {self.lines[0].table.name} if apart else set()
            made.notes += [note] if note else []
            source.whole_machine(made)
        made.lines, made.quiet = self.lines, self.quiet
        signs = [
            Sign(p.alias, p.column, p.value, _many(made, p.alias))
            for p in self.pieces
            if p.value is not None
        ]
        wanted = self._asked() if self.rule else set()
        first = [sign for sign in signs if sign.name in wanted] or signs
        source.choose(made, first, by_hand=False)
        self._gate(made)
        named = {sign.name for sign in (*made.signs, *made.also)}
        made.also += list({sign.name: sign for sign in signs if sign.name not in named}.values())
        self._rows(made)
        return made

    def _gate(self, made: DraftSource) -> None:
        """Keep what the gate of the rule asks for out of the condition."""
        if not made.only or self.rule is None or self.rule.only is None:
            return
        made.gate = {f"{leaf.name}.{leaf.column}" for leaf in _leaves(self.rule.only)}
        made.also += [sign for sign in made.signs if sign.name in made.gate]
        made.signs = [sign for sign in made.signs if sign.name not in made.gate]

    def _of_rule(self, rule: Rule) -> DraftSource:
        made = DraftSource((rule.each.name, rule.each.table))
        made.subject = _only_of(rule.subject.text, {rule.each.name}) or source.subject_text(
            *made.each
        )
        used = {piece.alias for piece in self.pieces}
        for join in reversed(rule.joins):
            needed = {mine.partition(".")[0] for mine, _ in join.by}
            if join.alias.name in used:
                used |= needed
        for join in rule.joins:
            if join.alias.name in used:
                made.joins[join.alias.name] = self._join_of(join, rule.each.name)
        if rule.only is not None and _plain(rule.only, {made.each[0], *made.joins}):
            made.only = rule.only.text
            self.fixed |= fixed(rule.only)
        made.apart = {log.table.name for log in rule.logs.values() if log.any_node}
        return made

    def _join_of(self, join: Join, each: str) -> dict[str, Any]:
        """Return a join of the rule as it is written; a `where` only when it speaks of the joined rows alone."""
        same = all(mine == f"{each}.{theirs}" for mine, theirs in join.by)
        by: Any = [theirs for _, theirs in join.by] if same else dict(join.by)
        made: dict[str, Any] = {"table": join.alias.table.name, "by": by}
        if join.alias.many:
            made["rows"] = "many"
        if join.any_node:
            made["nodes"] = "any"
        if join.where is not None and all(
            leaf.name == join.alias.name for leaf in _leaves(join.where)
        ):
            made["where"] = join.where.text
            self.fixed |= fixed(join.where)
        return made

    def _of_pieces(self) -> DraftSource:
        first = self.pieces[0]
        made = DraftSource((first.alias, first.table))
        made.subject = source.subject_text(*made.each)
        for piece in self.pieces:
            if piece.alias not in (first.alias, *made.joins):
                made.joins[piece.alias] = source.join_body(first.table, piece.table, apart=False)
        return made

    def _asked(self) -> set[str]:
        """Return the columns the condition of the rule rests on."""
        assert self.rule is not None
        nodes: list[ExprNode] = [self.rule.when, *([self.rule.only] if self.rule.only else [])]
        found = {f"{leaf.name}.{leaf.column}" for node in nodes for leaf in _leaves(node)}
        shown = {f"{piece.alias}.{piece.column.name}" for piece in self.pieces}
        return found & shown

    def _rows(self, made: DraftSource) -> None:
        """Write the rows of the examples: the n-th value of each column makes the n-th row of its table."""
        tables = {piece.alias: piece.table for piece in self.pieces} | {made.each[0]: made.each[1]}
        for alias, body in made.joins.items():
            tables.setdefault(alias, self.tables[body["table"]])
        for alias, table in tables.items():
            cells: dict[str, list[Any]] = {}
            for piece in self.pieces:
                if piece.alias == alias:
                    cells.setdefault(piece.column.name, []).append(piece.value)
            many = _many(made, alias)
            count = (
                min(source.MOST_ROWS, max([len(values) for values in cells.values()] or [1]))
                if many
                else 1
            )
            asked = {column: value for (name, column), value in self.fixed.items() if name == alias}
            columns = list(
                dict.fromkeys([*table.key, *_keys_of_joins(made, alias), *asked, *cells])
            )
            rows = made.rows.setdefault(table.name, [])
            if rows:
                continue  # two aliases of one table: its rows are those of the first
            for number in range(count):
                filled = {name: source.filler(table.column(name)) for name in columns}
                made.made_up |= {value for value in filled.values() if isinstance(value, str)}
                filled |= asked
                filled |= {
                    name: values[min(number, len(values) - 1)] for name, values in cells.items()
                }
                if many and number and table.key and table.key[-1] not in cells:
                    filled[table.key[-1]] = _next(filled[table.key[-1]], number)
                rows.append(filled)
        _meet(made, tables)


def _leaves(node: ExprNode) -> Sequence[ExprNode]:
    return [leaf for leaf in node.walk() if leaf.op == "column"]


def _plain(node: ExprNode, aliases: set[str]) -> bool:
    """Tell whether an expression names nothing but columns of these aliases."""
    return all(leaf.name in aliases for leaf in _leaves(node)) and not any(
        leaf.op in ("let", "seen", "seen_field") for leaf in node.walk()
    )


def fixed(node: ExprNode) -> dict[tuple[str, str], Any]:
    """Return the cells, (alias, column) -> value, that a chain of `and` asks to be equal to a value."""
    if node.op == "and":
        return {key: value for child in node.args for key, value in fixed(child).items()}
    if node.op in ("compare", "in") and node.args and node.args[0].op == "column":
        plain = [child.value for child in node.args[1:] if child.op == "literal"]
        if plain and (node.op == "in" or node.name == "=="):
            return {(node.args[0].name, node.args[0].column): plain[0]}
    return {}


def _many(made: DraftSource, alias: str) -> bool:
    return made.joins.get(alias, {}).get("rows") == "many"


def _next(value: Any, number: int) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return value
    return (
        value + number
        if isinstance(value, int)
        else f"{value.rpartition('-')[0] or value}-{number + 1}"
    )


def _keys_of_joins(made: DraftSource, alias: str) -> list[str]:
    """Return the columns of an alias that joins meet on."""
    found = []
    for name, body in made.joins.items():
        by = body.get("by") or []
        pairs = by.items() if isinstance(by, dict) else [(column, column) for column in by]
        for mine, theirs in pairs:
            head, _, column = str(mine).rpartition(".")
            if (head or made.each[0]) == alias:
                found.append(column)
            if name == alias:
                found.append(str(theirs))
    return found


def _meet(made: DraftSource, tables: Mapping[str, Table]) -> None:
    """Give the rows of a join the values of the rows they are joined to."""
    for name, body in made.joins.items():
        by = body.get("by") or []
        pairs = by.items() if isinstance(by, dict) else [(column, column) for column in by]
        for mine, theirs in pairs:
            head, _, column = str(mine).rpartition(".")
            owner = made.rows[tables[head or made.each[0]].name][0]
            if theirs == "node" or column == "node":
                continue
            for row in made.rows[tables[name].name]:
                row[str(theirs)] = owner.get(column)


def _only_of(template: str, aliases: set[str]) -> str:
    """Return a text when all values in its braces are of these aliases."""
    heads = {field.partition(".")[0].strip() for field in re.findall(r"\{([^{}]*)\}", template)}
    return template if heads and heads <= aliases else ""


def _value(column: Column, shown: str) -> Any:
    """Return the value that a label shows; None when it is unknown."""
    if shown == "unknown":
        return None
    text = shown[1:-1] if len(shown) > 1 and shown[0] == shown[-1] == '"' else shown
    try:
        return convert_cell(column, text)
    except ColumnValueError:
        return None
