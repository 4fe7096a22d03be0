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
    quote_name,
    text,
    timestamp,
    version_key,
)

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class PlacedFrame:
    """A frame with the number of its first row, the name of its node, and its case where there are several."""

    frame: Frame
    first: int
    node: str
    case: int | None = None


VIEWED = 20_000  # rows of samples from which they are left where they are
_REST, _OBJECTS, _MOMENTS = "#rest", "#objects", "#moments"


def name_rest(table: Table) -> Table:
    """Return the table that holds the rows of a table that are no samples, where those are viewed."""
    return replace(table, name=table.name + _REST)


def choose_viewed(table: Table, placed: Sequence[PlacedFrame]) -> list[PlacedFrame]:
    """Return the frames that a view shows better than a table would hold them; none where they are few."""
    own = []
    for one in placed:
        if isinstance(one.frame.columns, SampleColumns) and len(one.frame.line):
            own.append(one)
    few = sum(len(one.frame.line) for one in own) < VIEWED
    if few or any(kind == "version" for _, kind in own_columns(table)):
        return []
    return own


def create_view(
    con: duckdb.DuckDBPyConnection, table: Table, placed: Sequence[PlacedFrame]
) -> list[str]:
    """Make the view of a table: what `name_rest` holds, and the samples of frames, whose numbers are not copied.

    Returns the names under which their arrays are known to the database, for `drop_view`.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    captures = group_captures(placed)
    first = get_samples(captures[0][0])
    objects = pick_columns(table, _OBJECTS, first.names)
    moments = pick_columns(table, _MOMENTS, first.moments)
    for part in (objects, moments):
        create(con, part)
    branches: list[str] = []
    names: list[str] = []
    object_count = moment_count = 0
    for some in captures:
        columns = get_samples(some[0])
        block = some[0].frame.block
        named = Frame(objects, columns.names, np.zeros(columns.objects, dtype=np.int64), block)
        insert_alike(con, objects, [PlacedFrame(named, object_count, some[0].node)])
        times = {
            name: join_arrays([get_samples(one).moments[name] for one in some])
            for name in columns.moments
        }
        timed = Frame(moments, times, join_arrays([one.frame.line.numbers for one in some]), block)
        insert_alike(con, moments, [PlacedFrame(timed, moment_count, some[0].node)])
        arrays: dict[str, Any] = {
            "_at": np.arange(sum(len(one.frame.line) for one in some), dtype=np.int32)
        }
        cells = [
            f"{some[0].first}::BIGINT + _at AS _row",
            f"{object_count}::BIGINT + _at % {columns.objects} AS _object",
        ]
        cells.append(f"{moment_count}::BIGINT + _at // {columns.objects} AS _moment")
        for name in columns.numbers:
            parts = [get_samples(one).numbers[name] for one in some]
            whole = None
            if None not in parts:
                whole = join_numbers([part for part in parts if part is not None])
            arrays |= {} if whole is None else {name: whole.plain()}
            cells.append(
                f"{'NULL::DOUBLE' if whole is None else whole.sql(quote_name(name))} AS {quote_name(name)}"
            )
        names.append(f"{table.name}#{len(names)}")
        con.register(names[-1], arrays)
        branches.append(f"SELECT {', '.join(cells)} FROM {quote_name(names[-1])}")
        object_count += columns.objects
        moment_count += len(timed.line)
    con.execute(write_view(table, first, branches))
    return names


def group_captures(placed: Sequence[PlacedFrame]) -> list[list[PlacedFrame]]:
    """Return frames by capture: those of the same objects and of one origin, whose rows are numbered on."""
    found: list[list[PlacedFrame]] = []
    for one in placed:
        last = None
        if found:
            last = found[-1][-1]
        alike = (
            last is not None
            and get_samples(last).names is get_samples(one).names
            and last.frame.block is one.frame.block
        )
        if last is not None and alike and last.first + len(last.frame.line) == one.first:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def get_samples(one: PlacedFrame) -> SampleColumns:
    """Return the columns of a frame of samples."""
    assert isinstance(one.frame.columns, SampleColumns)
    return one.frame.columns


def pick_columns(table: Table, suffix: str, names: Iterable[str]) -> Table:
    """Return the table of some of the columns of a table."""
    columns = {column.name: column for column in table.columns}
    return replace(table, name=table.name + suffix, columns=tuple(columns[name] for name in names))


def write_view(table: Table, columns: SampleColumns, branches: Sequence[str]) -> str:
    """Return the SQL of a view over the numbers of frames, with what names their objects and moments."""
    shown = [f"o.{quote_name(name)}" for name in columns.names]
    shown += [f"m.{quote_name(name)}" for name in columns.moments]
    shown += [f"v.{quote_name(name)}" for name in columns.numbers]
    shown += ["o.node", "o._node", "o.taken", "o._source", "o._order", "m._line", "v._row"]
    return (
        f"CREATE VIEW {quote_name(table.name)} AS SELECT * FROM {quote_name(table.name + _REST)} UNION ALL BY NAME "
        f"SELECT {', '.join(shown)} FROM ({' UNION ALL '.join(branches)}) v "
        f"JOIN {quote_name(table.name + _OBJECTS)} o ON o._row = v._object "
        f"JOIN {quote_name(table.name + _MOMENTS)} m ON m._row = v._moment"
    )


def drop_view(con: duckdb.DuckDBPyConnection, table: str, names: Sequence[str]) -> None:
    """Take a view, what it is made of and its arrays out of the database."""
    con.execute(f"DROP VIEW IF EXISTS {quote_name(table)}")
    for part in (_REST, _OBJECTS, _MOMENTS):
        con.execute(f"DROP TABLE IF EXISTS {quote_name(table + part)}")
    for name in names:
        con.unregister(name)


def insert(con: duckdb.DuckDBPyConnection, table: Table, placed: Sequence[PlacedFrame]) -> None:
    """Insert the numpy columns of frames; the rows of each are numbered on from its first.

    Small ones of the same columns and types go in together: an insert costs more than the rows of a small frame.
    """
    groups: defaultdict[tuple[str, ...], list[PlacedFrame]] = defaultdict(list)
    for one in placed:
        if len(one.frame.line):
            groups[describe_shape(one.frame) if len(placed) > 1 else ()].append(one)
    for shape, alike in groups.items():
        some: list[PlacedFrame] = []
        count = 0
        for one in alike:
            if some and (not shape or count >= CHUNK):
                insert_alike(con, table, some)
                some = []
                count = 0
            some.append(one)
            count += len(one.frame.line)
        insert_alike(con, table, some)


def describe_shape(frame: Frame) -> tuple[str, ...]:
    """Return columns and types of a frame that can go in with others of the same, () for one that cannot."""
    found = []
    for name, values in sorted(frame.columns.items()):
        kind = getattr(values, "dtype", None)
        if kind is None or (kind.kind == "O" and not set(map(type, values)) <= {str, type(None)}):
            return ()  # the database guesses the type of such a column from all its cells
        found += [name, kind.str]
    return tuple(found)


def are_alike(placed: Sequence[PlacedFrame]) -> bool:
    """Say whether frames, one at least, are of the same columns and types, so that `ask` can take them at once."""
    if len(placed) == 1:
        return True
    return len({describe_shape(one.frame) or id(one) for one in placed}) == 1


def insert_alike(con: duckdb.DuckDBPyConnection, table: Table, some: Sequence[PlacedFrame]) -> None:
    """Insert frames of the same columns and types."""

    def sql(cells: Mapping[str, str]) -> str:
        names = ", ".join(quote_name(name) for name in cells)
        selected = ", ".join(cells.values())
        return f"INSERT INTO {quote_name(table.name)} ({names}) SELECT {selected} FROM _frame"

    ask(con, table, some, sql)


def ask(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    some: Sequence[PlacedFrame],
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
    numbers = []
    for one, count in zip(some, counts, strict=True):
        numbers.append(np.arange(one.first, one.first + count))
    arrays: dict[str, Any] = {
        "_line": join_arrays([one.frame.line for one in some]),
        "_row": join_arrays(numbers),
    }
    chosen = {"_line": "_line", "_row": "_row"} | write_cells(table, some, arrays)
    constants: list[Any] = []
    origins = {name: ("{}", [*numbers]) for name, numbers in own.items()}
    for name, (written, cells) in (list_origins(some) | origins).items():
        if len(some) == 1:
            constants += cells
            chosen[name] = written.format(f"${len(constants)}")
        else:
            arrays[name] = np.repeat(
                np.array(cells, dtype=None if isinstance(cells[0], int) else object), counts
            )
            chosen[name] = written.format(quote_name(name))
    statement = sql(chosen)
    try:
        run_statement(con, statement, arrays, constants)
    except (
        duckdb.InvalidInputException
    ):  # text that UTF-8 cannot hold; so rare that looking first would cost more
        run_statement(
            con,
            statement,
            {name: make_writable(cells) for name, cells in arrays.items()},
            constants,
        )


def write_cells(
    table: Table, some: Sequence[PlacedFrame], arrays: dict[str, Any]
) -> dict[str, str]:
    """Return the SQL of each column of a table that the frames have, and put their cells into the arrays."""
    import numpy as np  # noqa: PLC0415 - heavy

    chosen = {}
    for column, kind in own_columns(table):
        if column not in some[0].frame.columns:
            continue
        values = arrays[column] = join_arrays([one.frame.columns[column] for one in some])
        cast = f"try_cast({quote_name(column)} AS {SQL_TYPES[kind]})"
        chosen[column] = f"CASE WHEN isfinite({cast}) THEN {cast} END" if kind == "float" else cast
        if kind == "version":
            arrays[column + KEY] = np.array(
                [version_key(plain(cell)) for cell in values], dtype=object
            )
            chosen[column + KEY] = quote_name(column + KEY)
    return chosen


def run_statement(
    con: duckdb.DuckDBPyConnection, sql: str, arrays: dict[str, Any], constants: list[Any]
) -> None:
    """Run a statement over arrays, which are in `_frame`."""
    con.register("_frame", arrays)
    try:
        con.execute(sql, constants)
    finally:
        con.unregister("_frame")


def make_writable(cells: Any) -> Any:
    """Return a numpy column with text that UTF-8 can hold."""
    import numpy as np  # noqa: PLC0415 - heavy

    if cells.dtype.kind not in "OU":
        return cells
    return np.array(
        [text(cell) if isinstance(cell, str) else cell for cell in cells.tolist()], dtype=object
    )


def join_arrays(parts: Sequence[Any]) -> Any:
    """Return arrays as one."""
    import numpy as np  # noqa: PLC0415 - heavy

    if len(parts) == 1:
        return np.asarray(parts[0])
    return np.concatenate(parts)


def list_origins(some: Sequence[PlacedFrame]) -> dict[str, tuple[str, list[Any]]]:
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
    if some[0].case is None:
        return found
    return found | {CASE: ("{}", [one.case for one in some])}
