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
def declared(table: str) -> Chain:
    """Return the chain that makes a table; its module is named after the table."""
    module = importlib.import_module(name_modules()[table.partition(".")[2]])
    return next(
        one for one in vars(module).values() if isinstance(one, Chain) and one.table.name == table
    )


def put(facts: Facts, table: Table, nodes: Iterable[str]) -> set[str]:
    """Make the rows of a chain from the tables it is made of; return its name when they are not those it had.

    nodes  keys of those of which its first table is known
    """
    stamp = _stamp(facts, table)
    if facts.chains.get(table.name) == stamp:
        return set()
    rows: list[Row] = []
    covers: dict[str, Coverage] = {}
    for node in nodes:
        walk = _Walk(facts, declared(table.name), node)
        rows += walk.rows()
        covers[node] = walk.cover()
    facts.chains[table.name] = stamp
    return {table.name} if facts.derive(table, rows, covers) else set()


def _stamp(facts: Facts, table: Table) -> Hashable:
    """Return what changes when a source changes."""
    sizes = tuple(len(facts.store(name).rows) for name in table.made_of)
    return sizes, tuple(
        facts.coverage(node, name).state for node in sorted(facts.nodes) for name in table.made_of
    )


@dataclass(slots=True)
class _Path:
    """One row in the making: its cells, the row that each was read from, and what could not be followed."""

    first: Row
    cells: dict[str, Value]
    read_from: dict[str, Row]
    lacks: dict[str, tuple[str, str]]
    ended: bool = False

    def forked(self, cells: Mapping[str, Value], row: Row | None = None) -> _Path:
        """Return a path that goes on with some cells, read from a row."""
        read = self.read_from if row is None else {**self.read_from, **dict.fromkeys(cells, row)}
        return _Path(self.first, {**self.cells, **cells}, read, self.lacks, self.ended)

    def worked_out(self, part: Made) -> _Path:
        """Return a path with columns worked out of others: they were read where the first of those was."""
        cells = part.make(self.cells)
        known = next((self.read_from[name] for name in part.of if name in self.read_from), None)
        lack = next((self.lacks[name] for name in part.of if name in self.lacks), None)
        path = self.forked(cells, known)
        unknown = [name for name, value in cells.items() if value is None]
        return path if lack is None or not unknown else path.lacking(unknown, *lack)

    def lacking(self, columns: Iterable[str], source: str, why: str) -> _Path:
        """Return a path that goes on without some columns, as a source does not tell them."""
        lacks = {**self.lacks, **dict.fromkeys(columns, (source, why))}
        return _Path(self.first, self.cells, self.read_from, lacks, self.ended)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a source with the same cells, and whether one thing stands there twice."""

    rows: list[Row]
    twice: bool


class _Walk:
    """Follows one chain on one node."""

    def __init__(self, facts: Facts, chain: Chain, node: str) -> None:
        self.facts, self.chain, self.node = facts, chain, node
        self._found: dict[int, dict[Key, _Rows]] = {}

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the chain, in the order of its first table."""
        table = self.chain.table
        names = [column.name for column in table.columns]
        for path in self._paths():
            values = {name: path.cells.get(name) for name in names}
            values[MISSING.name] = (
                "; ".join(dict.fromkeys(why for _, why in path.lacks.values())) or None
            )
            yield MadeRow(
                table, values, path.first.block, path.first.line, {}, path.read_from, path.lacks
            )

    def cover(self) -> Coverage:
        """Return how well the chain is known: as its first table, and worse where a link may have more rows."""
        many = [source.table for part in self._links() if part.many for source in part.sources]
        for name in [self.chain.start.table, *many]:
            known = self.facts.coverage(self.node, name)
            if known.state in LOSSY:
                words = self.facts.tables[name].words
                return Coverage(
                    known.state, known.why or f"{words} was not read whole", rescan=known.rescan
                )
        return Coverage("read")

    def _links(self) -> Iterator[ChainLink]:
        return (part for part in self.chain.parts if isinstance(part, ChainLink))

    def _paths(self) -> Iterator[_Path]:
        start = self.chain.start
        taken = [column.name for column in start.take]
        for row in _latest(self._rows(start)):
            cells = {name: row.values.get(start.renamed.get(name, name)) for name in taken}
            paths = [_Path(row, cells, dict.fromkeys(taken, row), {})]
            for part in self.chain.parts:
                paths = [further for path in paths for further in self._further(part, path)]
            yield from paths

    def _further(self, part: Part, path: _Path) -> list[_Path]:
        """Return the path with the next part, as several where it forks, and as it was where it ends."""
        if isinstance(part, Made):
            return [path.worked_out(part)]
        if isinstance(part, Apart):
            names = [name.strip() for name in str(path.cells.get(part.names) or "").split(",")]
            row = path.read_from.get(part.names)
            forks = [path.forked({part.into.name: name}, row) for name in names if name]
            lack = path.lacks.get(part.names)
            return forks or [path if lack is None else path.lacking([part.into.name], *lack)]
        path.ended = path.ended or (part.ends is not None and part.ends(path.cells))
        return [path] if path.ended else self._looked_up(part, path)

    def _looked_up(self, link: ChainLink, path: _Path) -> list[_Path]:
        asked = [
            source
            for source in link.sources
            if all(path.cells.get(mine) is not None for mine in source.on)
        ]
        for source in asked:
            rows = self._matching(source, path)
            if rows and (link.many or len(rows) == 1):
                return [path.forked(_cells(link, source, row), row) for row in rows]
        columns = [column.name for column in link.take]
        if asked:
            best = next((source for source in asked if self._matching(source, path)), asked[0])
            return [path.lacking(columns, best.table, self._why(best, path))]
        before = next(
            (
                path.lacks[mine]
                for source in link.sources
                for mine in source.on
                if mine in path.lacks
            ),
            None,
        )
        return [path if before is None else path.lacking(columns, *before)]

    def _matching(self, source: Source, path: _Path) -> list[Row]:
        """Return the rows of a source that belong to a path: of those with one key the nearest."""
        found = self._index(source).get(tuple(_same(path.cells[mine]) for mine in source.on))
        if found is None:
            return []
        if not found.twice:
            return found.rows
        kept: dict[Key, Row] = {}
        for row in sorted(found.rows, key=lambda row: _distance(row, path.first)):
            kept.setdefault(_key(row), row)
        chosen = {id(row) for row in kept.values()}
        return [row for row in found.rows if id(row) in chosen]

    def _index(self, source: Source) -> dict[Key, _Rows]:
        if id(source) not in self._found:
            index: defaultdict[Key, list[Row]] = defaultdict(list)
            for row in self._rows(source):
                index[tuple(_same(row.values.get(theirs)) for theirs in source.on.values())].append(
                    row
                )
            self._found[id(source)] = {
                key: _Rows(rows, len({*map(_key, rows)}) < len(rows)) for key, rows in index.items()
            }
        return self._found[id(source)]

    def _rows(self, source: Source | Start) -> Iterator[Row]:
        """Yield the rows of a table on this node, those that count."""
        if source.table not in self.facts.tables or not self.facts.count(source.table, self.node):
            return
        only: Callable[[Mapping[str, Value]], bool] | None = source.only
        for row in self.facts.store(source.table).rows:
            if row.block.node == self.node and (only is None or only(row.values)):
                yield row

    def _why(self, source: Source, path: _Path) -> str:
        table = self.facts.tables[source.table]
        known = self.facts.coverage(self.node, source.table)
        if known.state == "":
            return f"{table.words} of {self.facts.name(self.node)} is not in the case"
        sought = ", ".join(str(path.cells[mine]) for mine in source.on)
        found = len(self._matching(source, path))
        if found > 1:
            return f"{table.words} has {found} rows of {sought}"
        return f"{table.words} has no row of {sought}" + (
            ", and was not read whole" if known.state in LOSSY else ""
        )


def _cells(link: ChainLink, source: Source, row: Row) -> dict[str, Value]:
    return {
        column.name: row.values.get(source.renamed.get(column.name, column.name))
        for column in link.take
    }


def _same(value: Value) -> Value:
    """Return a value as it compares: addresses and names of one object are printed in either case."""
    return value.lower() if isinstance(value, str) else value


def _key(row: Row) -> Key:
    return tuple(row.values.get(name) for name in row.table.key)


def _distance(row: Row, first: Row) -> tuple[bool, int, int]:
    mine, other = first.block, row.block
    return mine.address != other.address, abs(mine.order - other.order), -other.order


def _latest(rows: Iterable[Row]) -> list[Row]:
    """Return the rows in their order; of those with one key the last."""
    kept: dict[Hashable, Row] = {}
    for number, row in enumerate(rows):
        key = _key(row)
        kept[number if not key or None in key else key] = row
    return list(kept.values())
