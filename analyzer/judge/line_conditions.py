"""Conditions of a rule on a log line itself: its message, its columns, its `where`."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.logtime import log_time
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Column, Row, cell_of
from analyzer.facts.database import fitting
from analyzer.judge.case_rows import moment
from analyzer.judge.closures import Closures, Env, Fn
from analyzer.judge.log_hits import LogHit
from analyzer.rules import LogDef
from analyzer.rules.language.expression import ExprNode
from analyzer.scan.hits import Hit

_PARSING = Lock()  # parsers may keep a state; rules are judged in several threads


def message_lines(hit: Hit) -> list[str]:
    """Return the lines of a message from its head to the hit: a line without a time belongs to the head above it."""
    if log_time(hit.text) is not None:
        return [hit.text]
    above = hit.before
    head = next((n for n in range(len(above) - 1, -1, -1) if log_time(above[n]) is not None), None)
    return [hit.text] if head is None else [*above[head:], hit.text]


def parsed_line(table: str, block: Block) -> Row | None:
    """Return the row that the parser of a log makes of the lines of one message; None when it makes none."""
    for parser in _parsers_of(table):
        with _PARSING:
            rows = [
                item
                for item in parser.parse(block)
                if isinstance(item, Row) and item.table.name == table
            ]
        if rows:
            return rows[0]
    return None


@cache
def _parsers_of(table: str) -> list[Parser]:
    """Return the parsers of a log: a storm of lines asks for them once."""
    return [
        one
        for one in parsing.registry().values()
        if one.log and any(own.name == table for own in one.tables)
    ]


def parted_by_where(log: LogDef, found: list[LogHit]) -> tuple[list[LogHit], list[LogHit]]:
    """Part hits by the `where` of their signature: those for which it holds, and those for which it is unknown."""
    if log.where is None or not found:
        return found, []
    holds = Closures(_Line(log), texts=True)(log.where)
    answers = [holds([one.values]) for one in found]
    pairs = list(zip(found, answers, strict=True))
    return [one for one, answer in pairs if answer], [
        one for one, answer in pairs if answer is None
    ]


class _Line:
    """What the `where` of a signature asks of one line: its columns and named groups."""

    def __init__(self, log: LogDef) -> None:
        self.kinds = {column.name: column.kind for column in log.table.columns}

    def cell(self, alias: str, column: str) -> Fn:
        """Return what gives a column of a line as its kind, or a named group as text."""
        del alias
        kind = self.kinds.get(column, "str")

        def cell(env: Env) -> Any:
            value = env[0].get(column)
            if value is None or kind in ("str", "version"):
                return value if value is None else str(value)
            if isinstance(value, str) and kind != "time":
                value = cell_of(Column(column, kind, ""), value)
            value = fitting(value, kind)
            return moment(value) if kind == "time" and value is not None else value

        return cell

    def present(self, alias: str) -> Fn:
        """Return what tells whether there is a line."""
        del alias
        return lambda _: True

    def unsure(self, alias: str) -> Fn:
        """Return what tells whether the line may be missing."""
        del alias
        return lambda _: False

    def seen(self, name: str, part: str) -> Fn:
        """Raise: a line asks nothing of other lines."""
        raise NotImplementedError(name, part)

    def parts(self, node: ExprNode) -> Fn:
        """Raise: a line has no rows beside it."""
        raise NotImplementedError(node.text)

    def memo(self) -> int:
        """Raise: a line names no values."""
        raise NotImplementedError
