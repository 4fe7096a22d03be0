"""One capture of an esxtop batch CSV: rows checked, cells made numbers, frames cut out of them."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from analyzer.artefacts.logtime import FarTimeError
from analyzer.artefacts.parsing import Wanted
from analyzer.artefacts.samples import Packed, SampleColumns, SampleLines, pack_numbers
from analyzer.artefacts.tables import Block, Fault, Frame, Row, Value

from . import _esxtop_header as header
from ._esxtop_cells import (
    count_decimals,
    find_runs,
    place_array,
    read_number,
    read_time,
    unquote_field,
)
from ._esxtop_numbers import SPARE, read_hundredths
from ._esxtop_tables import CAPTURE

PARSER_NAME = "esxtop_csv"
_ROW = 64  # what a row costs besides its cells
_LONG = 4096  # characters of a row from which numpy finds its fields faster
_MANY = (
    600  # wanted cells of a long row from which reading them at once is faster than numpy.loadtxt
)
BATCH_CHARACTERS = 2 << 20  # text (or bytes of numbers) held before it becomes frames
FAULTS_OF_A_KIND = 20

_CLOCK_ONLY = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?")

Cells = Any  # the wanted cells of a row: text (str), or a numpy array of float64


def format_time(time: datetime | None) -> str | None:
    """Return a time as tables hold it, to the second."""
    if time is None:
        return None
    return time.isoformat(" ", "seconds")


@dataclass(slots=True)
class Seen:
    """What one capture, or one VM over several, has shown."""

    line: int
    samples: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, other: Seen) -> None:
        self.samples += other.samples
        self.first = self.first or other.first
        self.last = other.last or self.last


@dataclass(slots=True)
class Faults:
    """Faults of one file: the first of each kind one by one, the rest as one line with their count."""

    block: Block
    counts: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, line: int, text: str, why: str) -> Iterator[Fault]:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.last[kind] = line
        if self.counts[kind] <= FAULTS_OF_A_KIND:
            yield Fault(self.block.address, line, text[:500], PARSER_NAME, why=why)

    def close(self) -> Iterator[Fault]:
        for kind, count in self.counts.items():
            if count > FAULTS_OF_A_KIND:
                why = f"{count - FAULTS_OF_A_KIND} more {kind}, the last on this line"
                yield Fault(self.block.address, self.last[kind], "", PARSER_NAME, why=why)


class Capture:
    """One heading and its rows."""

    def __init__(
        self,
        block: Block,
        faults: Faults,
        found: header.CaptureHeader,
        line: int,
        sample: int,
        wanted: Wanted = None,
    ) -> None:
        self.block, self.faults, self.header = block, faults, found
        self.seen = Seen(line)
        self.sample = sample  # number of the next sample in the file
        self.use = found.list_positions(wanted)
        self.runs = find_runs(self.use)
        self.places = place_array(self.use)
        self.groups = [_Group(objects, self.use, found) for objects in found.objects]
        self.rows_dropped = self.cells_dropped = self.clock_steps = 0
        self.lines: list[Cells] = []
        self.numbers: list[int] = []
        self.times: list[datetime | None] = []
        self.characters = 0
        self.clock: float | None = None  # of the row before, where stamps have no date
        self.decimals = 0  # of the last field of the row before

    def drop_row(self, number: int, line: str, why: str) -> Iterator[Fault]:
        """Count a row that cannot be trusted and say so."""
        self.rows_dropped += 1
        yield from self.faults.add("rows left out", number, line, f"{why}; it is left out")

    def describe_difference(self, line: str) -> str:
        """Say in what a row differs from the heading."""
        if line.count('"') % 2:
            return "a quote is left open in this row"
        fields = self._count_fields(line) or line.count(self.header.delimiter) + 1
        return f"{fields} fields, the heading has {self.header.width}: columns may have shifted"

    def take_row(self, number: int, line: str, cells: Cells) -> Iterator[Frame | Fault]:
        """Take one row and its wanted cells; every so often yield what has come together."""
        yield from self._read_stamp(number, line)
        self.decimals = count_decimals(line[-40:])
        self.lines.append(cells)
        self.numbers.append(number)
        self.characters += (len(cells) if isinstance(cells, str) else int(cells.nbytes)) + _ROW
        if self.characters >= BATCH_CHARACTERS:
            yield from self.flush_frames()

    def pick_cells(self, line: str, *, cut: bool) -> Cells | None:
        """Return the wanted cells of a row, or None when it has not as many fields as the heading.

        They come as text, those of a long plain row as numbers already.

        `cut` when the file ended behind it without a line end: a last field that is not closed by a quote or
        delimiter is taken for blank then, because a cut number looks whole.
        """
        width, delimiter = self.header.width, self.header.delimiter
        cells: Cells | None
        if cut and not line.endswith(('"', delimiter)):
            line = self._close_last_row(line)
        if len(line) >= _LONG and line.isascii():
            cells = self._pick_cells_of_long_row(line)
        else:
            regular = self._is_regular(line, line.count(delimiter), line.count('"'))
            fields = line.split(delimiter) if regular else []
            if regular:
                cells = delimiter.join([fields[at] for at in self.use])
            else:
                cells = None
        if cells is not None:
            if delimiter != "," and isinstance(cells, str):
                return cells.replace(",", ".")
            return cells
        if line.count('"') % 2 or self._count_fields(line) != width:
            return None
        fields = self._split_row(line)  # decimal commas in quotes, quotes here and there
        return delimiter.join([unquote_field(fields[at], delimiter) for at in self.use])

    def _close_last_row(self, line: str) -> str:
        """Return the last row of a file that may end inside its last field: blank, unless it is sure to be whole.

        It is where it has as many decimals as the field above it, and some.
        """
        before, delimiter, last = line.rpartition(self.header.delimiter)
        decimals = count_decimals(last)
        if decimals and decimals == self.decimals:
            return line
        return before + delimiter

    def _is_regular(self, line: str, commas: int, quotes: int) -> bool:
        """Say whether every delimiter parts two fields and every field is quoted, or none."""
        width = self.header.width
        if commas != width - 1 and not (commas == width and line.endswith(self.header.delimiter)):
            return False
        return quotes == 0 or (quotes == 2 * width and line.startswith('"'))

    def _pick_cells_of_long_row(self, line: str) -> Cells | None:
        """Cut the wanted cells out of a row of tens of thousands: as numbers, else in runs of neighbours."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        row = SPARE + line.encode("ascii")
        signs = np.frombuffer(row, dtype=np.uint8)
        commas = np.flatnonzero(signs == ord(self.header.delimiter))
        quotes = int(np.count_nonzero(signs == ord('"')))
        if not self._is_regular(line, len(commas), quotes):
            return None
        if not self.use:
            return ""
        commas = np.append(commas, len(row))
        if len(self.use) >= _MANY:
            starts = commas[self.places - 1] + 1
            ends = commas[self.places]
            numbers = None
            if not quotes:
                numbers = read_hundredths(row, starts, ends)
            elif (signs[starts] == ord('"')).all() and (signs[ends - 1] == ord('"')).all():
                numbers = read_hundredths(row, starts + 1, ends - 1)
            if numbers is not None:
                return numbers
        starts = commas[self.runs[0] - 1] + 1 - len(SPARE)
        ends = commas[self.runs[1]] - len(SPARE)
        pieces = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            pieces.append(line[start:end])
        return self.header.delimiter.join(pieces)

    def _count_fields(self, line: str) -> int:
        fields = self._split_row(line)
        return len(fields) - (len(fields) != self.header.width and fields[-1:] == [""])

    def _split_row(self, line: str) -> list[str]:
        """Split a row with care: quotes here and there, as spreadsheets write them."""
        if (
            line.count(self.header.delimiter) > 4 * self.header.width + 16
        ):  # twice is decimal commas
            return []
        if '"' not in line:
            return line.split(self.header.delimiter)
        bare = line.removesuffix(self.header.delimiter).removeprefix('"').removesuffix('"')
        fields = bare.split(f'"{self.header.delimiter}"')
        if len(fields) == self.header.width:
            return fields
        try:
            return next(csv.reader([line], delimiter=self.header.delimiter), [])
        except csv.Error:  # a field longer than any number
            return []

    def _read_stamp(self, number: int, line: str) -> Iterator[Fault]:
        """Read the time of a row; what is no time is a fault, and the row kept by its place."""
        end = line.find(self.header.delimiter, 0, 80)
        text = line[: max(end, 0)].strip('" ')
        time, why = None, "is not a time"
        try:
            time = read_time(text, self.header.bias_s)
        except FarTimeError as error:
            why = f"is {error}"
        if time is None and (clock := _CLOCK_ONLY.fullmatch(text)):
            # Note a stamp that lost its date
            parts = [float(part) for part in clock[0].split(":")]
            hourless = (
                len(parts) == 2 and "." in clock[0]
            )  # 26:35.0, as a spreadsheet shows minutes and seconds
            round_s = 3600 if hourless else 86_400
            seconds = sum(
                part * unit
                for part, unit in zip(parts, (60, 1) if hourless else (3600, 60, 1), strict=False)
            )
            if self.clock is not None and 0 < self.clock - seconds < round_s / 2:
                self.clock_steps += 1
            self.clock = seconds
        elif time is None:
            why = f"{text[:40]!r} {why}; the row is kept by its place"
            yield from self.faults.add("unreadable times", number, line, why)
        if time is not None and self.seen.last is not None and time < self.seen.last:
            self.clock_steps += 1
        self.seen.add(Seen(number, 1, time, time))
        self.times.append(time)

    def flush_frames(self) -> Iterator[Frame]:
        """Turn the rows held into frames, one a table; the first sample of a capture is left out."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        if not self.lines:
            return
        cells = self._collect_cells()
        numbers = np.array(self.numbers)
        times = np.array(self.times, dtype="datetime64[us]")
        first = self.seen.samples == len(self.lines)
        samples = np.arange(self.sample, self.sample + len(self.lines))
        self.sample += len(self.lines)
        self.lines, self.numbers, self.times, self.characters = [], [], [], 0
        if first:
            cells = cells[1:]
            numbers = numbers[1:]
            times = times[1:]
            samples = samples[1:]
        if len(samples):
            for group in self.groups:
                yield group.make_frame(self.block, cells, samples, times, numbers)

    def _collect_cells(self) -> Any:
        """Return the cells held, as hundredths where all rows came so; what is no measurement is NaN, and counted."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        if not self.use:
            return np.empty((len(self.lines), 0))
        if all(not isinstance(line, str) and line.dtype.kind == "i" for line in self.lines):
            cells = np.vstack(self.lines)
            nothing = float(np.iinfo(np.int32).min)
            usable = cells != -100  # esxtop's "no limit" and "not known": -1
        else:
            cells, nothing = self._collect_floats(), math.nan
            usable = np.isfinite(cells)
            usable &= cells != -1
        dropped = cells.size - int(np.count_nonzero(usable))
        if dropped:
            self.cells_dropped += dropped
            cells[~usable] = nothing
        return cells

    def _collect_floats(self) -> Any:
        """Return the cells held as floats."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        texts = [line for line in self.lines if isinstance(line, str)]
        cells: Any = np.empty((0, len(self.use)))
        if texts:
            try:
                cells = self._load_rows(texts)
            except ValueError:
                cells = np.vstack([self._read_row_carefully(line) for line in texts])
        if len(texts) == len(self.lines):
            return cells
        rows = iter(cells)
        return np.vstack(
            [
                next(rows)
                if isinstance(line, str)
                else line / 100.0
                if line.dtype.kind == "i"
                else line
                for line in self.lines
            ]
        )

    def _load_rows(self, lines: list[str]) -> Any:
        """Return the cells as numbers; ValueError when one is none."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        if not all(lines):
            raise ValueError("a row of one blank cell")
        cells = np.loadtxt(
            lines, delimiter=self.header.delimiter, quotechar='"', comments=None, ndmin=2
        )
        if cells.shape != (len(lines), len(self.use)):
            raise ValueError("a quote left open joined two cells")
        return cells

    def _read_row_carefully(self, line: str) -> Any:
        """Read one row alone, cell by cell when it is short or holds what is no number."""
        if len(line) >= _LONG:
            try:
                return self._load_rows([line])
            except ValueError:
                pass
        return [[read_number(text) for text in line.split(self.header.delimiter)]]

    def make_row(self) -> Row:
        """Return the esxtop.capture row."""
        values: dict[str, Value] = {
            "host": self.header.host or None,
            "samples": self.seen.samples,
            "first": format_time(self.seen.first),
            "last": format_time(self.seen.last),
            "columns_read": len(self.header.list_positions()),
            "columns_found": self.header.width - 1,
            "rows_dropped": self.rows_dropped,
            "cells_dropped": self.cells_dropped,
            "clock_steps": self.clock_steps,
        }
        return Row(CAPTURE, values, self.block, self.seen.line)


class _Group:
    """One table of a capture: how its frame is cut out of the cells."""

    def __init__(
        self, objects: header.Objects, use: list[int], found: header.CaptureHeader
    ) -> None:
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        self.table = objects.table
        self.objects = len(objects.columns)
        self.names = {
            name: self._name_objects(name, place, objects)
            for place, name in enumerate(objects.names)
        }
        self.cells = objects.map_headings(found.host)
        index = {at: number for number, at in enumerate(use)}
        self.places = {
            column.name: np.array(
                [index.get(cells.get(column.name, -1), -1) for cells in objects.columns.values()]
            )
            for column in self.table.columns
            if column.kind == "float"
        }
        self.least = {
            name: np.array([index[at] for at in places if at in index])
            for name, places in objects.least.items()
        }

    def _name_objects(self, name: str, place: int, objects: header.Objects) -> Any:
        """Return what names each object in one column; all frames share it."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        column = self.table.column(name)
        values = np.empty(
            self.objects, dtype="int64" if column and column.kind == "int" else object
        )
        values[:] = [key[place] for key in objects.columns]
        return values

    def make_frame(self, block: Block, cells: Any, samples: Any, times: Any, numbers: Any) -> Frame:
        """Return the samples of all objects, sample by sample."""
        moments = {"sample": samples, "time": times}
        counters = {name: self._pack_counter(cells, places) for name, places in self.places.items()}
        counters |= {
            name: _pack_least(cells, places) for name, places in self.least.items() if len(places)
        }
        columns = SampleColumns(self.names, moments, counters, len(samples), self.objects)
        return Frame(self.table, columns, SampleLines(numbers, self.objects), block, self.cells)

    def _pack_counter(self, cells: Any, places: Any) -> Packed | None:
        """Return the cells of one counter, packed; None where no object has it."""
        import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

        missing = places < 0
        if missing.all():
            return None
        values = np.take(cells, places, axis=1)
        if missing.any():
            if cells.dtype.kind == "f":
                values[:, missing] = np.nan
            else:
                values[:, missing] = np.iinfo(cells.dtype).min
        return pack_numbers(values)


def _pack_least(cells: Any, places: Any) -> Packed:
    """Return the least of some cells of each row, packed."""
    import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

    values = np.take(cells, places, axis=1)
    if values.dtype.kind == "f":
        return pack_numbers(np.fmin.reduce(values, axis=1))
    bounds = np.iinfo(values.dtype)  # the least number stands for "nothing"
    found = np.where(values == bounds.min, bounds.max, values).min(axis=1)
    found[found == bounds.max] = bounds.min
    return pack_numbers(found)
