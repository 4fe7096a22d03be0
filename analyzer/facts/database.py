"""Rows and frames into DuckDB, and the locks on that database.

DuckDB and numpy are imported on the first call only: `--help` must not pay for them, and
pandas is not needed to put rows in.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from analyzer.artefacts.logtime import read_time
from analyzer.artefacts.tables import INT64, SQL_TYPES, Kind, Row, Table, Value

if TYPE_CHECKING:
    import duckdb

CHUNK = 20_000  # rows of one insert
MANY = 500  # rows of one case that are inserted by themselves
KEY = "#key"  # suffix of the hidden column by which versions compare
CASE = "_case"  # hidden column of tables that hold several cases: the number of the row's case
ORIGIN = {
    "node": "VARCHAR",
    "_node": "VARCHAR",
    "taken": "TIMESTAMP",
    "_source": "VARCHAR",
    "_line": "BIGINT",
    "_order": "BIGINT",
    "_row": "BIGINT",
}
MEMORY = "2GB"  # of one database: the tables of the case and what a query makes of them
_OPENING = (
    "SET threads=1",  # the same order of rows in every run
    f"SET memory_limit='{MEMORY}'",
    "SET temp_directory=''",
    "SET allocator_bulk_deallocation_flush_threshold='256KB'",  # else what a query took stays taken: 20 MB each time
    "SET autoinstall_known_extensions=false",
    "SET autoload_known_extensions=false",
    "SET python_enable_replacements=false",
)
_LOCKING = ("SET enable_external_access=false", "SET lock_configuration=true")

_PART = re.compile(r"([0-9]{1,18})([A-Za-z]*)|([A-Za-z]+)([0-9]*)")
_UTC_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?$")


def connect() -> duckdb.DuckDBPyConnection:
    """Return an in-memory database without extensions and without a view on Python's variables."""
    import duckdb  # noqa: PLC0415 - heavy

    con = duckdb.connect(":memory:")
    for setting in _OPENING:
        con.execute(setting)
    return con


def duck_said(error: Exception) -> str:
    """Return what DuckDB says of an error, without the JSON in which it wraps errors of other threads."""
    text = str(error)
    start = text.find('{"exception_type"')
    if start < 0:
        return text
    try:
        inner, end = json.JSONDecoder().raw_decode(text[start:])
        return f"{text[:start]}{inner['exception_message']}{text[start + end :]}"
    except (ValueError, KeyError):
        return text


_IDLE: list[duckdb.DuckDBPyConnection] = []


def borrow() -> duckdb.DuckDBPyConnection:
    """Return a locked, empty database; opening one costs twenty milliseconds, so they are used again."""
    with suppress(IndexError):  # another thread may have taken the last one
        return _IDLE.pop()
    con = connect()
    lock(con)
    return con


def give_back(con: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    """Empty a database and keep it for the next borrower; one that cannot be emptied is closed."""
    import duckdb  # noqa: PLC0415 - heavy

    try:
        for name in tables:
            con.execute(f"DROP TABLE IF EXISTS {quote_name(name)}")
    except duckdb.Error:
        con.close()
        return
    if len(_IDLE) < 4:
        _IDLE.append(con)
    else:
        con.close()


class LateDatabase:
    """A locked database that is made, and filled table by table, when it is first asked."""

    def __init__(self) -> None:
        self._filled: set[str] = set()
        self._connection: duckdb.DuckDBPyConnection | None = None

    def list_names(self) -> Iterable[str]:
        """Return the names of all tables."""
        raise NotImplementedError

    def fill_table(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        """Put a table with its rows into the database."""
        raise NotImplementedError

    def connection(self, tables: Iterable[str] | None = None) -> duckdb.DuckDBPyConnection:
        """Return the locked database with the named tables in it, or with all of them.

        A table is put in when it is first asked for; one without rows is there and empty.
        """
        if self._connection is None:
            self._connection = borrow()
        for name in sorted(set(self.list_names() if tables is None else tables) - self._filled):
            try:
                self.fill_table(self._connection, name)
            except BaseException:  # half a table must not reach the next borrower
                self._connection.close()
                self._connection = None
                self._filled.clear()
                raise
            self._filled.add(name)
        return self._connection

    def forget(self, table: str) -> None:
        """Take one table out of the database; it is filled again when asked for."""
        if self._connection is not None and table in self._filled:
            self._connection.execute(f"DROP TABLE {quote_name(table)}")
            self._filled.remove(table)

    def close(self) -> None:
        """Close the database; it is made again when asked for."""
        if self._connection is not None:
            give_back(self._connection, self._filled)
            self._connection = None
            self._filled.clear()


def lock(con: duckdb.DuckDBPyConnection) -> None:
    """Take away files, network and settings from a database, for good."""
    for setting in _LOCKING:
        con.execute(setting)


def quote_name(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def version_key(text: Value) -> str | None:
    """Return text that sorts as the version does, part by part; None when it is not a version.

    `6.3.10` sorts after `6.3.9`, `6.3` equals `6.3.0`; parts are parted by dot, dash, plus or
    underscore and a number comes first: `4.1.1.1-1OEM.550` is a version, `unknown` is none.
    """
    if not isinstance(text, str) or len(text) > 100 or not text.strip()[:1].isdigit():
        return None
    parts = []
    for part in re.split(r"[.\-+_]", text.strip()):
        found = _PART.fullmatch(part)
        if found is None:
            return None
        if found[1]:  # a number, perhaps with a word behind it
            parts.append(f"{int(found[1]):018d}{found[2].lower()}")
        else:
            parts.append(f"{found[3].lower()}{int(found[4] or '0'):018d}")
    while len(parts) > 1 and parts[-1] == "0" * 18:
        parts.pop()
    return ".".join(parts)


def create(con: duckdb.DuckDBPyConnection, table: Table, *, cases: bool = False) -> None:
    """Make the empty table of a declaration with its origin columns; `cases` adds the number of the case."""
    columns = {**{name: SQL_TYPES[kind] for name, kind in own_columns(table)}, **ORIGIN}
    columns |= {CASE: "INTEGER"} if cases else {}
    columns |= {name + KEY: "VARCHAR" for name, kind in own_columns(table) if kind == "version"}
    parts = []
    for name, kind in columns.items():
        parts.append(f"{quote_name(name)} {kind}")
    body = ", ".join(parts)
    con.execute(f"CREATE TABLE {quote_name(table.name)} ({body})")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one case, numbered from 0: how its nodes are named, and its number where there are several."""

    rows: Sequence[Row]
    name: Callable[[str], str]
    case: int | None = None


def insert_rows(con: duckdb.DuckDBPyConnection, table: Table, parts: Iterable[Rows]) -> None:
    """Insert rows with their origin; a value of the wrong type is left out, never guessed."""
    some: list[Rows] = []
    count = 0
    for part in parts:
        if len(part.rows) >= MANY:  # by itself: what is the same in all its rows then goes in once
            for start in range(0, len(part.rows), CHUNK):
                insert_columns(con, table.name, load_columns(table, [part], start))
            continue
        some.append(part)
        count += len(part.rows)
        if count >= CHUNK:
            insert_columns(con, table.name, load_columns(table, some))
            some = []
            count = 0
    if count:
        insert_columns(con, table.name, load_columns(table, some))


def load_columns(
    table: Table, parts: Sequence[Rows], start: int = 0
) -> dict[str, tuple[str, list[Any]]]:
    """Return rows as columns with their origin, name -> (SQL type, cells); those without any value are left out.

    A time comes as text under the type TIME, for a `try_cast(... AS TIMESTAMP)`.
    """
    rows: list[Row] = []
    names: list[str] = []
    numbers: list[int] = []
    cases: list[int | None] = []
    for part in parts:
        own = part.rows[start : start + CHUNK]
        called = {}
        for node in {row.block.node for row in own}:
            called[node] = text(part.name(node))
        rows += own
        names += [called[row.block.node] for row in own]
        numbers += range(start, start + len(own))
        cases += [part.case] * len(own)
    data: dict[str, tuple[str, list[Any]]] = {}
    for column, kind in own_columns(table):
        cells = fit_column([row.values.get(column) for row in rows], kind)
        if cells.count(None) == len(cells):
            continue
        data[column] = (_LOADED.get(kind, SQL_TYPES[kind]), cells)
        if kind == "version":
            data[column + KEY] = ("VARCHAR", [version_key(cell) for cell in cells])
    origins: dict[int, tuple[Any, ...]] = {}
    for row in rows:
        block = row.block
        if id(block) not in origins:
            taken = timestamp(block.taken)
            origins[id(block)] = text(block.node), taken, text(block.address), block.order
    data["node"] = ("VARCHAR", names)
    kinds = {"_node": "VARCHAR", "taken": "TIME", "_source": "VARCHAR", "_order": "BIGINT"}
    for place, (name, sql_type) in enumerate(kinds.items()):
        data[name] = (sql_type, [origins[id(row.block)][place] for row in rows])
    data["_line"] = ("BIGINT", [row.line for row in rows])
    data["_row"] = ("BIGINT", numbers)
    if parts[0].case is not None:
        data[CASE] = ("INTEGER", cases)
    return data


def insert_columns(
    con: duckdb.DuckDBPyConnection, table: str, data: dict[str, tuple[str, list[Any]]]
) -> None:
    """Insert columns: few cells as parameters, many as numpy arrays, which go in eight times as fast."""
    many = len(next(iter(data.values()))[1]) >= MANY
    cells: list[str] = []
    values: list[Any] = []
    arrays: dict[str, Any] = {}
    for name, (kind, column) in data.items():
        sql_type = "VARCHAR"
        if kind != "TIME":
            sql_type = kind
        if not many:
            values.append(column)
            cell = f"unnest(${len(values)}::{sql_type}[])"
        elif name != "_row" and column.count(column[0]) == len(column):
            values.append(column[0])
            cell = f"${len(values)}::{sql_type}"
        else:
            cell = add_array(arrays, name, sql_type, column)
        if kind == "TIME":
            cells.append(f"try_cast({cell} AS TIMESTAMP)")
        else:
            cells.append(cell)
    names = ", ".join(map(quote_name, data))
    statement = f"INSERT INTO {quote_name(table)} ({names}) SELECT {', '.join(cells)}"
    if not many:
        con.execute(statement, values)
        return
    con.register("_rows", arrays)
    con.execute(f"{statement} FROM _rows", values)
    con.unregister("_rows")


def add_array(arrays: dict[str, Any], name: str, sql_type: str, column: list[Any]) -> str:
    """Put a column among the arrays; return its SQL. An unknown cell has a mark: an array is of one type throughout."""
    import numpy as np  # noqa: PLC0415 - heavy

    kind, empty = _ARRAYS[sql_type]
    if None not in column:
        arrays[name] = np.array(column, dtype=kind)
        return quote_name(name)
    arrays[name] = np.array([empty if cell is None else cell for cell in column], dtype=kind)
    arrays[name + "?"] = np.array([cell is not None for cell in column])
    return f"CASE WHEN {quote_name(name + '?')} THEN {quote_name(name)} END"


# SQL type -> type of the array, and what takes the place of an unknown cell
_ARRAYS: dict[str, tuple[str, Value]] = {
    "VARCHAR": ("object", ""),
    "BIGINT": ("int64", 0),
    "INTEGER": ("int32", 0),
    "DOUBLE": ("float64", 0.0),
    "BOOLEAN": ("bool", False),
}


def plain(cell: Any) -> Value:
    """Return a numpy cell as a Python value; NaN and NaT are None, times are text."""
    if hasattr(cell, "dtype") and cell.dtype.kind == "M":
        shown = str(cell.astype("datetime64[us]"))
        if shown == "NaT":
            return None
        return shown.replace("T", " ").removesuffix(".000000")
    if hasattr(cell, "item"):
        value = cell.item()
    else:
        value = cell
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | bool):
        return value
    return None


def plain_many(array: Any, places: Sequence[int]) -> list[Value]:
    """Return some cells of a numpy column as Python values; NaN and NaT are None, times are text."""
    import numpy as np  # noqa: PLC0415 - heavy

    chosen = np.asarray(array)[np.asarray(places)]
    if chosen.dtype.kind != "M":
        return [plain(cell) for cell in chosen.tolist()]
    shown = np.datetime_as_string(chosen.astype("datetime64[us]")).tolist()
    return [
        None if cell == "NaT" else cell.replace("T", " ").removesuffix(".000000") for cell in shown
    ]


def text(value: str) -> str:
    """Return text that UTF-8 can hold."""
    with suppress(UnicodeEncodeError):
        value.encode()
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def timestamp(value: object) -> str | None:
    """Return a time as ISO text in UTC without zone sign, for a TIMESTAMP; None when it is none."""
    if not isinstance(value, str) or not value:
        return None
    if _UTC_TIME.match(value):
        return value.removesuffix("Z").replace("T", " ")
    return read_time(value)


def own_columns(table: Table) -> list[tuple[str, Kind]]:
    """Return the declared columns of a table, without those that every table has."""
    return [(column.name, column.kind) for column in table.columns if column.name not in ORIGIN]


_LOADED: dict[Kind, str] = {"time": "TIME"}


def fit_column(cells: list[Value], kind: Kind) -> list[Value]:
    """Return the cells of a column, without those of another type; a column of one type needs no look at each."""
    types = set(map(type, cells))
    if types == {type(None)}:
        return cells
    if kind == "int" and types == {int}:
        numbers = cast("list[int]", cells)
        if min(numbers) in INT64 and max(numbers) in INT64:
            return cells
    if kind == "bool" and types == {bool}:
        return cells
    if (
        kind in ("str", "version")
        and types == {str}
        and all(map(str.isascii, cast("list[str]", cells)))
    ):
        return cells
    return [fitting(cell, kind) for cell in cells]


def fitting(value: Value, kind: Kind) -> Value:
    """Return the value when it is of its column's type, else None."""
    if value is None:
        return None
    if kind == "int":
        whole = isinstance(value, int) and not isinstance(value, bool) and value in INT64
        if whole:
            return value
        return None
    if kind == "float":
        number = (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        )
        if number:
            return float(value)
        return None
    if kind == "bool":
        if isinstance(value, bool):
            return value
        return None
    if not isinstance(value, str):
        return None
    if kind == "time":
        return timestamp(value)
    return text(value)
