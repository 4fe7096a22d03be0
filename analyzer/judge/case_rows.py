"""The rows of a case for the evaluator: typed cells, indexed by join keys.

Objects are rows; samples stay columns (judge/captures.py) until one of them is looked at by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from analyzer.artefacts.tables import INT64, Kind, Row, Table, Value
from analyzer.facts import Facts, SharedRows
from analyzer.facts.database import fitting, own_columns, text, timestamp
from analyzer.facts.records import Store
from analyzer.judge.captures import SampleCapture, captures_of

INFINITE = math.inf
_TYPES: Mapping[Kind, type] = {"int": int, "float": float, "bool": bool, "str": str, "version": str}

Key = tuple[Hashable, ...]
Fold = Callable[[Any], Hashable] | None  # how a cell of a join's column is compared; None: as it is


@lru_cache(maxsize=4096)
def moment(value: str) -> datetime | None:
    """Return a time written in a fact or in a rule as a moment in UTC; None when it is none."""
    told = timestamp(value)
    try:
        return None if told is None else datetime.fromisoformat(told)
    except ValueError:
        return None


@dataclass(slots=True)
class CaseRow:
    """One row: its cells by column, and where it was read.

    number  its `_row`; UNSEEN_ROW for a row that stands for what was not seen
    """

    cells: Mapping[str, Any]
    node: str
    name: str
    source: str | None = None
    order: int | None = None
    line: int | None = None
    number: int = 0
    taken: datetime | None = None

    def cell(self, column: str) -> Any:
        """Return a cell, also of the columns that every row has; None when it is unknown."""
        if column == "node":
            return self.name
        return self.taken if column == "taken" else self.cells.get(column)

    @property
    def place(self) -> tuple[float, float, int]:
        """Sort key of the order in which a case prints its rows."""
        return after(self.order), after(self.line), self.number


def after(value: int | None) -> float:
    """Return a number as it sorts: an unknown one comes last."""
    return INFINITE if value is None else value


class CaseTable:
    """The rows of one table in one case."""

    def __init__(self, facts: Facts, name: str) -> None:
        store = facts.store(name)  # not kept, nor the facts: they hold this table
        self.table: Table = store.table
        self.rows = list(self._objects(facts, store))
        self.captures: list[SampleCapture] = captures_of(store, facts.name)
        self.indexes: dict[Hashable, Mapping[Key, list[CaseRow]]] = {}
        self._keys: dict[tuple[str, ...], tuple[list[Key], bool]] = {}

    def _objects(self, facts: Facts, store: Store) -> Iterator[CaseRow]:
        kinds = own_columns(self.table)
        typed = {name: _TYPES[kind] for name, kind in kinds if kind in _TYPES}
        origins: dict[int, tuple[str, datetime | None]] = {}
        for number, row in enumerate(store.rows):
            block = row.block
            if id(block) not in origins:
                taken = moment(block.taken) if block.taken else None
                origins[id(block)] = text(facts.name(block.node)), taken
            name, taken = origins[id(block)]
            cells = row.values if _fits(row.values, typed) else _fitted(row, kinds)
            yield CaseRow(
                cells, block.node, name, block.address, block.order, row.line, number, taken
            )

    def whole(self) -> list[CaseRow]:
        """Return all rows, those of captures as well; many samples make many rows."""
        return self.rows + [
            row for capture in self.captures for row in capture_rows(self.table, capture)
        ]

    def keys(self, names: tuple[str, ...]) -> tuple[list[Key], bool]:
        """Return what tells each row's object from others, by the number of the row, and whether one stands twice."""
        if names not in self._keys:
            keys = [key_of_object(row, names) for row in self.rows]
            self._keys[names] = keys, len(set(keys)) < len(keys)
        return self._keys[names]

    def by(
        self, columns: Sequence[tuple[str, Fold]], *, any_node: bool
    ) -> Mapping[Key, list[CaseRow]]:
        """Return the rows of objects by node and cells of some columns; a row with an unknown one is not there."""
        index = (tuple(columns), any_node)
        if index not in self.indexes:
            self.indexes[index] = grouped(self.rows, columns, any_node=any_node)
        return self.indexes[index]


def grouped(
    rows: Iterable[CaseRow], columns: Sequence[tuple[str, Fold]], *, any_node: bool
) -> dict[Key, list[CaseRow]]:
    """Return rows by node (of all nodes together with `any_node`) and cells of some columns."""
    found: dict[Key, list[CaseRow]] = {}
    for row in rows:
        key = key_of(
            [(row.cell(name), fold) for name, fold in columns], "" if any_node else row.node
        )
        if key is not None:
            found.setdefault(key, []).append(row)
    return found


def key_of_object(row: CaseRow, names: Iterable[str]) -> Key:
    """Return the node of a row and its cells in the columns that tell one object from another."""
    return (row.node, *(row.cell(name) for name in names))


def key_of(cells: Iterable[tuple[Any, Fold]], node: str) -> Key | None:
    """Return what rows that meet have in common; None when a cell is unknown."""
    key: list[Hashable] = [node]
    for cell, fold in cells:
        if cell is None:
            return None
        key.append(cell if fold is None else fold(cell))
    return tuple(key)


def capture_rows(table: Table, capture: SampleCapture, places: Any = None) -> Iterator[CaseRow]:
    """Yield the rows of a capture, or those at some places of it, one by one."""
    kinds = dict(own_columns(table))
    columns = {name: capture.cells(name, kind, places) for name, kind in kinds.items()}
    numbers, lines = capture.numbers(places).tolist(), capture.lines(places).tolist()
    block = capture.block
    taken = moment(block.taken) if block.taken else None
    lists = {name: vector.listed() for name, vector in columns.items() if vector is not None}
    for at, number in enumerate(numbers):
        cells = {name: cell for name, some in lists.items() if (cell := some[at]) is not None}
        yield CaseRow(
            cells, block.node, capture.node, block.address, block.order, lines[at], number, taken
        )


def _fits(values: Mapping[str, Value], typed: Mapping[str, type]) -> bool:
    """Tell whether every cell is of its column's type already: then nothing needs a copy."""
    for name, value in values.items():
        if value is None:
            continue
        kind = typed.get(name)
        if kind is None or type(value) is not kind:
            return False
        if kind is str:
            if not value.isascii():  # type: ignore[union-attr]
                return False
        elif (kind is int and value not in INT64) or (kind is float and not math.isfinite(value)):  # type: ignore[arg-type]
            return False
    return True


def _fitted(row: Row, kinds: Iterable[tuple[str, Kind]]) -> dict[str, Any]:
    """Return the cells of a row; a value of the wrong type is left out, never guessed."""
    found: dict[str, Any] = {}
    for name, kind in kinds:
        value: Any = fitting(row.values.get(name), kind)
        if kind == "time" and value is not None:
            value = moment(value)
        if value is not None:
            found[name] = value
    return found


def table_of(facts: Facts, name: str) -> CaseTable:
    """Return a table of a case as the evaluator reads it; read once for all rules."""
    found = facts.held.get(name)
    if found is None:
        shared = facts.store(name).shared
        found = facts.held[name] = (
            CaseTable(facts, name) if shared is None else _shared(facts, name, shared)
        )
    assert isinstance(found, CaseTable)
    return found


def _shared(facts: Facts, name: str, shared: SharedRows) -> object:
    """Return the table of rows that several cases have alike: read once for all in which their nodes have one name."""
    key = name, *((block.node, facts.name(block.node)) for block, _ in shared.places)
    if key not in shared.worked_out:
        shared.worked_out[key] = CaseTable(facts, name)
    return shared.worked_out[key]


def once_each(rows: Iterable[CaseRow], columns: Sequence[str]) -> Iterator[CaseRow]:
    """Yield each text that stands in several places once."""
    met = set()
    for row in sorted(rows, key=lambda row: row.place):
        key = (row.name, *(row.cell(name) for name in columns))
        if key not in met:
            met.add(key)
            yield row
