"""The facts of several cases side by side, so that one query asks all of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from analyzer.artefacts.tables import Row, Table
from analyzer.facts import Facts, database, frames
from analyzer.facts.database import CASE, quote_name
from analyzer.facts.frames import PlacedFrame

if TYPE_CHECKING:
    import duckdb


class Cases(database.LateDatabase):
    """Several cases side by side in one database: each keeps its own facts, their rows share the tables.

    Every table has a column `_case` more, the number of the case; `_row` is the row's number
    in the facts of its own case.
    """

    def __init__(self, cases: Mapping[str, Facts]) -> None:
        super().__init__()
        self.cases = dict(cases)
        self.numbers = {name: number for number, name in enumerate(self.cases)}

    def list_names(self) -> Iterable[str]:
        return dict.fromkeys(name for facts in self.cases.values() for name in facts.tables)

    def fill_table(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        there = [(name, facts) for name, facts in self.cases.items() if table in facts.tables]
        declared = there[0][1].tables[table]
        database.create(con, declared, cases=True)
        parts: list[database.Rows] = []
        large: list[database.Rows] = []
        copies: list[tuple[int, int]] = []
        placed: list[PlacedFrame] = []
        for name, facts in there:
            if not facts.count(table) and declared.given is None:
                continue
            number, store = self.numbers[name], facts.store(table)
            many = len(store.rows) >= database.MANY
            like = (
                next((part for part in large if _alike(part, store.rows, facts)), None)
                if many
                else None
            )
            if like is not None and like.case is not None:
                copies.append((like.case, number))
            elif store.rows:
                parts.append(database.Rows(store.rows, facts.name, number))
                large += parts[-1:] if many else []
            for first, frame in store.number_frames():
                placed.append(PlacedFrame(frame, first, facts.name(frame.block.node), number))
        database.insert_rows(con, declared, parts)
        if copies:
            _copy_rows(con, declared, copies)
        frames.insert(con, declared, placed)


def _copy_rows(
    con: duckdb.DuckDBPyConnection, table: Table, pairs: Sequence[tuple[int, int]]
) -> None:
    """Put the rows of one case in once more for another: (case, other case)."""
    values = ", ".join(f"({one}, {other})" for one, other in pairs)
    con.execute(
        f"INSERT INTO {quote_name(table.name)} SELECT t.* REPLACE (CAST(c.other AS INTEGER) AS {CASE}) "
        f"FROM {quote_name(table.name)} t JOIN (VALUES {values}) c(one, other) ON t.{CASE} = c.one"
    )


def _alike(part: database.Rows, rows: Sequence[Row], facts: Facts) -> bool:
    """Tell whether a case has the very same rows, under the same names of nodes, as one before it."""
    if len(part.rows) != len(rows) or part.rows[0] is not rows[0]:
        return False
    nodes = {row.block.node for row in rows}
    return all(map(operator.is_, part.rows, rows)) and all(
        part.name(node) == facts.name(node) for node in nodes
    )
