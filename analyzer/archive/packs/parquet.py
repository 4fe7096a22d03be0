"""Writes columns of Python values as a Parquet file; the same values give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.archive.packs.columns import Schema
from analyzer.facts.database import quote_name
from analyzer.rules.language.logic import text_literal

if TYPE_CHECKING:
    import duckdb

SUFFIX = ".parquet"
Columns = Mapping[str, Sequence[Any]]  # name -> cells; times are ISO text
_MANY = 100  # cells from which it pays to look whether they are all the same
_GROUP = (
    20 * 2048
)  # rows of a large table that are in memory at once; DuckDB takes 60 * 2048 by itself
_FORM = "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"  # level 3 makes numbers of captures larger


def write_columns(
    con: duckdb.DuckDBPyConnection, path: Path, schema: Schema, data: Columns
) -> None:
    """Write columns of one length (one at least) as a Parquet file; a column not given is NULL everywhere."""
    select, values = _select_sql(schema, data)
    con.execute(f"COPY ({select}) TO {text_literal(str(path))} {_FORM}", values)


def create_table(con: duckdb.DuckDBPyConnection, name: str, schema: Schema) -> None:
    """Make an empty temporary table, for what comes in several parts."""
    columns = ", ".join(f"{quote_name(column)} {kind}" for column, kind in schema.items())
    con.execute(f"CREATE OR REPLACE TEMP TABLE {quote_name(name)} ({columns})")


def insert_columns(
    con: duckdb.DuckDBPyConnection,
    name: str,
    schema: Schema,
    data: Columns,
    kinds: Mapping[str, str] | None = None,
) -> None:
    """Put columns into a table made by `create`; `kinds` are the SQL types of cells that are of another one."""
    select, values = _select_sql(schema, data, kinds or {})
    con.execute(f"INSERT INTO {quote_name(name)} {select}", values)


def copy_query(con: duckdb.DuckDBPyConnection, path: Path, query: str) -> None:
    """Write what a query brings as a Parquet file."""
    con.execute(f"COPY ({query}) TO {text_literal(str(path))} {_FORM}")


def copy_statement(path: Path, schema: Schema, cells: Mapping[str, str]) -> str:
    """Return the statement that writes the rows of `_frame` as a Parquet file; a column not given is NULL everywhere.

    cells  the SQL of each column
    """
    selected = ", ".join(
        f"({cells.get(name, 'NULL')})::{kind} AS {quote_name(name)}"
        for name, kind in schema.items()
    )
    return f"COPY (SELECT {selected} FROM _frame) TO {text_literal(str(path))} {_FORM}"


def join_files(con: duckdb.DuckDBPyConnection, path: Path, pieces: Sequence[Path]) -> None:
    """Write Parquet files of the same columns as one, in their order."""
    read = f"FROM read_parquet([{', '.join(text_literal(str(piece)) for piece in pieces)}])"
    con.execute(
        f"COPY ({read}) TO {text_literal(str(path))} {_FORM[:-1]}, ROW_GROUP_SIZE {_GROUP})"
    )


def _select_sql(
    schema: Schema, data: Columns, kinds: Mapping[str, str] | None = None
) -> tuple[str, list[Any]]:
    cells: list[str] = []
    values: list[Any] = []
    given = [name for name in schema if data.get(name) is not None]
    alone = set()  # columns of many cells that are all the same go over as one value
    for name in given:
        column = data[name]
        is_long = schema[name] != "DOUBLE" and len(column) >= _MANY
        if is_long and column.count(column[0]) == len(column):
            alone.add(name)
    if len(alone) == len(given):
        alone.clear()  # some column must say how many rows there are
    for name, kind in schema.items():
        own_column = data.get(name)
        if own_column is None:
            cell = f"NULL::{kind}"
        else:
            values.append(own_column[0] if name in alone else own_column)
            own = (kinds or {}).get(name, kind)
            held = "VARCHAR" if own == "TIMESTAMP" else own
            cell = (
                f"${len(values)}::{held}" if name in alone else f"unnest(${len(values)}::{held}[])"
            )
            cell = f"try_cast({cell} AS {kind})" if own != kind or kind == "TIMESTAMP" else cell
        cells.append(f"{cell} AS {quote_name(name)}")
    return f"SELECT {', '.join(cells)}", values
