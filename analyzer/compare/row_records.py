"""The records that a comparison of rows is made of, and how they are folded where tables say the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.artefacts.tables import Row, Table
from analyzer.case.comparison import Appearance, ComparedChange, ComparedCounter, Place, Uncompared
from analyzer.compare.counters import as_number
from analyzer.compare.resets import CounterStart
from analyzer.compare.subjects import ComparedSubject

NAMES = frozenset({"vm_name", "client_vm", "pnic", "vmnic", "hba", "vmx_path"})


@dataclass(slots=True)
class RowChanges:
    """What the rows of the sides say, as records of the comparison."""

    changes: list[ComparedChange] = field(default_factory=list)
    subjects: list[Appearance] = field(default_factory=list)
    counters: list[ComparedCounter] = field(default_factory=list)
    uncompared: list[Uncompared] = field(default_factory=list)
    renames: dict[tuple[int, str], str] = field(
        default_factory=dict
    )  # side and name there -> name on the first side
    replaced: set[tuple[int, str]] = field(
        default_factory=set
    )  # side and name of what is another thing there than before
    ports: dict[tuple[int, str], str] = field(
        default_factory=dict
    )  # side and number of a port -> number on the first


def count_separately(start: CounterStart) -> CounterStart:
    """Of two hosts each counts from its own start: shares are compared, nothing is subtracted."""
    return CounterStart("started again", start.why, start.rows)


def has_fallen(table: Table, earlier: ComparedSubject, later: ComparedSubject) -> bool:
    """Say whether a counter of a row is smaller than before: then all of the row started again."""
    cells = []
    for name in table.counters:
        old = as_number(earlier.value(name))
        new = as_number(later.value(name))
        cells.append((old, new))
    for old, new in cells:
        if old is not None and new is not None and new < old:
            return True
    return False


def list_places(start: CounterStart) -> list[Place]:
    """Return where the rows stand that say whether counting started again."""
    return [find_place(row, "") for row in start.rows]


def find_place(row: Row, column: str) -> Place:
    """Return where a cell stands, or the row itself where no column is named."""
    if column:
        block = row.block_of(column)
    else:
        block = row.block
    return Place(block.address, row.line_of(column) if column else row.line)


def fold_appearances(records: list[Appearance]) -> list[Appearance]:
    """Return what came and went once for each thing: ten tables may speak of one device."""
    found: dict[tuple[str, str, str], Appearance] = {}
    for record in records:
        known = found.setdefault((record.machine, record.subject, record.state), record)
        if known is not record:
            known.tables += [name for name in record.tables if name not in known.tables]
    return [*found.values()]


def drop_repeats(records: list[ComparedChange]) -> list[ComparedChange]:
    """Return each change once: several tables say the same, and a name is in many rows."""
    found: dict[tuple[str, ...], ComparedChange] = {}
    for record in records:
        values = repr(record.values)
        key: tuple[str, ...] = (record.column, record.subject, values)
        if record.column in NAMES:
            key = ("name", values)
        found.setdefault((record.machine, *key), record)
    return [*found.values()]
