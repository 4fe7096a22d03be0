"""Stored tables of many cases as SQL, for callers with a connection of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from analyzer.archive.entry import Stored
from analyzer.archive.packs import parquet
from analyzer.archive.packs.columns import JUDGED, schema_of
from analyzer.archive.restore.reading import Reading
from analyzer.facts.database import CASE, quote_name

if TYPE_CHECKING:
    import duckdb

    from analyzer.archive.store import Archive

TOGETHER = 500  # packs whose table is taken out at once
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Relations:
    """The SQL of stored tables over some cases, and which of them may have rows."""

    sql: dict[str, str]
    held: frozenset[str]


def relation_sql(
    archive: Archive, cases: Sequence[Stored], con: duckdb.DuckDBPyConnection, table: str
) -> str:
    """Return the SQL of one stored table over some cases, see `relations`."""
    return relations_sql(archive, cases, con, [table]).sql[table]


def relations_sql(
    archive: Archive, cases: Sequence[Stored], con: duckdb.DuckDBPyConnection, tables: Iterable[str]
) -> Relations:
    """Return the SQL of stored tables over some cases: `_case`, the place in `cases`, then the columns of `schema_of`.

    Each pack is opened once, whatever number of tables is asked for. Rows of segments are read from their files each
    time the SQL is run. So a connection that is to be locked needs the folder of the archive in `allowed_directories`,
    or its caller makes a table of the SQL first. Rows of loose packs are put into temporary tables of `con` now, and
    need no file any more. A table that no case has is empty.

    Raises KeyError for a table that is not declared, GoneError when a compaction took a holder away, DamagedError.
    """
    every = sorted(set(tables))
    sql: dict[str, str] = {}
    held: set[str] = set()
    for judged in (False, True):
        own = [table for table in every if (table in JUDGED) is judged]
        if not own:
            continue
        entries = [
            (number, case.judged if judged else case.facts) for number, case in enumerate(cases)
        ]
        loose = [
            (number, entry) for number, entry in entries if entry is not None and entry.place < 0
        ]
        placed = [
            (number, entry) for number, entry in entries if entry is not None and entry.place >= 0
        ]
        with Reading(archive.objects, placed, own, con) as segments:
            sql |= {table: segments.table_sql(table) for table in own}
            held |= {table for table in own if segments.has_rows(table)}
        # Put the rows of loose packs into temporary tables; return their names, for tables that
        # have any.
        taken_out: dict[str, str] = {}
        for start in range(0, len(loose), TOGETHER):
            with (
                Reading(archive.objects, loose[start : start + TOGETHER], own, con) as packs,
                packs.explain_errors(),
            ):
                for out_table in filter(packs.has_rows, own):
                    if out_table not in taken_out:
                        taken_out[out_table] = f"_loose {next(_NUMBERS)}"
                        parquet.create_table(
                            con, taken_out[out_table], {CASE: "INTEGER", **schema_of(out_table)}
                        )
                    con.execute(
                        f"INSERT INTO {quote_name(taken_out[out_table])} {packs.table_sql(out_table)}"
                    )
        for table, name in taken_out.items():
            sql[table] = f"{sql[table]} UNION ALL SELECT * FROM {quote_name(name)}"
            held.add(table)
    return Relations(sql, frozenset(held))
