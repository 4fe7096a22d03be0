"""Frames of samples into DuckDB: numpy columns as they are, many small frames in one insert."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.database import CASE, CHUNK, KEY, own_columns, plain, quoted, text, timestamp, version_key
from analyzer.tables import SQL_TYPES, Frame, Table

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame with the number of its first row, the name of its node, and its case where there are several."""

    frame: Frame
    first: int
    node: str
    case: int | None = None


def insert(con: duckdb.DuckDBPyConnection, table: Table, placed: Sequence[Placed]) -> None:
    """Insert the numpy columns of frames; the rows of each are numbered on from its first.

    Small ones of the same columns and types go in together: an insert costs more than the rows of a small frame.
    """
    groups: defaultdict[tuple[str, ...], list[Placed]] = defaultdict(list)
    for one in placed:
        if len(one.frame.line):
            groups[_shape(one.frame) if len(placed) > 1 else ()].append(one)
    for shape, alike in groups.items():
        some: list[Placed] = []
        count = 0
        for one in alike:
            if some and (not shape or count >= CHUNK):
                _insert(con, table, some)
                some, count = [], 0
            some.append(one)
            count += len(one.frame.line)
        _insert(con, table, some)


def _shape(frame: Frame) -> tuple[str, ...]:
    """Return columns and types of a frame that can go in beside others of the same, () for one that cannot."""
    found = []
    for name, values in sorted(frame.columns.items()):
        kind = getattr(values, "dtype", None)
        if kind is None or (kind.kind == "O" and not set(map(type, values)) <= {str, type(None)}):
            return ()  # the database guesses the type of such a column from all its cells
        found += [name, kind.str]
    return tuple(found)


def _insert(con: duckdb.DuckDBPyConnection, table: Table, some: Sequence[Placed]) -> None:
    """Insert frames of the same columns and types."""
    import duckdb  # noqa: PLC0415 - heavy
    import numpy as np  # noqa: PLC0415 - heavy

    counts = [len(one.frame.line) for one in some]
    numbers = [np.arange(one.first, one.first + count) for one, count in zip(some, counts, strict=True)]
    arrays: dict[str, Any] = {"_line": _joined([one.frame.line for one in some]), "_row": _joined(numbers)}
    chosen = {"_line": "_line", "_row": "_row"}
    for column, kind in own_columns(table):
        if column not in some[0].frame.columns:
            continue
        values = arrays[column] = _joined([one.frame.columns[column] for one in some])
        cast = f"try_cast({quoted(column)} AS {SQL_TYPES[kind]})"
        chosen[column] = f"CASE WHEN isfinite({cast}) THEN {cast} END" if kind == "float" else cast
        if kind == "version":
            arrays[column + KEY] = np.array([version_key(plain(cell)) for cell in values], dtype=object)
            chosen[column + KEY] = quoted(column + KEY)
    constants: list[Any] = []
    for name, (written, cells) in _origins(some).items():
        if len(some) == 1:
            constants += cells
            chosen[name] = written.format(f"${len(constants)}")
        else:
            arrays[name] = np.repeat(np.array(cells, dtype=None if isinstance(cells[0], int) else object), counts)
            chosen[name] = written.format(quoted(name))
    names, selected = ", ".join(quoted(name) for name in chosen), ", ".join(chosen.values())
    sql = f"INSERT INTO {quoted(table.name)} ({names}) SELECT {selected} FROM _frame"
    try:
        _run(con, sql, arrays, constants)
    except duckdb.InvalidInputException:  # text that UTF-8 cannot hold; so rare that looking first would cost more
        _run(con, sql, {name: _writable(cells) for name, cells in arrays.items()}, constants)


def _run(con: duckdb.DuckDBPyConnection, sql: str, arrays: dict[str, Any], constants: list[Any]) -> None:
    con.register("_frame", arrays)
    try:
        con.execute(sql, constants)
    finally:
        con.unregister("_frame")


def _writable(cells: Any) -> Any:
    """Return a numpy column with text that UTF-8 can hold."""
    import numpy as np  # noqa: PLC0415 - heavy

    if cells.dtype.kind not in "OU":
        return cells
    return np.array([text(cell) if isinstance(cell, str) else cell for cell in cells.tolist()], dtype=object)


def _joined(parts: Sequence[Any]) -> Any:
    import numpy as np  # noqa: PLC0415 - heavy

    return np.asarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)


def _origins(some: Sequence[Placed]) -> dict[str, tuple[str, list[Any]]]:
    """Return the columns that are the same in all rows of a frame: how they are written, and a value for each frame."""
    blocks = [one.frame.block for one in some]
    found: dict[str, tuple[str, list[Any]]] = {
        "node": ("{}", [text(one.node) for one in some]),
        "_node": ("{}", [text(block.node) for block in blocks]),
        "_source": ("{}", [text(block.address) for block in blocks]),
        "_order": ("{}", [block.order for block in blocks]),
        "taken": ("try_cast(CAST({} AS VARCHAR) AS TIMESTAMP)", [timestamp(block.taken) for block in blocks]),
    }
    return found if some[0].case is None else found | {CASE: ("{}", [one.case for one in some])}
