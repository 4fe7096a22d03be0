"""One table of facts: a CSV file with the rows, and a TOML file that declares its columns.

    facts/esxi_event.toml     meaning, source, key, [columns.NAME] kind, meaning, …
    facts/esxi_event.csv      the rows of table `kb.esxi_event`, RFC 4180, UTF-8, one row a line

Every table has the columns `source` (where the row comes from) and `mark` (how sure that is) besides its own. The
files come from strangers as rule files do: size, rows, columns and cells are bounded, and control characters refused.
A file with a fault is not used at all, so that a rule never looks at a part of a list.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts.tables import (
    ORIGIN_COLUMNS,
    SQL_TYPES,
    Column,
    ColumnValueError,
    Table,
    Value,
    convert_cell,
)
from analyzer.case.verdicts import SEVERITIES
from analyzer.facts.database import version_key
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleText, did_you_mean
from analyzer.runtime.text import UNSAFE, one_line

PRODUCT = "kb"
MARKS = ("verified", "inferred", "memory")
ROWS, COLUMNS, CELL, FAULTS = 20_000, 40, 2_000, 50
SOURCE = Column("source", "str", "KB article or page that the row comes from")
MARK = Column(
    "mark",
    "str",
    "verified: the source shows it; inferred: it follows from the source; memory: no source was read",
)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}\Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")  # a date of release has no hour: the day begins at midnight
_NUMBERS = re.compile(r"[1-9][0-9]{0,8}(?: [1-9][0-9]{0,8})*\Z")
_HEAD = {
    "meaning": str,
    "source": str,
    "checked": str,
    "key": list,
    "ordered": list,
    "columns": dict,
}
_COLUMN = {
    "kind": str,
    "meaning": str,
    "unit": str,
    "needed": bool,
    "pattern": bool,
    "one_of": list,
    "names": str,
}


@dataclass(frozen=True, slots=True)
class FactColumn:
    """What the cells of a column must be, next to their kind.

    needed   no cell is empty; one_of: the only values; pattern: a regular expression
    names    `table.column` whose values these are, or `rule`: ids of rules (lint asks)
    """

    column: Column
    needed: bool = False
    pattern: bool = False
    one_of: tuple[str, ...] = ()
    names: str = ""


@dataclass(frozen=True, slots=True)
class FactDeclaration:
    """A declared table of facts, without rows yet; `ordered` are pairs of columns, the first below the second."""

    table: Table
    columns: Mapping[str, FactColumn]
    ordered: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class FactRows:
    """The rows of one CSV file: line and cells; with `faults` none of them is used."""

    rows: list[tuple[int, dict[str, Value]]] = field(default_factory=list)
    faults: list[BadRuleError] = field(default_factory=list)


def table_name(file: str) -> str:
    """Return the table that a file `NAME.csv` or `NAME.toml` is about."""
    return f"{PRODUCT}.{_cut_ending(file)}"


def _cut_ending(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".csv").removesuffix(".toml")


# -- the declaration


def read_declaration(source: RuleText) -> FactDeclaration:
    """Return what a TOML text declares; raises BadRuleError with file and line."""
    file, text = source.name, source.text
    if not _NAME.match(_cut_ending(file)):
        raise _make_error(
            file,
            1,
            "the name of the file cannot be that of a table",
            "use a-z, 0-9 and _, a letter first",
        )
    if found := UNSAFE.search(text):
        raise _make_error(
            file, text.count("\n", 0, found.start()) + 1, f"a control character: {found[0]!r}"
        )
    try:
        keys = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        raise _make_error(
            file, int(line[1]) if line else 1, f"not TOML: {one_line(str(error), 200)}"
        ) from None
    return _Declaring(file, text).read_keys(keys)


class _Declaring:
    """Reads one declaration; every refusal names the file and, as near as it can, the line."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.lines = file, text.splitlines()

    def make_error(self, message: str, word: str = "", help: str = "") -> BadRuleError:
        place = next(
            (number for number, line in enumerate(self.lines, 1) if word and word in line), 1
        )
        return _make_error(self.file, place, message, help)

    def read_keys(self, keys: dict[str, Any]) -> FactDeclaration:
        self.check_keys(keys, _HEAD, "the declaration")
        for word in ("meaning", "source", "key", "columns"):
            if not keys.get(word):
                raise self.make_error(f"`{word}` is missing")
        if len(keys["columns"]) > COLUMNS:
            raise self.make_error(f"more than {COLUMNS} columns")
        found = {name: self.read_column(name, body) for name, body in keys["columns"].items()}
        found |= {
            "source": FactColumn(SOURCE, needed=True),
            "mark": FactColumn(MARK, needed=True, one_of=MARKS),
        }
        key = self.read_names(keys["key"], found, "key")
        ordered = [self.read_names(pair, found, "ordered") for pair in keys.get("ordered", [])]
        for pair in ordered:
            kinds = {found[name].column.kind for name in pair}
            if (
                len(pair) != 2
                or len(kinds) != 1
                or not kinds <= {"int", "float", "version", "time"}
            ):
                raise self.make_error(
                    "`ordered` holds pairs of columns of one kind that has an order", "ordered"
                )
        table = Table(
            name=table_name(_cut_ending(self.file)),
            meaning=keys["meaning"],
            source=keys["source"],
            ask="",
            columns=tuple(one.column for one in found.values()),
            key=key,
            checked=self.read_day(keys.get("checked", "")),
        )
        return FactDeclaration(table, found, tuple((first, second) for first, second in ordered))

    def read_day(self, text: str) -> str:
        if text and not _DAY.match(text):
            raise self.make_error(f"`checked` is no day: `{text[:40]}`", "checked", "YYYY-MM-DD")
        return text

    def read_column(self, name: str, body: Any) -> FactColumn:
        if not isinstance(body, dict):
            raise self.make_error(
                f"column `{name[:60]}` is not a table", name, "write [columns.NAME]"
            )
        if not _NAME.match(name) or name in (*ORIGIN_COLUMNS, "source", "mark"):
            raise self.make_error(
                f"`{name[:60]}` cannot be a column",
                name,
                "every table has `source` and `mark` already",
            )
        self.check_keys(body, _COLUMN, f"column `{name}`")
        kind = body.get("kind", "str")
        if kind not in SQL_TYPES:
            raise self.make_error(
                f"unknown kind `{kind[:40]}` of column `{name}`",
                name,
                "one of " + ", ".join(SQL_TYPES),
            )
        if not body.get("meaning"):
            raise self.make_error(f"column `{name}` has no meaning", name)
        choices = tuple(map(str, body.get("one_of", ()))) or (
            tuple(SEVERITIES) if name == "severity" else ()
        )
        column = Column(name, kind, body["meaning"], body.get("unit", ""))
        return FactColumn(
            column,
            body.get("needed", False),
            body.get("pattern", False),
            choices,
            body.get("names", ""),
        )

    def check_keys(self, keys: Mapping[str, Any], known: Mapping[str, type], what: str) -> None:
        for key, value in keys.items():
            if key not in known:
                raise self.make_error(
                    f"unknown key `{key[:60]}` in {what}", key, did_you_mean(key, known)
                )
            if not isinstance(value, known[key]):
                raise self.make_error(f"`{key}` of {what} is not {_WORDS[known[key]]}", key)

    def read_names(self, names: Any, known: Mapping[str, FactColumn], what: str) -> tuple[str, ...]:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.make_error(f"`{what}` is a list of columns", what)
        for name in names:
            if name not in known:
                raise self.make_error(
                    f"`{what}` names no column: `{name[:60]}`", what, did_you_mean(name, known)
                )
        return tuple(names)


_WORDS = {str: "text", list: "a list", dict: "a table", bool: "true or false"}


# -- the rows


def read_fact_rows(source: RuleText, declared: FactDeclaration) -> FactRows:
    """Return the rows of a CSV text, and all that is wrong with them, each fault with file and line."""
    file, text = source.name, source.text
    found = FactRows()
    for fault in _fill_rows(found, file, text, declared):
        found.faults.append(fault)
        if len(found.faults) == FAULTS:
            break
    if not found.rows and not found.faults:
        found.faults.append(_make_error(file, 1, "no rows"))
    if found.faults:
        found.rows = []
    return found


class LateRows(Sequence[tuple[str, int, Mapping[str, Value]]]):
    """Rows of some CSV files: file, line and cells; a file is read when a row is first asked for.

    A BadRuleError then tells of a fault that no one looked for before.
    """

    def __init__(self, files: Sequence[tuple[str, Callable[[], FactRows]]]) -> None:
        self._files = files
        self._rows: list[tuple[str, int, Mapping[str, Value]]] | None = None

    def _read_rows(self) -> list[tuple[str, int, Mapping[str, Value]]]:
        if self._rows is None:
            found = [(name, read()) for name, read in self._files]
            for fault in (fault for _, rows_read in found for fault in rows_read.faults):
                raise fault
            self._rows = [
                (file, line, cells) for file, rows_read in found for line, cells in rows_read.rows
            ]
        return self._rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LateRows) and self._read_rows() == other._read_rows()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._read_rows(),)  # what another process gets

    def __len__(self) -> int:
        return len(self._read_rows())

    def __getitem__(self, place: Any) -> Any:
        return self._read_rows()[place]


def _fill_rows(
    found: FactRows, file: str, text: str, declared: FactDeclaration
) -> Iterator[BadRuleError]:
    """Put the rows of a text into `found`; yield what is wrong."""
    if steers := UNSAFE.search(text.replace("\r\n", "\n")):
        yield _make_error(
            file, text.count("\n", 0, steers.start()) + 1, f"a control character: {steers[0]!r}"
        )
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    last = 0
    try:
        head = next(reader, [])
        if why := _head_fault(head, declared):
            yield _make_error(file, 1, why)
            return
        met: dict[tuple[Value, ...], int] = {}
        last = reader.line_num
        for cells in reader:
            line, last = last + 1, reader.line_num
            if len(found.rows) >= ROWS:
                yield _make_error(file, line, f"more than {ROWS:,} rows", "split the table in two")
                return
            if last > line or len(cells) not in (0, len(head)):
                what = (
                    "a cell holds a line break"
                    if last > line
                    else f"{len(cells)} cells under {len(head)} columns"
                )
                yield _make_error(
                    file, line, what, "quote a cell that holds a comma; write a row on one line"
                )
            elif cells:
                values, faults = _read_row(
                    file, line, dict(zip(head, cells, strict=True)), declared
                )
                found.rows.append((line, values))
                yield from faults
                if faults:
                    continue
                key = tuple(values.get(name) for name in declared.table.key)
                if None in key:
                    why = f"the key ({', '.join(declared.table.key)}) is empty"
                    yield _make_error(file, line, why)
                elif key in met:
                    why = f"{words_of(key)} is in line {met[key]} already"
                    yield _make_error(file, line, why)
                met.setdefault(key, line)
    except csv.Error as error:
        yield _make_error(file, last + 1, f"not CSV: {error}", "quote a cell that holds a comma")


def _head_fault(head: Sequence[str], declared: FactDeclaration) -> str:
    """Return what is wrong with the names of the columns, "" when nothing is."""
    strange = [name for name in head if name not in declared.columns]
    lacking = [name for name, one in declared.columns.items() if one.needed and name not in head]
    if strange:
        return f"unknown column `{one_line(strange[0], 60)}`. {did_you_mean(strange[0], declared.columns)}".strip()
    if lacking:
        return f"column `{lacking[0]}` is missing"
    return "a column appears twice" if len(set(head)) < len(head) else ""


def _read_row(
    file: str, line: int, cells: Mapping[str, str], declared: FactDeclaration
) -> tuple[dict[str, Value], list[BadRuleError]]:
    values: dict[str, Value] = {}
    faults = []
    for name, cell in cells.items():
        one, text = declared.columns[name], cell.strip()
        if why := _find_cell_fault(one, text):
            faults.append(_make_error(file, line, f"{name}: {why}"))
        elif text and one.column.kind == "str":
            values[name] = text
        elif text:
            try:
                midnight = one.column.kind == "time" and _DAY.match(text) is not None
                values[name] = convert_cell(one.column, f"{text} 00:00:00" if midnight else text)
            except ColumnValueError as error:
                faults.append(_make_error(file, line, one_line(str(error), 200)))
    for first, second in declared.ordered:
        low, high = values.get(first), values.get(second)
        if faults or low is None or high is None:
            continue
        if declared.columns[first].column.kind == "version":
            in_order = str(version_key(low)) < str(version_key(high))
        else:
            in_order = low < high  # type: ignore[operator]
        if not in_order:
            message = f"{first} {low} is not below {second} {high}"
            faults.append(_make_error(file, line, message))
    return values, faults


def _find_cell_fault(one: FactColumn, text: str) -> str:
    """Return what is wrong with a cell, "" when nothing is."""
    if not text:
        return "the cell is empty" if one.needed else ""
    if len(text) > CELL:
        return f"a cell of {len(text):,} characters; at most {CELL:,}"
    if one.one_of and text not in one.one_of:
        return f"{text[:60]!r} is not one of {', '.join(one.one_of)}"
    if one.column.kind == "version" and version_key(text) is None:
        return f"{text[:60]!r} is not a version"
    if one.column.name == "kb" and not _NUMBERS.match(text):
        return f"{text[:60]!r} is not a list of KB numbers, separated by spaces"
    if one.pattern:
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            return f"not a regular expression: {error}"
    return ""


def keys_of(rows_read: FactRows, declared: FactDeclaration) -> dict[tuple[Value, ...], int]:
    """Return the keys of rows with their lines."""
    return {
        tuple(row.get(column) for column in declared.table.key): line
        for line, row in rows_read.rows
    }


def words_of(key: Sequence[Value]) -> str:
    """Return a key as a message cites it."""
    return one_line(", ".join(map(str, key)), 120)


def _make_error(file: str, line: int, message: str, help: str = "") -> BadRuleError:
    return BadRuleError(one_line(message, 300), file=file, place=FileSpan(line), help=help)
