"""Small tables of a stored case as lines of JSON: a Parquet file of five rows costs three milliseconds and 3 KB.

`tables.jsonl` has one line a table, in the order of names: `["esxi.vnic",5,{"name":["VARCHAR",["vmk0",…]],…}]`,
the name, the number of rows, and of each column its SQL type and its cells. A column that is NULL everywhere has
its type alone. A TIMESTAMP is ISO text in UTC without a zone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzer.archive.packs import parquet
from analyzer.archive.packs.columns import Schema
from analyzer.archive.packs.parquet import Columns
from analyzer.facts.database import CASE

if TYPE_CHECKING:
    import duckdb

MEMBER = "tables.jsonl"
ROWS = 1000  # of a table that is small
LONGEST = (
    1 << 20
)  # characters of the line of one; a longer one is Parquet, which a question can pass over
MOST = 1 << 20  # rows that are believed of a line
AT_ONCE = 20_000  # rows that go into a database with one statement
_TYPES: dict[str, set[type]] = {
    "VARCHAR": {str}, "TIMESTAMP": {str}, "INTEGER": {int}, "BIGINT": {int}, "DOUBLE": {float, int},
    "BOOLEAN": {bool}, "INTEGER[]": {list},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A table out of a line: of each column its SQL type, and its cells unless all are NULL."""

    name: str
    rows: int
    types: Schema
    cells: Columns


def table_line(name: str, schema: Schema, data: Columns) -> str | None:
    """Return a table (with rows) as a line of JSON without its end; None when it is not small."""
    rows = max(map(len, data.values()))
    if rows > ROWS:
        return None
    columns: dict[str, list[Any]] = {}
    for column, kind in schema.items():
        cells = data.get(column)
        known = cells is not None and any(cell is not None for cell in cells)
        columns[column] = [kind, [*cells]] if known and cells is not None else [kind]
    text = json.dumps(
        [name, rows, columns], ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text if len(text) <= LONGEST else None


def read_tables(data: bytes, wanted: Collection[str] | None = None) -> Iterator[SmallTable]:
    """Yield the tables of `tables.jsonl`, or those that are wanted; ValueError for what `line` does not write."""
    for text in data.decode().split("\n"):
        if text and (
            wanted is None
            or (text[2 : text.find('"', 2)] if text.startswith('["') else "") in wanted
        ):
            try:
                name, rows, columns = json.loads(text)
                types = {str(column): str(kind) for column, (kind, *_) in columns.items()}
                cells = {
                    column: values for column, (_, *some) in columns.items() for values in some
                }
            except (AttributeError, TypeError, ValueError, RecursionError) as error:
                raise ValueError(f"{MEMBER} has a line that is not a table") from error
            if (
                type(name) is not str
                or type(rows) is not int
                or not 0 < rows <= MOST
                or not {*types.values()} <= {*_TYPES}
            ):
                raise ValueError(f"{MEMBER} has a line that is not a table")
            for column, values in cells.items():
                known = (
                    set(map(type, values)) - {type(None)} if isinstance(values, list) else {object}
                )
                if len(values) != rows or not known <= _TYPES[types[column]]:
                    raise ValueError(
                        f"table {name}: its column {column} is not {rows} cells of {types[column]}"
                    )
            yield SmallTable(name, rows, types, cells)


@dataclass(slots=True)
class Gathered:
    """Rows of one table of several cases whose columns have the same types, for one statement."""

    types: Schema
    rows: int = 0
    cells: dict[str, list[Any]] = field(default_factory=lambda: {CASE: [], NUMBER: []})

    def add_rows(self, case: int, table: SmallTable) -> None:
        """Add the rows of a case."""
        for column, values in table.cells.items():
            own = self.cells.setdefault(column, [])
            own += [None] * (self.rows - len(own)) + [*values]
        self.cells[CASE] += [case] * table.rows
        self.cells[NUMBER] += range(table.rows)
        self.rows += table.rows

    def all_columns(self) -> Columns:
        """Return the columns, all of one length."""
        return {
            name: cells + [None] * (self.rows - len(cells)) for name, cells in self.cells.items()
        }

    def column_types(self) -> Schema:
        """Return their types."""
        return {CASE: "INTEGER", NUMBER: "BIGINT", **self.types}


NUMBER = "_n"  # of a row in its table


def gather_tables(some: Iterable[tuple[int, SmallTable]]) -> Iterator[Gathered]:
    """Yield small tables of one name, each with the number of its case, as few groups of rows."""
    groups: defaultdict[tuple[tuple[str, str], ...], list[tuple[int, SmallTable]]] = defaultdict(
        list
    )
    for case, table in some:
        groups[(*table.types.items(),)].append((case, table))
    for types, alike in groups.items():
        own = Gathered(dict(types))
        for case, table in alike:
            own.add_rows(case, table)
            if own.rows >= AT_ONCE:
                yield own
                own = Gathered(dict(types))
        if own.rows:
            yield own


def load_tables(
    con: duckdb.DuckDBPyConnection,
    name: str,
    schema: Schema,
    some: Sequence[tuple[int, SmallTable]],
) -> None:
    """Put small tables of many cases into a table of the columns `schema`, one of them `_case`.

    A column that a case has not is NULL, a cell that its column cannot hold too.
    """
    for group in gather_tables(some):
        others = {
            column: kind for column, kind in group.types.items() if schema.get(column, kind) != kind
        }
        parquet.insert_columns(con, name, schema, group.all_columns(), others)


def describe_difference(table: SmallTable, wanted: Mapping[str, str]) -> str:
    """Return what a table has otherwise than wanted, "" when nothing."""
    for name, kind in wanted.items():
        if name not in table.types:
            return f"it lacks the column {name}"
        if table.types[name] != kind:
            return f"its column {name} is {table.types[name]} instead of {kind}"
    return ""
