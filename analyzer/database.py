"""Rows and frames into DuckDB, and the locks on that database.

DuckDB and numpy are imported on the first call only: `--help` must not pay for them, and
pandas is not needed to put rows in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from analyzer.tables import SQL_TYPES, Frame, Kind, Row, Table, Value

if TYPE_CHECKING:
    import duckdb

CHUNK = 20_000  # rows of one insert
KEY = "#key"  # suffix of the hidden column by which versions compare
ORIGIN = {
    "node": "VARCHAR",
    "_node": "VARCHAR",
    "taken": "TIMESTAMP",
    "_source": "VARCHAR",
    "_line": "BIGINT",
    "_order": "BIGINT",
    "_row": "BIGINT",
}
_OPENING = (
    "SET threads=1",  # the same order of rows in every run
    "SET memory_limit='2GB'",
    "SET temp_directory=''",
    "SET autoinstall_known_extensions=false",
    "SET autoload_known_extensions=false",
    "SET python_enable_replacements=false",
)
_LOCKING = ("SET enable_external_access=false", "SET lock_configuration=true")

_PART = re.compile(r"([0-9]{1,18})([A-Za-z]*)|([A-Za-z]+)([0-9]*)")
_INT64 = range(-(2**63), 2**63)


def connect() -> duckdb.DuckDBPyConnection:
    """Return an in-memory database without extensions and without a view on Python's variables."""
    import duckdb  # noqa: PLC0415 - heavy

    con = duckdb.connect(":memory:")
    for setting in _OPENING:
        con.execute(setting)
    return con


_IDLE: list[duckdb.DuckDBPyConnection] = []


def borrow() -> duckdb.DuckDBPyConnection:
    """Return a locked, empty database; opening one costs twenty milliseconds, so they are used again."""
    if _IDLE:
        return _IDLE.pop()
    con = connect()
    lock(con)
    return con


def give_back(con: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    """Empty a database and keep it for the next borrower."""
    for name in tables:
        con.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
    if len(_IDLE) < 4:
        _IDLE.append(con)
    else:
        con.close()


def lock(con: duckdb.DuckDBPyConnection) -> None:
    """Take away files, network and settings from a database, for good."""
    for setting in _LOCKING:
        con.execute(setting)


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def version_key(text: Value) -> str | None:
    """Return text that sorts as the version does, part by part; None when it is no version.

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
        number, tail = (found[1], found[2]) if found[1] else (found[4] or "0", found[3])
        word = tail.lower()
        parts.append(f"{int(number):018d}{word}" if found[1] else f"{word}{int(number):018d}")
    while len(parts) > 1 and parts[-1] == "0" * 18:
        parts.pop()
    return ".".join(parts)


def create(con: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Make the empty table of a declaration with its origin columns."""
    columns = {**{name: SQL_TYPES[kind] for name, kind in _columns(table)}, **ORIGIN}
    columns |= {name + KEY: "VARCHAR" for name, kind in _columns(table) if kind == "version"}
    body = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
    con.execute(f"CREATE TABLE {quoted(table.name)} ({body})")


def insert_rows(
    con: duckdb.DuckDBPyConnection, table: Table, rows: Sequence[Row], name: Callable[[str], str]
) -> None:
    """Insert rows with their origin; a value of the wrong type is left out, never guessed."""
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        data: dict[str, tuple[str, list[Any]]] = {}
        for column, kind in _columns(table):
            cells = [_fits(row.values.get(column), kind) for row in some]
            if all(cell is None for cell in cells):
                continue
            data[column] = (_LOADED.get(kind, SQL_TYPES[kind]), cells)
            if kind == "version":
                data[column + KEY] = ("VARCHAR", [version_key(cell) for cell in cells])
        blocks = [row.block for row in some]
        data |= {
            "node": ("VARCHAR", [text(name(block.node)) for block in blocks]),
            "_node": ("VARCHAR", [text(block.node) for block in blocks]),
            "taken": ("TIME", [_time(block.taken) for block in blocks]),
            "_source": ("VARCHAR", [text(block.address) for block in blocks]),
            "_line": ("BIGINT", [row.line for row in some]),
            "_order": ("BIGINT", [block.order for block in blocks]),
            "_row": ("BIGINT", list(range(start, start + len(some)))),
        }
        _insert(con, table.name, data)


def _insert(con: duckdb.DuckDBPyConnection, table: str, data: dict[str, tuple[str, list[Any]]]) -> None:
    names = ", ".join(quoted(name) for name in data)
    cells = ", ".join(
        f"try_cast(unnest(${number}::VARCHAR[]) AS TIMESTAMP)" if kind == "TIME" else f"unnest(${number}::{kind}[])"
        for number, (kind, _) in enumerate(data.values(), 1)
    )
    con.execute(f"INSERT INTO {quoted(table)} ({names}) SELECT {cells}", [values for _, values in data.values()])


def insert_frame(con: duckdb.DuckDBPyConnection, frame: Frame, first: int, node: str) -> None:
    """Insert the numpy columns of a frame; its rows get the numbers first, first + 1, …"""
    import numpy as np  # noqa: PLC0415 - heavy

    count = len(frame.line)
    if not count:
        return
    arrays: dict[str, Any] = {"_line": np.asarray(frame.line), "_row": np.arange(first, first + count)}
    chosen = {"_line": "_line", "_row": "_row"}
    for column, kind in _columns(frame.table):
        if column not in frame.columns:
            continue
        values = frame.columns[column]
        arrays[column] = np.asarray(values)
        cast = f"try_cast({quoted(column)} AS {SQL_TYPES[kind]})"
        chosen[column] = f"CASE WHEN isfinite({cast}) THEN {cast} END" if kind == "float" else cast
        if kind == "version":
            arrays[column + KEY] = np.array([version_key(plain(cell)) for cell in values], dtype=object)
            chosen[column + KEY] = quoted(column + KEY)
    block = frame.block
    constants = {
        "node": text(node),
        "_node": text(block.node),
        "_source": text(block.address),
        "_order": block.order,
        "taken": _time(block.taken),
    }
    names = ", ".join(quoted(name) for name in (*chosen, *constants))
    cells = ", ".join((*chosen.values(), "$1", "$2", "$3", "$4", "try_cast($5 AS TIMESTAMP)"))
    con.register("_frame", arrays)
    con.execute(f"INSERT INTO {quoted(frame.table.name)} ({names}) SELECT {cells} FROM _frame", [*constants.values()])
    con.unregister("_frame")


def plain(cell: Any) -> Value:
    """Return a numpy cell as a Python value; NaN and NaT are None, times are text."""
    if hasattr(cell, "dtype") and cell.dtype.kind == "M":
        shown = str(cell.astype("datetime64[us]"))
        return None if shown == "NaT" else shown.replace("T", " ").removesuffix(".000000")
    value = cell.item() if hasattr(cell, "item") else cell
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) else None


def plain_many(array: Any, places: Sequence[int]) -> list[Value]:
    """Return some cells of a numpy column as Python values; NaN and NaT are None, times are text."""
    import numpy as np  # noqa: PLC0415 - heavy

    chosen = np.asarray(array)[np.asarray(places)]
    if chosen.dtype.kind != "M":
        return [plain(cell) for cell in chosen.tolist()]
    shown = np.datetime_as_string(chosen.astype("datetime64[us]")).tolist()
    return [None if cell == "NaT" else cell.replace("T", " ").removesuffix(".000000") for cell in shown]


def text(value: str) -> str:
    """Return text that UTF-8 can hold."""
    with suppress(UnicodeEncodeError):
        value.encode()
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def _time(value: object) -> str | None:
    """Return an ISO time without zone sign, for a TIMESTAMP in UTC."""
    return value.removesuffix("Z").replace("T", " ") if isinstance(value, str) and value else None


def _columns(table: Table) -> list[tuple[str, Kind]]:
    return [(column.name, column.kind) for column in table.columns if column.name not in ORIGIN]


_LOADED: dict[Kind, str] = {"time": "TIME"}


def _fits(value: Value, kind: Kind) -> Value:
    """Return the value when it is of its column's type, else None."""
    if value is None:
        return None
    if kind == "int":
        whole = isinstance(value, int) and not isinstance(value, bool) and value in _INT64
        return value if whole else None
    if kind == "float":
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return float(value) if number else None
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if not isinstance(value, str):
        return None
    return _time(value) if kind == "time" else text(value)
