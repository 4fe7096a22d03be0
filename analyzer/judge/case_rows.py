"""The rows of a case for the evaluator: typed cells, and the keys by which rows meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from analyzer.artefacts.tables import INT64, Kind, Row, Value
from analyzer.facts import Facts
from analyzer.facts.database import fitting, own_columns, text, timestamp
from analyzer.facts.records import Store

INFINITE = math.inf
_TYPES: Mapping[Kind, type] = {"int": int, "float": float, "bool": bool, "str": str, "version": str}

Key = tuple[Hashable, ...]
Fold = Callable[[Any], Hashable] | None  # how a cell of a join's column is compared; None: as it is


@lru_cache(maxsize=4096)
def parse_moment(value: str) -> datetime | None:
    """Return a time written in a fact or in a rule as a moment in UTC; None when it is none."""
    written = timestamp(value)
    try:
        return None if written is None else datetime.fromisoformat(written)
    except ValueError:
        return None


def sort_last(value: int | None) -> float:
    """Return a number as it sorts: an unknown one comes last."""
    return INFINITE if value is None else value


def sort_stamp(stamp: str) -> tuple[int, str]:
    """Return the sort key of a sample's stamp: a number, or an ISO time."""
    return (int(stamp), "") if stamp.isdigit() else (0, stamp)


@dataclass(slots=True)
class CaseRow:
    """One row: its cells by column, and where it was read.

    number  its `_row`; UNSEEN_ROW for a row that takes the place of what was not seen
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
        return sort_last(self.order), sort_last(self.line), self.number


def read_rows(facts: Facts, store: Store) -> Iterator[CaseRow]:
    """Yield the rows of objects of a table."""
    kinds = own_columns(store.table)
    types = {name: _TYPES[kind] for name, kind in kinds if kind in _TYPES}
    origins: dict[int, tuple[str, datetime | None]] = {}
    for number, row in enumerate(store.rows):
        block = row.block
        if id(block) not in origins:
            taken = parse_moment(block.taken) if block.taken else None
            origins[id(block)] = text(facts.name(block.node)), taken
        name, taken = origins[id(block)]
        cells = row.values if is_typed(row.values, types) else fit_cells(row, kinds)
        yield CaseRow(cells, block.node, name, block.address, block.order, row.line, number, taken)


def is_typed(values: Mapping[str, Value], types: Mapping[str, type]) -> bool:
    """Say whether every cell is of its column's type already: then nothing needs a copy."""
    for name, value in values.items():
        if value is None:
            continue
        kind = types.get(name)
        if kind is None or type(value) is not kind:
            return False
        if isinstance(value, str):
            if not value.isascii():
                return False
        elif isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif kind is int and value not in INT64:
            return False
    return True


def fit_cells(row: Row, kinds: Iterable[tuple[str, Kind]]) -> dict[str, Any]:
    """Return the cells of a row; a value of the wrong type is left out, never guessed."""
    found: dict[str, Any] = {}
    for name, kind in kinds:
        value: Any = fitting(row.values.get(name), kind)
        if kind == "time" and value is not None:
            value = parse_moment(value)
        if value is not None:
            found[name] = value
    return found


def group_rows(
    rows: Iterable[CaseRow], columns: Sequence[tuple[str, Fold]], *, any_node: bool
) -> dict[Key, list[CaseRow]]:
    """Return rows by node (of all nodes together with `any_node`) and cells of some columns."""
    found: dict[Key, list[CaseRow]] = {}
    for row in rows:
        cells = [(row.cell(name), fold) for name, fold in columns]
        key = make_key(cells, "" if any_node else row.node)
        if key is not None:
            found.setdefault(key, []).append(row)
    return found


def make_key(cells: Iterable[tuple[Any, Fold]], node: str) -> Key | None:
    """Return what rows that meet have in common; None when a cell is unknown."""
    key: list[Hashable] = [node]
    for cell, fold in cells:
        if cell is None:
            return None
        key.append(cell if fold is None else fold(cell))
    return tuple(key)


def make_object_key(row: CaseRow, names: Iterable[str]) -> Key:
    """Return the node of a row and its cells in the columns that distinguish objects."""
    return (row.node, *(row.cell(name) for name in names))


def drop_repeated(rows: Iterable[CaseRow], columns: Sequence[str]) -> Iterator[CaseRow]:
    """Yield rows of one text that several places of a case hold once."""
    met = set()
    for row in sorted(rows, key=lambda row: row.place):
        key = (row.name, *(row.cell(name) for name in columns))
        if key not in met:
            met.add(key)
            yield row
