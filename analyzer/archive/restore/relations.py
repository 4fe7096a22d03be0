"""One stored table of many cases as SQL, for callers with a connection of their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from analyzer.archive.entry import Stored
from analyzer.archive.packs import parquet
from analyzer.archive.packs.columns import JUDGED, schema_of
from analyzer.archive.restore.reading import Reading
from analyzer.facts.database import CASE, quoted

if TYPE_CHECKING:
    import duckdb

    from analyzer.archive.store import Archive

TOGETHER = 500  # packs whose table is taken out at once
_NUMBERS = count()


def relation(archive: Archive, cases: Sequence[Stored], con: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return the SQL of a stored table over some cases: `_case`, the place in `cases`, then the columns of `schema_of`.

    Rows of segments are read from their files each time the SQL is run. So a connection that is to be locked needs
    the folder of the archive in `allowed_directories`, or its caller makes a table of the SQL first. Rows of loose
    packs are put into a temporary table of `con` now, and need no file any more. A table that no case has is empty.

    Raises KeyError for a table that is not declared, GoneError when a compaction took a holder away, DamagedError.
    """
    held = [(number, case.judged if table in JUDGED else case.facts) for number, case in enumerate(cases)]
    loose = [(number, entry) for number, entry in held if entry is not None and entry.place < 0]
    placed = [(number, entry) for number, entry in held if entry is not None and entry.place >= 0]
    with Reading(archive.objects, placed, [table], con) as segments:
        sql = segments.sql(table)
    if not loose:
        return sql
    name = f"_loose {next(_NUMBERS)}"
    parquet.create(con, name, {CASE: "INTEGER", **schema_of(table)})
    for start in range(0, len(loose), TOGETHER):
        with Reading(archive.objects, loose[start : start + TOGETHER], [table], con) as packs, packs.asking():
            con.execute(f"INSERT INTO {quoted(name)} {packs.sql(table)}")
    return f"{sql} UNION ALL SELECT * FROM {quoted(name)}"
