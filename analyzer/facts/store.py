"""All rows of a case as DuckDB tables, each with its origin.

Facts come in row by row or as whole frames; on the first question they are put into an
in-memory database that can compute and nothing else: no files, no network, no extensions,
no Python variables, no settings. Besides its declared columns every table has `node`
(name), `_node` (key), `taken`, `_source`, `_line`, `_order` and `_row`, the number under
which `Facts.origin` finds the row again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Frame, Row, Table, Value
from analyzer.facts import database, frames
from analyzer.facts.database import quote_name
from analyzer.facts.frames import PlacedFrame
from analyzer.facts.records import (
    LOSSY,
    PRODUCT_KINDS,
    PRODUCT_VIBS,
    Coverage,
    NodeInfo,
    Origin,
    SharedRows,
    Store,
)
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import LogScan

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

UNSEEN_ROW = -1  # `_row` of a row in the place of what was not seen
_SHOWN = ("_source", "_line")
_VIB = "esxi.vib"

# The worst stays, and an excerpt next to the log itself takes nothing from it.
_STATES = ("excerpt", "read", "unparsed", "cut")


class Facts(database.LateDatabase):
    """The facts of one case; rows, frames and log hits go in, a locked database comes out.

    seconds  that judging one rule may take
    """

    seconds: float = Limits().rule_seconds

    def __init__(self, tables: Mapping[str, Table] | None = None) -> None:
        super().__init__()
        self.tables: dict[str, Table] = dict(parsing.tables() if tables is None else tables)
        self.nodes: dict[str, NodeInfo] = {}
        self.scans: list[LogScan] = []
        # Tables as the evaluator has read them.
        self.held: dict[str, object] = {}
        # Messages of logs as their parsers read them: cells by table, place and lines.
        self.parsed_lines: dict[tuple[object, ...], Mapping[str, Value] | None] = {}
        # Chains that were made -> what of their sources they were made of.
        self.chains: dict[str, Hashable] = {}
        self._stores: dict[str, Store] = {}
        self._covers: dict[tuple[str, str], Coverage] = {}  # node, table
        self._out_of_reach: list[Coverage] = []
        self._covered: defaultdict[str, set[str]] = defaultdict(set)  # table -> nodes
        self._nodes_of: defaultdict[str, dict[str, int]] = defaultdict(
            dict
        )  # table -> rows by node
        self._blocks_of: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        # Tables that are views of arrays, and the names of those.
        self._views: dict[str, list[str]] = {}
        # Node -> tables whose rows the archive kept back.
        self._left_out: dict[str, frozenset[str]] = {}
        # Answers that are asked for by every rule.
        self._scans_of: dict[str, list[LogScan]] = {}
        self._scans_on: dict[tuple[str, str], list[LogScan]] = {}  # by table and node
        self._indexed = 0  # scans that `_scans_of` knows
        self._nodes_with: dict[str, list[str]] = {}
        self._spoken_of: dict[str, set[str]] = {}  # product -> nodes
        self._vibs: set[tuple[str, str]] | None = None  # nodes with VIBs of a product
        self._heard: set[str] | None = None  # signatures of which scans may have lines

    def node(
        self, key: str, name: str, kind: str = "", product: str = "", captured: str = ""
    ) -> NodeInfo:
        """Declare a node: `kind` is esxi, guest, nsx_manager, nsx_controller, nsx_edge, …"""
        info = self._find_node(key)
        info.name = name
        info.kind = kind
        info.product = product or info.product
        info.captured = captured or info.captured
        self.close()
        return info

    def add(self, row: Row) -> None:
        """Take one row; its block says on which node, in which member and when."""
        self._find_store(row.table).rows.append(row)
        self._note_rows(row.table.name, row.block, 1)

    def add_read(self, rows: Iterable[Row]) -> None:
        """Take rows of any tables as they were read; those of one block are noted together."""
        for _, same in groupby(rows, key=lambda row: (id(row.table), id(row.block))):
            own = list(same)
            self._find_store(own[0].table).rows += own
            self._note_rows(own[0].table.name, own[0].block, len(own))

    def add_rows(self, table: Table, rows: Sequence[Row]) -> None:
        """Take many rows of one table at once; other facts may hold the same."""
        self.share(table, SharedRows(rows))

    def share(self, table: Table, shared: SharedRows) -> None:
        """Take rows that other facts hold as well, with what was made of them there."""
        store = self._find_store(table)
        if not store.rows:
            store.first_rows = shared
        store.rows += shared.rows
        for block, count in shared.places:
            self._note_rows(table.name, block, count)

    def add_frame(self, frame: Frame) -> None:
        """Take many rows of one table as numpy columns."""
        self._find_store(frame.table).frames.append(frame)
        self._note_rows(frame.table.name, frame.block, len(frame.line))

    def derive(self, table: Table, rows: Sequence[Row], covers: Mapping[str, Coverage]) -> bool:
        """Take a table that is made of other facts whole, with its coverage by node, in the place of what it was.

        Returns False when the rows are those it had.
        """
        name = table.name
        for key in self.nodes:
            self._covers.pop((key, name), None)
        for key, cover in covers.items():
            self._covers[key, name] = cover
        covered = self._covered[name] - self.nodes.keys()
        self._covered[name] = covered | covers.keys()
        self._nodes_with.pop(name, None)
        known = self._stores.get(name)
        if known is not None and known.table == table and known.rows == rows:
            return False
        self.forget(name)
        self.tables[name] = table
        self._stores[name] = Store(table, list(rows))
        self._nodes_of[name] = dict(Counter(row.block.node for row in rows))
        self._blocks_of[name] = {(row.block.address, row.block.order) for row in rows}
        return True

    def drop(self, table: str) -> None:
        """Forget a table that was derived."""
        self.forget(table)
        for held in (
            self.tables,
            self._stores,
            self._nodes_of,
            self._nodes_with,
            self._blocks_of,
            self._covered,
        ):
            held.pop(table, None)
        for key in self.nodes:
            self._covers.pop((key, table), None)

    def add_hits(self, scan: LogScan) -> None:
        """Take what the signature scanner found in one log (analyzer.scan.signatures.LogScan)."""
        self.scans.append(scan)
        self._heard = None
        state, why = scan.cover
        self.cover(scan.node, scan.table, state, why, scan.address)

    def scans_on(self, table: str, nodes: Collection[str]) -> list[LogScan]:
        """Return what was found in the logs of one table on some nodes, in the order they were read.

        Of one node alone it costs what that one has: each rule asks for some.
        """
        self._index_scans()
        if len(nodes) == 1:
            (key,) = nodes
            return self._scans_on.get((table, key), [])
        wanted = set(nodes)
        return [scan for scan in self._scans_of.get(table, []) if scan.node in wanted]

    def _index_scans(self) -> None:
        """Sort the scans by table and node, after more were taken."""
        if self._indexed == len(self.scans):
            return
        self._scans_of, self._scans_on = {}, {}
        for scan in self.scans:
            self._scans_of.setdefault(scan.table, []).append(scan)
            self._scans_on.setdefault((scan.table, scan.node), []).append(scan)
        self._indexed = len(self.scans)

    def may_hold(self, signature: str) -> bool:
        """Say whether a log has lines of a signature, or may have some that no one saw."""
        if self._heard is None:
            self._heard = set[str]().union(*(scan.list_possible() for scan in self.scans))
        return signature in self._heard

    def cover(
        self, node_key: str, table: str, state: str, why: str = "", address: str = ""
    ) -> None:
        """Note that a table was looked at on a node: `excerpt`, `read`, `unparsed` or `cut`; the last stays."""
        if state not in _STATES:
            raise ValueError(f"coverage state {state!r}; known are {', '.join(_STATES)}")
        self._find_node(node_key)
        known = self._covers.setdefault((node_key, table), Coverage())
        if node_key not in self._covered[table]:
            self._covered[table].add(node_key)
            self._nodes_with.pop(table, None)
            self._spoken_of.clear()
        if known.state == "" or _STATES.index(state) > _STATES.index(known.state):
            known.state = state
            known.why = why
        if address:
            known.addresses[address] = None

    def does_not_reach(self, node_key: str, table: str, why: str) -> None:
        """Note that a log that was read says nothing of the time asked about: a line it lacks proves nothing."""
        known = self._covers.get((node_key, table))
        if known is not None and known.state == "read":
            known.state = "excerpt"
            known.why = why
            self._out_of_reach.append(known)

    def reach_all_again(self) -> None:
        """Take back what `does_not_reach` noted: who keeps the facts may ask them of another time."""
        for known in self._out_of_reach:
            known.state, known.why = "read", ""
        self._out_of_reach.clear()

    def incomplete(self, node_key: str) -> None:
        """Note that the archive of a node ended early or was damaged: absence proves nothing there."""
        self._find_node(node_key).complete = False

    def coverage(self, node_key: str, table: str) -> Coverage:
        """Return how well a table was read on a node; rows without a word count as read."""
        known = self._covers.get((node_key, table))
        if known is None:
            return Coverage("read" if self.count(table, node_key) else "")
        return known

    def lossy(self, node_key: str, table: str) -> bool:
        """Say whether rows of a table may be missing on a node: it was cut, not understood, or the archive was."""
        state = self.coverage(node_key, table).state
        return state in LOSSY or not self._find_node(node_key).complete

    def loses_rows(self, table: str) -> bool:
        """Say whether rows of a table may be missing on any node of the case."""
        if not all(node.complete for node in self.nodes.values()):
            return True
        return any(self.coverage(key, table).state in LOSSY for key in self._covered.get(table, ()))

    def sound(self) -> bool:
        """Say whether nothing was cut or left without being understood, on any node: no rows can be missing."""
        covers = self._covers.values()
        if not all(node.complete for node in self.nodes.values()):
            return False
        return all(one.state in ("read", "") for one in covers)

    def count(self, table: str, node_key: str | None = None) -> int:
        """Return the number of rows of a table, in the case or on one node."""
        counts = self._nodes_of.get(table)
        if not counts:
            return 0
        if node_key is None:
            return sum(counts.values())
        return counts.get(node_key, 0)

    def leave_out(self, node_key: str, tables: frozenset[str]) -> None:
        """Note that these tables have rows on a node that were not fetched, as no rule at hand looks at them."""
        self._left_out[node_key] = tables

    def has_rows(self, table: str, node_key: str) -> bool:
        """Say whether a table has rows on a node, be they here or left out."""
        if self.count(table, node_key) > 0:
            return True
        return table in self._left_out.get(node_key, ())

    def nodes_with(self, table: str) -> list[str]:
        """Return the keys of the nodes that have rows or coverage of a table, in order."""
        known = self._nodes_with.get(table)
        if known is None:
            rows = (key for key, count in self._nodes_of.get(table, {}).items() if count)
            known = self._nodes_with[table] = sorted({*self._covered.get(table, ()), *rows})
        return [*known]

    def is_with(self, table: str, node_key: str) -> bool:
        """Say whether a node has rows or coverage of a table, without a list of all that have."""
        return node_key in self._covered.get(table, ()) or self.count(table, node_key) > 0

    def nodes_of_product(self, product: str) -> list[str]:
        """Return the keys of the nodes that may have tables of a product: by kind, rows or coverage.

        A node of another product's kind is none of them for a log or an output that it has of this one: the syslog of
        NSX-T on an ESXi host makes no site of NSX-T.
        """
        kinds = PRODUCT_KINDS.get(product, (product,))
        others: set[str] = set()
        for name, own in PRODUCT_KINDS.items():
            if name != product:
                others.update(own)
        found = {node.key for node in self.nodes.values() if node.kind in kinds}
        for key in self._speaks_of(product):
            kind = self.nodes[key].kind
            if kind in kinds or kind not in others:
                found.add(key)
        return sorted(found)

    def _speaks_of(self, product: str) -> set[str]:
        """Return the nodes that have rows or coverage of tables of a product."""
        # A table that is derived speaks of no other nodes than what it is made of.
        if product not in self._spoken_of:
            found: set[str] = set()
            for name in {*self._covered, *self._nodes_of}:
                if name in self.tables and name.startswith(f"{product}."):
                    found.update(self.nodes_with(name))
            self._spoken_of[product] = found
        return self._spoken_of[product]

    def users_of(self, product: str, nodes: Iterable[NodeInfo]) -> list[NodeInfo]:
        """Return those of some nodes that may have what a product prints there.

        Of NSX a host has something when the case speaks of an NSX site, or the host of NSX: by an output or a VIB.
        """
        kinds = PRODUCT_KINDS.get(product, ())
        if product not in PRODUCT_VIBS or any(one.kind in kinds for one in self.nodes.values()):
            return list(nodes)
        spoken = self._speaks_of(product)
        owners = self._vib_owners()
        return [node for node in nodes if node.key in spoken or (node.key, product) in owners]

    def _vib_owners(self) -> set[tuple[str, str]]:
        """Return the nodes that have VIBs of a product, each with the product."""
        if self._vibs is None:
            self._vibs = set()
            for row in self._stores[_VIB].rows if _VIB in self._stores else ():
                name = str(row.values.get("name"))
                for product, beginnings in PRODUCT_VIBS.items():
                    if name.startswith(beginnings):
                        self._vibs.add((row.block.node, product))
        return self._vibs

    def single_block(self, table: str) -> bool:
        """Say whether all rows of a table come from one place, so that nothing can be there twice."""
        return len(self._blocks_of[table]) <= 1

    def has_frames(self, table: str) -> bool:
        """Say whether a table holds samples (frames) rather than objects."""
        store = self._stores.get(table)
        return bool(store and store.frames)

    def origin(self, table: str, row: int) -> Origin:
        """Return where row number `_row` of a table was read."""
        store = self.store(table)
        if row < len(store.rows):
            found = store.rows[row]
            return Origin(found.block, found.line, row=found)
        held = store.find_frame(row)
        if held is not None:
            first, frame = held
            return Origin(frame.block, int(frame.line[row - first]), frame=frame, index=row - first)
        raise IndexError(f"{table} has no row {row}")

    def value(self, table: str, row: int, column: str) -> Value:
        """Return the value of one cell, or None when it is unknown."""
        rows = self.store(table).rows
        if row < len(rows) and column not in ("node", "taken"):
            return rows[row].values.get(column)
        found = self.origin(table, row)
        if column == "node":
            return self.name(found.block.node)
        if column == "taken":
            return found.block.taken or None
        if found.row is not None:
            return found.row.values.get(column)
        assert found.frame is not None
        if column not in found.frame.columns:
            return None
        return database.plain(found.frame.take(column, [found.index])[0])

    def values(self, table: str, rows: Sequence[int], column: str) -> list[Value]:
        """Return the cells of one column for many rows, in their order."""
        store = self.store(table)
        count = len(store.rows)
        found: dict[int, Value] = {
            row: self.value(table, row, column) for row in rows if row < count
        }
        held: defaultdict[int, list[int]] = defaultdict(list)
        firsts = store.list_firsts()
        for row in rows:
            if row >= count:
                held[bisect_right(firsts, row) - 1].append(row)
        for place, some in held.items():
            first = firsts[place]
            frame = store.frames[place]
            own = [row for row in some if row - first < len(frame.line)]
            if place >= 0 and own and column in frame.columns:
                cells = frame.take(column, [row - first for row in own])
                found.update(zip(own, database.plain_many(cells, range(len(own))), strict=True))
        return [found.get(row) for row in rows]

    def name(self, node_key: str) -> str:
        """Return the name of a node."""
        info = self.nodes.get(node_key)
        if info:
            return info.name
        return node_key

    def store(self, table: str) -> Store:
        """Return the rows and frames of a declared table."""
        if table not in self._stores:
            self._stores[table] = Store(self.tables[table])
        return self._stores[table]

    def frame(self, table: str) -> pd.DataFrame:
        """Return a table as a pandas frame with its origin columns, in the order of the case."""
        if table not in self.tables:
            raise UsageError(f"there is no table {table}", do="`backline tables` lists them")
        wanted = ["node", *(column.name for column in self.tables[table].columns), "taken", *_SHOWN]
        names = ", ".join(quote_name(name) for name in dict.fromkeys(wanted))
        order = "node, _order, _line, _row"
        return (
            self.connection([table])
            .execute(f"SELECT {names} FROM {quote_name(table)} ORDER BY {order}")
            .df()
        )

    def list_names(self) -> Iterable[str]:
        """Return the names of all tables."""
        return self.tables

    def lend(self, table: Table) -> None:
        """Put the rows of a table of the catalog next to the case: they belong to no node, and none is ever missing."""
        assert table.given is not None
        there = self.tables.get(table.name)
        if (
            there == table
            and there.given
            and there.given.files == table.given.files
            and table.name in self._stores
        ):
            return
        self.forget(table.name)
        shared = _catalog_rows(table, table.given.files)
        self.tables[table.name] = table
        self._stores[table.name] = Store(table, list(shared.rows), first_rows=shared)

    def forget(self, table: str) -> None:
        """Take one table out of the database; it is filled again when asked for."""
        self._drop_views([table])
        self.held.pop(table, None)
        super().forget(table)

    def close(self) -> None:
        """Close the database; it is made again when asked for."""
        self._drop_views([*self._views])
        self.held.clear()
        super().close()

    def _drop_views(self, tables: Iterable[str]) -> None:
        """Drop the views of tables, with the arrays they are over."""
        for table in tables:
            arrays = self._views.pop(table, None)
            if arrays is not None and self._connection is not None and table in self._filled:
                frames.drop_view(self._connection, table, arrays)
                self._filled.remove(table)

    def fill_table(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        """Put a table with its rows into the database; many samples are viewed where they are."""
        store = self.store(table)
        placed = []
        for first, frame in store.number_frames():
            placed.append(PlacedFrame(frame, first, self.name(frame.block.node)))
        viewed = frames.choose_viewed(store.table, placed)
        if viewed:
            apart = {id(one) for one in viewed}
            placed = [one for one in placed if id(one) not in apart]
        if viewed:
            kept = frames.name_rest(store.table)
        else:
            kept = store.table
        database.create(con, kept)
        database.insert_rows(
            con, kept, [database.Rows(store.rows, self.name)] if store.rows else []
        )
        frames.insert(con, kept, placed)
        if viewed:
            self._views[table] = frames.create_view(con, store.table, viewed)

    def _find_node(self, key: str) -> NodeInfo:
        """Return a node, made when it is new."""
        if key not in self.nodes:
            self.nodes[key] = NodeInfo(key, key)
        return self.nodes[key]

    def _find_store(self, table: Table) -> Store:
        """Return the rows and frames of a table, which is declared by them when it is new."""
        store = self._stores.get(table.name)
        if store is None:
            self.tables.setdefault(table.name, table)
            store = self.store(table.name)
        return store

    def _note_rows(self, table: str, block: Block, count: int) -> None:
        """Count rows of a table on the node of their block."""
        self._find_node(block.node)
        self._nodes_with.pop(table, None)
        counts = self._nodes_of[table]
        counts[block.node] = counts.get(block.node, 0) + count
        self._spoken_of.clear()
        self._blocks_of[table].add((block.address, block.order))
        self.close()


@lru_cache(maxsize=100)
def _catalog_rows(table: Table, files: tuple[str, ...]) -> SharedRows:
    """Return the rows of a table of the catalog, made once for all cases that are judged by it."""
    assert table.given is not None
    blocks = {}
    for file in files:
        blocks[file] = Block([], address=f"catalog: {file}").assign_node("")
    return SharedRows(
        [Row(table, dict(cells), blocks[file], line) for file, line, cells in table.given.rows]
    )
