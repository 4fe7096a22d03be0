"""Rows of chains (analyzer/forms/chain.py): an object followed through the tables of its host."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from analyzer.artefacts.parsing import name_modules
from analyzer.artefacts.tables import Row, Table, Value
from analyzer.facts.records import LOSSY, Coverage, MadeRow
from analyzer.facts.store import Facts
from analyzer.forms.chain import MISSING, Apart, Chain, ChainLink, Made, Part, Source, Start

Key = tuple[Value, ...]


@cache
def find_chain(table: str) -> Chain:
    """Return the chain that makes a table; its module is named after the table."""
    module = importlib.import_module(name_modules()[table.partition(".")[2]])
    return next(
        one for one in vars(module).values() if isinstance(one, Chain) and one.table.name == table
    )


def put_chain(facts: Facts, table: Table, nodes: Iterable[str]) -> set[str]:
    """Make the rows of a chain from the tables it is made of; return its name when they are not those it had.

    nodes  keys of those of which its first table is known
    """
    # What changes when a source changes.
    stamp: list[Hashable] = [len(facts.store(name).rows) for name in table.made_of]
    for node in sorted(facts.nodes):
        stamp += [facts.coverage(node, name).state for name in table.made_of]
    if facts.chains.get(table.name) == tuple(stamp):
        return set()
    rows: list[Row] = []
    covers: dict[str, Coverage] = {}
    for node in nodes:
        walk = ChainWalk(facts, find_chain(table.name), node)
        rows += walk.list_rows()
        covers[node] = walk.judge_coverage()
    facts.chains[table.name] = tuple(stamp)
    if facts.derive(table, rows, covers):
        return {table.name}
    return set()


@dataclass(slots=True)
class ChainPath:
    """One row in the making: its cells, the row that each was read from, and what could not be followed."""

    first: Row
    cells: dict[str, Value]
    read_from: dict[str, Row]
    lacks: dict[str, tuple[str, str]]
    ended: bool = False

    def add_cells(self, cells: Mapping[str, Value], row: Row | None = None) -> ChainPath:
        """Return a path that goes on with some cells, read from a row."""
        read_from = self.read_from
        if row is not None:
            read_from = read_from | dict.fromkeys(cells, row)
        return ChainPath(self.first, {**self.cells, **cells}, read_from, self.lacks, self.ended)

    def work_out(self, part: Made) -> ChainPath:
        """Return a path with columns worked out of others: they were read where the first of those was."""
        cells = part.make(self.cells)
        known = next((self.read_from[name] for name in part.of if name in self.read_from), None)
        path = self.add_cells(cells, known)
        unknown = [name for name, value in cells.items() if value is None]
        lack = None
        for name in part.of:
            if name in self.lacks:
                lack = self.lacks[name]
                break
        if lack is None or not unknown:
            return path
        return path.lack_columns(unknown, *lack)

    def lack_columns(self, columns: Iterable[str], source: str, why: str) -> ChainPath:
        """Return a path that goes on without some columns, as a source does not have them."""
        lacks = self.lacks | dict.fromkeys(columns, (source, why))
        return ChainPath(self.first, self.cells, self.read_from, lacks, self.ended)


class ChainWalk:
    """Follows one chain on one node."""

    def __init__(self, facts: Facts, chain: Chain, node: str) -> None:
        self.facts = facts
        self.chain = chain
        self.node = node
        self._indexes: dict[int, dict[Key, list[Row]]] = {}

    def list_rows(self) -> Iterator[Row]:
        """Yield the rows of the chain, in the order of its first table."""
        table = self.chain.table
        start = self.chain.start
        # Of rows with one key the last; a row without a whole key is an object of its own.
        latest: dict[Hashable, Row] = {}
        for number, row in enumerate(self._read_rows(start)):
            key = read_key(row)
            latest[key if key and None not in key else number] = row
        names = [column.name for column in start.take]
        for row in latest.values():
            cells = {}
            for name in names:
                cells[name] = row.values.get(start.renamed.get(name, name))
            paths = [ChainPath(row, cells, dict.fromkeys(names, row), {})]
            for part in self.chain.parts:
                further: list[ChainPath] = []
                for path in paths:
                    further += self._follow(part, path)
                paths = further
            for path in paths:
                values = {column.name: path.cells.get(column.name) for column in table.columns}
                reasons = dict.fromkeys(why for _, why in path.lacks.values())
                values[MISSING.name] = "; ".join(reasons) or None
                first = path.first
                yield MadeRow(
                    table, values, first.block, first.line, {}, path.read_from, path.lacks
                )

    def judge_coverage(self) -> Coverage:
        """Return how well the chain is known: as its first table, and worse where a link may have more rows."""
        names = [self.chain.start.table]
        for part in self.chain.parts:
            if isinstance(part, ChainLink) and part.many:
                names += [source.table for source in part.sources]
        for name in names:
            known = self.facts.coverage(self.node, name)
            if known.state in LOSSY:
                why = known.why or f"{self.facts.tables[name].words} was not read whole"
                return Coverage(known.state, why, rescan=known.rescan)
        return Coverage("read")

    def _follow(self, part: Part, path: ChainPath) -> list[ChainPath]:
        """Return the path with the next part, as several where it forks, and as it was where it ends."""
        if isinstance(part, Made):
            return [path.work_out(part)]
        if isinstance(part, Apart):
            row = path.read_from.get(part.names)
            forks = []
            for name in str(path.cells.get(part.names) or "").split(","):
                if name.strip():
                    forks.append(path.add_cells({part.into.name: name.strip()}, row))
            lack = path.lacks.get(part.names)
            if not forks and lack is not None:
                return [path.lack_columns([part.into.name], *lack)]
            return forks or [path]
        path.ended = path.ended or (part.ends is not None and part.ends(path.cells))
        if path.ended:
            return [path]
        return self._look_up(part, path)

    def _look_up(self, link: ChainLink, path: ChainPath) -> list[ChainPath]:
        """Return the path with the cells of the first source that has them."""
        columns = [column.name for column in link.take]
        asked = []
        for source in link.sources:
            if any(path.cells.get(mine) is None for mine in source.on):
                continue
            rows = self._match(source, path)
            if rows and (link.many or len(rows) == 1):
                found = []
                for row in rows:
                    values = {}
                    for name in columns:
                        values[name] = row.values.get(source.renamed.get(name, name))
                    found.append(path.add_cells(values, row))
                return found
            asked.append((source, rows))
        if asked:
            best, rows = next((pair for pair in asked if pair[1]), asked[0])
            why = self._explain_lack(best, path, len(rows))
            return [path.lack_columns(columns, best.table, why)]
        for source in link.sources:
            for mine in source.on:
                if mine in path.lacks:
                    return [path.lack_columns(columns, *path.lacks[mine])]
        return [path]

    def _match(self, source: Source, path: ChainPath) -> list[Row]:
        """Return the rows of a source that belong to a path: of those with one key the nearest."""
        index = self._indexes.get(id(source))
        if index is None:
            index = defaultdict(list)
            self._indexes[id(source)] = index
            for row in self._read_rows(source):
                theirs = tuple(fold_cell(row.values.get(name)) for name in source.on.values())
                index[theirs].append(row)
        mine = tuple(fold_cell(path.cells[name]) for name in source.on)
        rows = index.get(mine, [])
        if len(set(map(read_key, rows))) == len(rows):
            return rows
        nearest: dict[Key, Row] = {}
        for row in sorted(rows, key=lambda row: measure_distance(row, path.first)):
            nearest.setdefault(read_key(row), row)
        chosen = {id(row) for row in nearest.values()}
        return [row for row in rows if id(row) in chosen]

    def _read_rows(self, source: Source | Start) -> Iterator[Row]:
        """Yield the rows of a table on this node, those that count."""
        if source.table not in self.facts.tables or not self.facts.count(source.table, self.node):
            return
        only: Callable[[Mapping[str, Value]], bool] | None = source.only
        for row in self.facts.store(source.table).rows:
            if row.block.node == self.node and (only is None or only(row.values)):
                yield row

    def _explain_lack(self, source: Source, path: ChainPath, count: int) -> str:
        """Return why a source does not have the cells of a path, of which it has some rows."""
        words = self.facts.tables[source.table].words
        known = self.facts.coverage(self.node, source.table)
        if known.state == "":
            return f"{words} of {self.facts.name(self.node)} is not in the case"
        sought = ", ".join(str(path.cells[mine]) for mine in source.on)
        if count > 1:
            return f"{words} has {count} rows of {sought}"
        cut = ""
        if known.state in LOSSY:
            cut = ", and was not read whole"
        return f"{words} has no row of {sought}{cut}"


def fold_cell(value: Value) -> Value:
    """Return a value as it compares: addresses and names of one object are printed in either case."""
    if isinstance(value, str):
        return value.lower()
    return value


def read_key(row: Row) -> Key:
    """Return the cells by which a row's object is known."""
    return tuple(row.values.get(name) for name in row.table.key)


def measure_distance(row: Row, first: Row) -> tuple[bool, int, int]:
    """Return how far a row was read from the first one of a path."""
    mine = first.block
    other = row.block
    return mine.address != other.address, abs(mine.order - other.order), -other.order
