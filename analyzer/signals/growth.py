"""Counters of loss that moved between two outputs of one object within a case: they count now, not once since a boot.

Two outputs are of different moments when their captures are (`README` of a bundle, `date` above a command), or when one
stands below the other in the same text. Where a counter of the row fell, counting began again in between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.artefacts.tables import Row
from analyzer.facts import Facts
from analyzer.signals.cell_signs import read_moment, read_number

_BUNDLE = ("esxi.bundle", "captured")
_CLOCK = ("esxi.clock", "host_time")
MANY = 10  # of so many more something is going on
_UNITS = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "h"), (90, 60, "min"))


class CaptureTimes:
    """When the outputs of a case were taken, as the bundle or the text they stand in says."""

    def __init__(self, facts: Facts) -> None:
        self._roots = [
            (row.block.address.removesuffix("README"), str(row.values[_BUNDLE[1]]))
            for row in list_dated(facts, *_BUNDLE)
        ]
        self._dates: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in list_dated(facts, *_CLOCK):
            self._dates[row.block.address].append((row.line, str(row.values[_CLOCK[1]])))
        for dates in self._dates.values():
            dates.sort()

    def find_moment(self, row: Row) -> str:
        """Return when a row was taken, ISO 8601 UTC, "" where nothing says so."""
        address = row.block.address
        if row.block.taken:
            return row.block.taken
        dates = self._dates.get(address, [])
        above = bisect_left(dates, (row.line, ""))
        if above:
            return dates[above - 1][1]
        return next((taken for root, taken in self._roots if address.startswith(root)), "")

    def order_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return rows with those of older bundles first; the order of one bundle or text stays."""
        if len(self._roots) < 2:
            return rows
        return sorted(rows, key=self.find_moment)


def list_dated(facts: Facts, table: str, column: str) -> Iterator[Row]:
    """Yield the rows of a table that have a time."""
    if table in facts.tables:
        yield from (row for row in facts.store(table).rows if row.values.get(column))


class CounterGrowth(NamedTuple):
    """How much a counter grew between two outputs, in how many seconds where that is known, and its whole beside it."""

    by: float
    seconds: float | None
    whole: float

    def describe(self) -> str:
        """Return it in words: `grew by 1,204 within 5 min`."""
        span = (
            "between two outputs" if self.seconds is None else f"within {write_span(self.seconds)}"
        )
        return f"grew by {self.by:,.0f} {span}"


def find_growth(
    times: CaptureTimes, rows: Sequence[Row], column: str, whole: str = ""
) -> CounterGrowth | None:
    """Return how much a counter grew from the first of the outputs of its object to the last, None where it did not.

    rows   of one object, the oldest first
    whole  column of what the counter is a part of, "" for none
    """
    last = rows[-1]
    first, moment = last, times.find_moment(last)
    for row in reversed(rows[:-1]):
        if has_fallen(row, first, column, whole):
            break
        if is_apart(times.find_moment(row), moment) or is_above(row, last):
            first = row
    by = read_change(first, last, column)
    if first is last or by < 1:
        return None
    seconds = None
    begun = times.find_moment(first)
    if is_apart(begun, moment):
        seconds = (read_moment(moment) - read_moment(begun)).total_seconds()
    return CounterGrowth(by, seconds, read_change(first, last, whole))


def is_apart(older: str, newer: str) -> bool:
    """Tell whether two moments are known and one is before the other."""
    return bool(older) and bool(newer) and older < newer


def is_above(row: Row, last: Row) -> bool:
    """Tell whether a row is of another output above in the same text."""
    return row.block is not last.block and row.block.address == last.block.address


def has_fallen(older: Row, newer: Row, *columns: str) -> bool:
    """Tell whether a counter of a row is smaller in a later output, or missing there."""
    return any(name and read_change(older, newer, name) < 0 for name in columns)


def read_change(older: Row, newer: Row, column: str) -> float:
    """Return by how much a counter changed, -1 where one of the outputs has none."""
    before, after = read_number(older.values.get(column)), read_number(newer.values.get(column))
    return -1.0 if before is None or after is None else after - before


def write_span(seconds: float) -> str:
    """Return a length of time, rounded: `40 s`, `5 min`, `3 h`, `4 days`."""
    for least, size, unit in _UNITS:
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
