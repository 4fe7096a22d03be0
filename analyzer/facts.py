"""All rows of a case as DuckDB tables, each with its origin.

Facts come in row by row or as whole frames; on the first question they are put into an
in-memory database that can compute and nothing else: no files, no network, no extensions,
no Python variables, no settings. Besides its declared columns every table has `node`
(name), `_node` (key), `taken`, `_source`, `_line`, `_order` and `_row`, the number under
which `Facts.origin` finds the row again.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzer import database, parsing
from analyzer.database import quoted
from analyzer.errors import BacklineError, UsageError
from analyzer.scan.hits import LogScan
from analyzer.tables import Block, Frame, Row, Table, Value

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

QUERY_SECONDS = 60.0
GHOST = -1  # `_row` of a row that stands for what was not seen
_SHOWN = ("_source", "_line")

# Kinds of node that the tables of a product speak of, where no parser says it more closely.
PRODUCT_KINDS: dict[str, tuple[str, ...]] = {
    "esxi": ("esxi",),
    "esxtop": ("esxi",),
    "guest": ("guest",),
    "nsx": ("nsx_manager", "nsx_controller", "nsx_edge"),
    "vcenter": ("vcenter",),
}
_STATES = ("read", "unparsed", "cut")  # from good to bad


@dataclass(slots=True)
class NodeInfo:
    """One machine of the case.

    captured  UTC stamp of the capture, "" when unknown: years of log lines without one
    complete  False when its archive was cut: absence proves nothing there
    """

    key: str
    name: str
    kind: str = ""
    product: str = ""
    captured: str = ""
    complete: bool = True


@dataclass(slots=True)
class Coverage:
    """How well one table was read on one node: read, unparsed, cut, or "" for never there."""

    state: str = ""
    why: str = ""
    addresses: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a row was read: its block, its line, and the row or the place in a frame."""

    block: Block
    line: int
    row: Row | None = None
    frame: Frame | None = None
    index: int = 0


@dataclass(slots=True)
class _Store:
    table: Table
    rows: list[Row] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)  # their rows are numbered after `rows`


class Facts:
    """The facts of one case; rows, frames and log hits go in, a locked database comes out."""

    def __init__(self, tables: Mapping[str, Table] | None = None) -> None:
        self.tables: dict[str, Table] = dict(parsing.tables() if tables is None else tables)
        self.nodes: dict[str, NodeInfo] = {}
        self.scans: list[LogScan] = []
        self._stores: dict[str, _Store] = {name: _Store(table) for name, table in self.tables.items()}
        self._covers: dict[tuple[str, str], Coverage] = {}
        self._nodes_of: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._blocks_of: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        self._filled: set[str] = set()
        self._connection: duckdb.DuckDBPyConnection | None = None

    def node(self, key: str, name: str, kind: str = "", product: str = "", captured: str = "") -> NodeInfo:
        """Declare a node: `kind` is esxi, guest, nsx_manager, nsx_controller, nsx_edge, …"""
        info = self._node(key)
        info.name, info.kind = name, kind
        info.product, info.captured = product or info.product, captured or info.captured
        self._stale()
        return info

    def add(self, row: Row) -> None:
        """Take one row; its block says on which node, in which member and when."""
        store = self._store(row.table)
        store.rows.append(row)
        self._note(row.table.name, row.block, 1)

    def add_frame(self, frame: Frame) -> None:
        """Take many rows of one table as numpy columns."""
        store = self._store(frame.table)
        store.frames.append(frame)
        self._note(frame.table.name, frame.block, len(frame.line))

    def add_hits(self, scan: LogScan) -> None:
        """Take what the signature scanner found in one log (analyzer.signatures.LogScan)."""
        self.scans.append(scan)
        self.cover(scan.node, scan.table, "cut" if scan.cut else "read", scan.cut, scan.address)

    def cover(self, node_key: str, table: str, state: str, why: str = "", address: str = "") -> None:
        """Note that a table was looked at on a node: `read`, `unparsed` or `cut`; the worst state stays."""
        if state not in _STATES:
            raise ValueError(f"coverage state {state!r}; known are {', '.join(_STATES)}")
        self._node(node_key)
        known = self._covers.setdefault((node_key, table), Coverage())
        if known.state == "" or _STATES.index(state) > _STATES.index(known.state):
            known.state, known.why = state, why
        if address and address not in known.addresses:
            known.addresses.append(address)

    def incomplete(self, node_key: str) -> None:
        """Note that the archive of a node ended early or was damaged: absence proves nothing there."""
        self._node(node_key).complete = False

    def coverage(self, node_key: str, table: str) -> Coverage:
        """Return how well a table was read on a node; rows without a word count as read."""
        known = self._covers.get((node_key, table))
        if known is None:
            return Coverage("read" if self._nodes_of[table].get(node_key) else "")
        return known

    def lossy(self, node_key: str, table: str) -> bool:
        """Tell whether rows of a table may be missing on a node: it was cut, not understood, or the archive was."""
        state = self.coverage(node_key, table).state
        return state in ("cut", "unparsed") or not self._node(node_key).complete

    def count(self, table: str, node_key: str | None = None) -> int:
        """Return the number of rows of a table, in the case or on one node."""
        counts = self._nodes_of[table]
        return sum(counts.values()) if node_key is None else counts.get(node_key, 0)

    def nodes_with(self, table: str) -> list[str]:
        """Return the keys of the nodes that have rows or coverage of a table, in order."""
        covered = {key for key, name in self._covers if name == table}
        return sorted(covered | {key for key, count in self._nodes_of[table].items() if count})

    def nodes_of_product(self, product: str) -> list[str]:
        """Return the keys of the nodes that a product's tables speak of: by kind, rows or coverage."""
        kinds = PRODUCT_KINDS.get(product, (product,))
        names = [name for name in self.tables if name.startswith(product + ".")]
        found = {node.key for node in self.nodes.values() if node.kind in kinds}
        return sorted(found.union(*(self.nodes_with(name) for name in names)))

    def single_block(self, table: str) -> bool:
        """Tell whether all rows of a table come from one place, so that nothing can stand twice."""
        return len(self._blocks_of[table]) <= 1

    def has_frames(self, table: str) -> bool:
        """Tell whether a table holds samples (frames) rather than objects."""
        store = self._stores.get(table)
        return bool(store and store.frames)

    def origin(self, table: str, row: int) -> Origin:
        """Return where row number `_row` of a table was read."""
        store = self._stores[table]
        if row < len(store.rows):
            found = store.rows[row]
            return Origin(found.block, found.line, row=found)
        for first, frame in self._placed(store):
            if first <= row < first + len(frame.line):
                return Origin(frame.block, int(frame.line[row - first]), frame=frame, index=row - first)
        raise IndexError(f"{table} has no row {row}")

    def value(self, table: str, row: int, column: str) -> Value:
        """Return the value of one cell, or None when it is unknown."""
        found = self.origin(table, row)
        if column == "node":
            return self.name(found.block.node)
        if column == "taken":
            return found.block.taken or None
        if found.row is not None:
            return found.row.values.get(column)
        assert found.frame is not None
        values = found.frame.columns.get(column)
        return None if values is None else database.plain(values[found.index])

    def values(self, table: str, rows: Sequence[int], column: str) -> list[Value]:
        """Return the cells of one column for many rows, in their order."""
        store = self._stores[table]
        count = len(store.rows)
        found: dict[int, Value] = {row: self.value(table, row, column) for row in rows if row < count}
        for first, frame in self._placed(store):
            own = [row for row in rows if first <= row < first + len(frame.line)]
            if own and column in frame.columns:
                places = [row - first for row in own]
                found.update(zip(own, database.plain_many(frame.columns[column], places), strict=True))
        return [found.get(row) for row in rows]

    def name(self, node_key: str) -> str:
        """Return the name of a node."""
        info = self.nodes.get(node_key)
        return info.name if info else node_key

    def frame(self, table: str) -> pd.DataFrame:
        """Return a table as a pandas frame with its origin columns, in the order of the case."""
        if table not in self.tables:
            raise UsageError(f"there is no table {table}", do="`backline tables` lists them")
        wanted = ["node", *(column.name for column in self.tables[table].columns), "taken", *_SHOWN]
        names = ", ".join(quoted(name) for name in dict.fromkeys(wanted))
        order = "node, _order, _line, _row"
        return self.connection([table]).execute(f"SELECT {names} FROM {quoted(table)} ORDER BY {order}").df()

    def connection(self, tables: Iterable[str] | None = None) -> duckdb.DuckDBPyConnection:
        """Return the locked database with the named tables in it, or with all of them.

        A table is put in when it is first asked for; one without rows is there and empty.
        """
        if self._connection is None:
            self._connection = database.borrow()
        for name in sorted(set(self._stores if tables is None else tables) - self._filled):
            self._fill(self._connection, self._stores[name])
            self._filled.add(name)
        return self._connection

    def ask(self, tables: Iterable[str], sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the named tables; it is stopped after `QUERY_SECONDS`."""
        import duckdb  # noqa: PLC0415 - heavy

        con = self.connection(tables)
        clock = threading.Timer(QUERY_SECONDS, con.interrupt)
        clock.start()
        try:
            return con.execute(sql).fetchall()
        except duckdb.InterruptException:
            raise BacklineError(f"the query was stopped after {QUERY_SECONDS} seconds") from None
        finally:
            clock.cancel()

    def _fill(self, con: duckdb.DuckDBPyConnection, store: _Store) -> None:
        database.create(con, store.table)
        database.insert_rows(con, store.table, store.rows, self.name)
        for first, frame in self._placed(store):
            database.insert_frame(con, frame, first, self.name(frame.block.node))

    def close(self) -> None:
        """Close the database; it is made anew when asked again."""
        self._stale()

    @staticmethod
    def _placed(store: _Store) -> Iterator[tuple[int, Frame]]:
        first = len(store.rows)
        for frame in store.frames:
            yield first, frame
            first += len(frame.line)

    def _node(self, key: str) -> NodeInfo:
        if key not in self.nodes:
            self.nodes[key] = NodeInfo(key, key)
        return self.nodes[key]

    def _store(self, table: Table) -> _Store:
        if table.name not in self._stores:
            self.tables[table.name] = table
            self._stores[table.name] = _Store(table)
        return self._stores[table.name]

    def _note(self, table: str, block: Block, count: int) -> None:
        self._node(block.node)
        counts = self._nodes_of[table]
        counts[block.node] = counts.get(block.node, 0) + count
        self._blocks_of[table].add((block.address, block.order))
        self._stale()

    def _stale(self) -> None:
        if self._connection is not None:
            database.give_back(self._connection, self._filled)
            self._connection = None
            self._filled.clear()
