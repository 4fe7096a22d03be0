"""Frames of samples into DuckDB: small ones in one insert, large ones as a view of the arrays that hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from analyzer.artefacts.samples import SampleColumns, join_numbers
from analyzer.artefacts.tables import SQL_TYPES, Frame, Table
from analyzer.facts.database import (
    CASE,
    CHUNK,
    KEY,
    create,
    own_columns,
    plain,
    quoted,
    text,
    timestamp,
    version_key,
)

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame with the number of its first row, the name of its node, and its case where there are several."""

    frame: Frame
    first: int
    node: str
    case: int | None = None


VIEWED = 20_000  # rows of samples from which they are left where they are
_REST, _OBJECTS, _MOMENTS = "#rest", "#objects", "#moments"


def rest_of(table: Table) -> Table:
    """Return the table that holds the rows of a table beside its samples, where those are viewed."""
    return replace(table, name=table.name + _REST)


def viewed(table: Table, placed: Sequence[Placed]) -> list[Placed]:
    """Return the frames that a view shows better than a table would hold them; none where they are few."""
    own = [
        one
        for one in placed
        if isinstance(one.frame.columns, SampleColumns) and len(one.frame.line)
    ]
    few = sum(len(one.frame.line) for one in own) < VIEWED
    return [] if few or any(kind == "version" for _, kind in own_columns(table)) else own


def view(con: duckdb.DuckDBPyConnection, table: Table, placed: Sequence[Placed]) -> list[str]:
    """Make the view of a table: what `rest_of` holds, and the samples of frames, whose numbers are not copied.

    Returns the names under which their arrays are known to the database, for `unview`.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    captures = _captures(placed)
    first = _columns(captures[0][0])
    objects, moments = _part(table, _OBJECTS, first.names), _part(table, _MOMENTS, first.moments)
    for part in (objects, moments):
        create(con, part)
    branches: list[str] = []
    names: list[str] = []
    object_count = moment_count = 0
    for some in captures:
        columns, block = _columns(some[0]), some[0].frame.block
        named = Frame(objects, columns.names, np.zeros(columns.objects, dtype=np.int64), block)
        _insert(con, objects, [Placed(named, object_count, some[0].node)])
        times = {
            name: _joined([_columns(one).moments[name] for one in some]) for name in columns.moments
        }
        timed = Frame(moments, times, _joined([one.frame.line.numbers for one in some]), block)
        _insert(con, moments, [Placed(timed, moment_count, some[0].node)])
        arrays: dict[str, Any] = {
            "_at": np.arange(sum(len(one.frame.line) for one in some), dtype=np.int32)
        }
        cells = [
            f"{some[0].first}::BIGINT + _at AS _row",
            f"{object_count}::BIGINT + _at % {columns.objects} AS _object",
        ]
        cells.append(f"{moment_count}::BIGINT + _at // {columns.objects} AS _moment")
        for name in columns.numbers:
            parts = [_columns(one).numbers[name] for one in some]
            whole = (
                join_numbers([part for part in parts if part is not None])
                if None not in parts
                else None
            )
            arrays |= {} if whole is None else {name: whole.plain()}
            cells.append(
                f"{'NULL::DOUBLE' if whole is None else whole.sql(quoted(name))} AS {quoted(name)}"
            )
        names.append(f"{table.name}#{len(names)}")
        con.register(names[-1], arrays)
        branches.append(f"SELECT {', '.join(cells)} FROM {quoted(names[-1])}")
        object_count += columns.objects
        moment_count += len(timed.line)
    con.execute(_view(table, first, branches))
    return names


def _captures(placed: Sequence[Placed]) -> list[list[Placed]]:
    """Return frames by capture: those of the same objects and of one origin, whose rows are numbered on."""
    found: list[list[Placed]] = []
    for one in placed:
        last = found[-1][-1] if found else None
        alike = (
            last is not None
            and _columns(last).names is _columns(one).names
            and last.frame.block is one.frame.block
        )
        if last is not None and alike and last.first + len(last.frame.line) == one.first:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _columns(one: Placed) -> SampleColumns:
    assert isinstance(one.frame.columns, SampleColumns)
    return one.frame.columns


def _part(table: Table, suffix: str, names: Iterable[str]) -> Table:
    """Return the table of some of the columns of a table."""
    columns = {column.name: column for column in table.columns}
    return replace(table, name=table.name + suffix, columns=tuple(columns[name] for name in names))


def _view(table: Table, columns: SampleColumns, branches: Sequence[str]) -> str:
    """Return the SQL of a view over the numbers of frames, with what names their objects and moments beside them."""
    shown = [f"o.{quoted(name)}" for name in columns.names]
    shown += [f"m.{quoted(name)}" for name in columns.moments]
    shown += [f"v.{quoted(name)}" for name in columns.numbers]
    shown += ["o.node", "o._node", "o.taken", "o._source", "o._order", "m._line", "v._row"]
    return (
        f"CREATE VIEW {quoted(table.name)} AS SELECT * FROM {quoted(table.name + _REST)} UNION ALL BY NAME "
        f"SELECT {', '.join(shown)} FROM ({' UNION ALL '.join(branches)}) v "
        f"JOIN {quoted(table.name + _OBJECTS)} o ON o._row = v._object "
        f"JOIN {quoted(table.name + _MOMENTS)} m ON m._row = v._moment"
    )


def unview(con: duckdb.DuckDBPyConnection, table: str, names: Sequence[str]) -> None:
    """Take a view, what it is made of and its arrays out of the database."""
    con.execute(f"DROP VIEW IF EXISTS {quoted(table)}")
    for part in (_REST, _OBJECTS, _MOMENTS):
        con.execute(f"DROP TABLE IF EXISTS {quoted(table + part)}")
    for name in names:
        con.unregister(name)


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


def are_alike(placed: Sequence[Placed]) -> bool:
    """Tell whether frames, one at least, are of the same columns and types, so that `ask` can take them at once."""
    return len(placed) == 1 or len({_shape(one.frame) or id(one) for one in placed}) == 1


def _insert(con: duckdb.DuckDBPyConnection, table: Table, some: Sequence[Placed]) -> None:
    """Insert frames of the same columns and types."""

    def sql(cells: Mapping[str, str]) -> str:
        names, selected = ", ".join(quoted(name) for name in cells), ", ".join(cells.values())
        return f"INSERT INTO {quoted(table.name)} ({names}) SELECT {selected} FROM _frame"

    ask(con, table, some, sql)


def ask(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    some: Sequence[Placed],
    sql: Callable[[Mapping[str, str]], str],
    own: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> None:
    """Run a statement over the rows of frames of the same columns and types, without a table of them.

    sql  makes the statement from the SQL of each column, by its name; the rows are in `_frame`
    own  further columns: a number for each frame
    """
    import duckdb  # noqa: PLC0415 - heavy
    import numpy as np  # noqa: PLC0415 - heavy

    counts = [len(one.frame.line) for one in some]
    numbers = [
        np.arange(one.first, one.first + count) for one, count in zip(some, counts, strict=True)
    ]
    arrays: dict[str, Any] = {
        "_line": _joined([one.frame.line for one in some]),
        "_row": _joined(numbers),
    }
    chosen = {"_line": "_line", "_row": "_row"} | _own_cells(table, some, arrays)
    constants: list[Any] = []
    origins = {name: ("{}", [*numbers]) for name, numbers in own.items()}
    for name, (written, cells) in (_origins(some) | origins).items():
        if len(some) == 1:
            constants += cells
            chosen[name] = written.format(f"${len(constants)}")
        else:
            arrays[name] = np.repeat(
                np.array(cells, dtype=None if isinstance(cells[0], int) else object), counts
            )
            chosen[name] = written.format(quoted(name))
    statement = sql(chosen)
    try:
        _run(con, statement, arrays, constants)
    except (
        duckdb.InvalidInputException
    ):  # text that UTF-8 cannot hold; so rare that looking first would cost more
        _run(con, statement, {name: _writable(cells) for name, cells in arrays.items()}, constants)


def _own_cells(table: Table, some: Sequence[Placed], arrays: dict[str, Any]) -> dict[str, str]:
    """Return the SQL of each column of a table that the frames have, and put their cells into the arrays."""
    import numpy as np  # noqa: PLC0415 - heavy

    chosen = {}
    for column, kind in own_columns(table):
        if column not in some[0].frame.columns:
            continue
        values = arrays[column] = _joined([one.frame.columns[column] for one in some])
        cast = f"try_cast({quoted(column)} AS {SQL_TYPES[kind]})"
        chosen[column] = f"CASE WHEN isfinite({cast}) THEN {cast} END" if kind == "float" else cast
        if kind == "version":
            arrays[column + KEY] = np.array(
                [version_key(plain(cell)) for cell in values], dtype=object
            )
            chosen[column + KEY] = quoted(column + KEY)
    return chosen


def _run(
    con: duckdb.DuckDBPyConnection, sql: str, arrays: dict[str, Any], constants: list[Any]
) -> None:
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
    return np.array(
        [text(cell) if isinstance(cell, str) else cell for cell in cells.tolist()], dtype=object
    )


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
        "taken": (
            "try_cast(CAST({} AS VARCHAR) AS TIMESTAMP)",
            [timestamp(block.taken) for block in blocks],
        ),
    }
    return found if some[0].case is None else found | {CASE: ("{}", [one.case for one in some])}
