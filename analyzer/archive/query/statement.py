"""One SQL statement of an engineer: checked before it runs, its errors in plain words.

DuckDB lets even a SELECT write: `WITH x AS (COPY … TO …)`, and functions that read or run. So the
statement's own tree is read first. Only queries pass, over the archive's tables and a handful of
functions that make rows from nothing; a kind of node that is not known here is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts import database
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import RuleFileError
from analyzer.runtime.text import make_visible

LONGEST = 100_000  # characters of a statement
_SHOWN = 160  # characters of a line that an error cites
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {
    "range",
    "generate_series",
    "unnest",
    "json_each",
    "json_tree",
    "repeat",
    "repeat_row",
}
_SOURCES = {
    "BASE_TABLE",
    "SUBQUERY",
    "JOIN",
    "TABLE_FUNCTION",
    "EXPRESSION_LIST",
    "EMPTY",
    "PIVOT",
    "SHOW_REF",
}
_SOURCES |= {"EMPTY_FROM", "COLUMN_DATA", "CTE"}
_LINE = re.compile(r"^LINE (\d+): (.*)$", re.MULTILINE)
_KIND = re.compile(r"^(?:[A-Z][A-Za-z-]* )+Error: ")
_ODD = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff]")
_TABLES = "`backline archive sql --archive DIR --tables` lists them"


class BadQueryError(RuleFileError):
    """A statement that cannot be asked: what is wrong, the line and a caret, and what to do."""

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        line: str = "",
        number: int = 1,
        column: int = 0,
        width: int = 1,
        do: str = "",
    ) -> None:
        super().__init__(what, do=do)
        self.line, self.number, self.column, self.width = line, number, column, width

    def __str__(self) -> str:
        rows = [f"error: {self.what}"]
        margin = " " * len(str(self.number))
        if self.line:
            start = 0
            if len(self.line) > _SHOWN:
                start = max(0, self.column - _SHOWN // 2)
            shown = self.line[start : start + _SHOWN].replace("\t", " ")
            column = self.column - start
            width = max(1, min(self.width, len(shown) - column))
            rows.append(f"{margin}|")
            rows.append(f"{self.number}| {shown}")
            rows.append(f"{margin}| {' ' * column}{'^' * width}")
        if self.do:
            rows.append(f"{margin}= help: {self.do}")
        return make_visible("\n".join(rows))


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that passed the check: its text, and the tables of the archive it reads."""

    text: str
    tables: tuple[str, ...]


def check_statement(text: str, known: Iterable[str]) -> Statement:
    """Return a statement after a look at its tree.

    known  names of the tables there are, as `nodes` or `esxi.vnic`
    Raises BadQueryError for anything but one SELECT over these tables.
    """

    if len(text) > LONGEST:
        raise BadQueryError(f"the statement is longer than {LONGEST:,} characters")
    if not text.isprintable() and _ODD.search(text):
        raise BadQueryError(
            "the statement holds a character that is not text", do="type it again by hand"
        )
    con = database.borrow()  # locked and empty: the tree of a statement is made without running it
    try:
        statements = con.extract_statements(text)
        if not statements:
            raise BadQueryError(
                "there is no statement", do='give one in quotes: "SELECT name, worst FROM cases"'
            )
        if len(statements) > 1:
            raise BadQueryError("there are several statements", do="ask one at a time")
        if statements[0].type != duckdb.StatementType.SELECT:
            word = re.split(r"\W+", text.strip(), maxsplit=1)[0][:20].upper()
            raise BadQueryError(
                f"{word or 'this'} is not allowed", do="the archive is read only: ask with SELECT"
            )
        return Statement(
            text, tuple(_check_tables(con, text, {name.lower(): name for name in known}))
        )
    except (duckdb.Error, RuntimeError) as error:
        raise query_error(error, text) from None
    finally:
        database.give_back(con, ())


def _check_tables(con: duckdb.DuckDBPyConnection, text: str, known: dict[str, str]) -> list[str]:
    found: dict[str, None] = {}
    # Every record of the tree; a list of what is still to be seen, for trees may be deep
    tree = _parse_tree(con, text)
    records: list[dict[str, Any]] = []
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            records.append(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    maps = [record.get("cte_map") for record in records]
    ctes = [item for one in maps if isinstance(one, dict) for item in one.get("map", ())]
    own = {str(item["key"]).lower() for item in ctes}
    for record in records:
        kind = str(record.get("type", ""))
        if kind.endswith("_NODE") and kind not in _NODES:
            word = kind.partition("_")[0]
            raise _error_at(
                text, record, f"{word} is not allowed", "the archive is read only: ask with SELECT"
            )
        if "sample" in record and kind not in _SOURCES and not kind.endswith("_NODE"):
            raise _error_at(
                text,
                record,
                f"{kind.lower()} is not allowed here",
                f"ask tables of the archive; {_TABLES}",
            )
        if kind == "TABLE_FUNCTION":
            _allow_function(text, record)
        elif kind == "SHOW_REF" and not record.get("query"):
            raise _error_at(text, record, "this lists nothing here", _TABLES)
        elif kind == "BASE_TABLE":
            name = ".".join(
                filter(
                    None,
                    (record.get("catalog_name"), record.get("schema_name"), record["table_name"]),
                )
            )
            if name.lower() in known:
                found[known[name.lower()]] = None
            elif name.lower() not in own:
                ends = [
                    full for low, full in known.items() if low.partition(".")[2] == name.lower()
                ]
                near = (
                    f"did you mean `{ends[0]}`?"
                    if ends
                    else did_you_mean(name.lower(), known) or _TABLES
                )
                raise _error_at(text, record, f"there is no table {name[:80]}", near)
    return list(found)


def _parse_tree(con: duckdb.DuckDBPyConnection, text: str) -> Any:
    """Return the parsed statement as DuckDB tells it in JSON."""

    try:
        row = con.execute("SELECT json_serialize_sql($1)", [text]).fetchone()
        tree = json.loads(row[0]) if row else {"error": True}
    except (duckdb.Error, ValueError, RecursionError) as error:
        raise BadQueryError(
            "the statement cannot be checked", do=f"simplify it ({type(error).__name__})"
        ) from None
    if tree.get("error"):
        raise BadQueryError(
            str(tree.get("error_message") or "the statement cannot be checked")[:200]
        )
    return tree


def _allow_function(text: str, record: dict[str, Any]) -> None:
    function = record.get("function") or {}
    name = str(function.get("function_name", "")).lower()
    if name not in _FUNCTIONS:
        raise _error_at(
            text,
            record,
            f"{name[:60] or 'this function'}() is not allowed",
            f"ask tables of the archive; {_TABLES}",
        )


def _error_at(text: str, record: dict[str, Any], what: str, do: str) -> BadQueryError:
    """Return an error that points to where a record of the tree stands; offsets count bytes."""
    raw, start = text.encode(errors="replace"), record.get("query_location", -1)
    if not isinstance(start, int) or not 0 <= start < len(raw):
        return BadQueryError(what, do=do)
    before = raw[:start].decode(errors="replace")
    number = before.count("\n") + 1
    line = text.split("\n")[number - 1]
    width = len(
        raw[start : start + int(record.get("query_location_length") or 1)].decode(errors="replace")
    )
    return BadQueryError(
        what,
        line=line,
        number=number,
        column=len(before) - before.rfind("\n") - 1,
        width=width,
        do=do,
    )


def query_error(error: Exception, text: str) -> BadQueryError:
    """Return an error of DuckDB as one sentence, with the line and a caret where it says one."""
    message = str(error)
    head = _KIND.sub("", message.split("\n\nLINE ", 1)[0]).strip()
    words = head.split("\nCandidate")[0].split()
    what = " ".join(words)[:400].rstrip(".") or type(error).__name__
    found = _LINE.search(message)
    if found is None:
        return BadQueryError(what)
    number = int(found[1])
    cited = found[2]
    column = -1
    width = 1
    carets = message[found.end() :].split("\n")[1:2]
    if carets:
        column = carets[0].find("^") - len(f"LINE {number}: ")
        width = carets[0].count("^")
    line = cited
    lines = text.split("\n")
    if number <= len(lines):
        line = lines[number - 1]
    if cited.strip(".") != line.strip("."):  # a long line is cited in part, between dots
        line = cited
    if column < 0:
        line = cited
        column = 0
    return BadQueryError(what, line=line, number=number, column=column, width=width)
