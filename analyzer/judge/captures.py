"""Samples of a capture as numpy columns: a column of all frames, or the part that belongs to one object.

Values of which some are unknown are a `Vector`: the cells, and which of them are known.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts.samples import SampleColumns, SampleLines, floats_of, join_numbers
from analyzer.artefacts.tables import Block, Frame, Kind
from analyzer.facts.database import fitting, plain_many, version_key
from analyzer.facts.records import Store

Grouping = tuple[
    str, Kind, Callable[[Any], Hashable] | None
]  # a column, its kind, how its cells are compared


@dataclass(frozen=True, slots=True)
class Vector:
    """Cells side by side, or one for all of them, and which are known: an array of bool, or one for all."""

    cells: Any
    known: Any = True

    def listed(self) -> list[Any]:
        """Return the cells as Python values, None where one is unknown; of a vector that is an array."""
        cells = self.cells.tolist()
        if self.known is True:
            return list(cells)
        return [
            cell if known else None for cell, known in zip(cells, self.known.tolist(), strict=True)
        ]


@dataclass(slots=True)
class SampleCapture:
    """Frames of one origin whose rows are numbered on.

    first    number of the first row; node: name of the node
    objects  how many stand in each sample, one behind the other; 0 where rows are in no such order
    """

    first: int
    node: str
    objects: int = 0
    frames: list[Frame] = field(default_factory=list)
    _count: int = 0
    _lines: Any = None
    _stamps: list[str] | None = None
    _held: dict[str, Vector | None] = field(default_factory=dict)
    _groups: dict[Hashable, dict[tuple[Any, ...], Any]] = field(default_factory=dict)

    @property
    def block(self) -> Block:
        """Where the capture was read."""
        return self.frames[0].block

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def add(self, frame: Frame) -> None:
        """Take the next frame."""
        self.frames.append(frame)
        self._count += len(frame.line)

    def cells(self, column: str, kind: Kind, places: Any = None) -> Vector | None:
        """Return a column, or the part of it at some places (a slice or numbers); None when no frame has it."""
        if not any(column in frame.columns for frame in self.frames):
            return None
        columns = self.frames[0].columns
        if self.objects and isinstance(columns, SampleColumns):
            if column in columns.names:
                names = _typed(columns.names[column], kind)
                return _at(names, self._spots(places) % self.objects)
            if column in columns.moments:
                return _at(self._whole(column, kind), self._spots(places) // self.objects)
            return self._numbers(column, kind, places)
        whole = self._whole(column, kind)
        return whole if places is None else _at(whole, self._spots(places))

    def _numbers(self, column: str, kind: Kind, places: Any) -> Vector:
        """Return counters, as floats; the packed numbers of all frames are kept side by side."""
        import numpy as np  # noqa: PLC0415 - heavy

        if column not in self._held:
            parts = [frame.columns.numbers[column] for frame in self.frames]  # type: ignore[attr-defined]
            there = [part for part in parts if part is not None]
            self._held[column] = (
                Vector(join_numbers(there).plain()) if len(there) == len(parts) else None
            )
        held = self._held[column]
        if held is None:
            return Vector(
                np.zeros(len(self._spots(places))), np.zeros(len(self._spots(places)), dtype=bool)
            )
        return _typed(floats_of(held.cells if places is None else held.cells[places]), kind)

    def drawn(self, column: str, places: Any) -> tuple[list[str], Any] | None:
        """Return the stamps of the samples at some places in which a counter is known, and its floats there.

        None where only the rows can tell: the column is no counter, or the places hold a sample more than once or
        out of order, or the samples have no ascending stamps.
        """
        import numpy as np  # noqa: PLC0415 - heavy

        parts = [getattr(frame.columns, "numbers", {}).get(column) for frame in self.frames]
        if not self.objects or any(part is None for part in parts):
            return None
        samples = self._spots(places) // self.objects
        stamps = self.stamps()
        if not stamps or not (np.diff(samples) > 0).all():
            return None
        found = self._numbers(column, "float", places)
        known = np.broadcast_to(found.known, samples.shape)
        return [stamps[sample] for sample in samples[known].tolist()], found.cells[known]

    def stamps(self) -> list[str]:
        """Return the time of each sample, else its number; nothing where one has none or they do not ascend."""
        if self._stamps is None:
            stamps = [str(value) for value in self._moments() if value is not None]
            keys = [by_time(stamp) for stamp in stamps]
            ascend = len(stamps) * self.objects == self.count and all(
                map(operator.lt, keys, keys[1:])
            )
            self._stamps = stamps if ascend else []
        return self._stamps

    def _moments(self) -> list[Any]:
        for name in ("time", "sample"):
            parts = [getattr(frame.columns, "moments", {}).get(name) for frame in self.frames]
            if self.frames[0].table.column(name) is not None and any(
                name in frame.columns for frame in self.frames
            ):
                return [
                    cell
                    for part in parts
                    if part is not None
                    for cell in plain_many(part, range(len(part)))
                ]
        return []

    def _whole(self, column: str, kind: Kind) -> Vector:
        """Return a column of all frames; of a column that is the same for a sample, one cell for each sample."""
        import numpy as np  # noqa: PLC0415 - heavy

        held = self._held.get(column)
        if held is None:
            parts = []
            for frame in self.frames:
                columns = frame.columns
                if self.objects and isinstance(columns, SampleColumns):
                    parts.append(np.asarray(columns.moments[column]))
                elif column in columns:
                    parts.append(np.asarray(columns[column]))
                else:
                    parts.append(np.full(len(frame.line), None, dtype=object))
            held = self._held[column] = _typed(
                parts[0] if len(parts) == 1 else np.concatenate(parts), kind
            )
        return held

    def _spots(self, places: Any) -> Any:
        import numpy as np  # noqa: PLC0415 - heavy

        if places is None:
            return np.arange(self.count)
        return np.arange(*places.indices(self.count)) if isinstance(places, slice) else places

    def numbers(self, places: Any = None) -> Any:
        """Return the numbers of rows."""
        return self._spots(places) + self.first

    def lines(self, places: Any = None) -> Any:
        """Return the lines of rows."""
        import numpy as np  # noqa: PLC0415 - heavy

        by_sample = self.objects and all(
            isinstance(frame.line, SampleLines) for frame in self.frames
        )
        if self._lines is None:
            own = [
                frame.line.numbers if by_sample else np.asarray(frame.line) for frame in self.frames
            ]
            self._lines = np.concatenate(own)
        spots = self._spots(places)
        return self._lines[spots // self.objects if by_sample else spots]

    def groups(self, columns: Sequence[Grouping]) -> dict[tuple[Any, ...], Any]:
        """Return cells of some columns -> places of the rows that hold them; a row with an unknown one has no place."""
        index = tuple(columns)
        if index not in self._groups:
            self._groups[index] = dict(self._grouped(columns))
        return self._groups[index]

    def _grouped(self, columns: Sequence[Grouping]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        import numpy as np  # noqa: PLC0415 - heavy

        own = self.frames[0].columns
        by_object = (
            self.objects
            and isinstance(own, SampleColumns)
            and all(name in own.names for name, *_ in columns)
        )
        if not columns:
            yield (), slice(None)
            return
        some = slice(0, self.objects) if by_object else None
        vectors = [self.cells(name, kind, some) for name, kind, _ in columns]
        if any(vector is None for vector in vectors):
            return
        keys: dict[tuple[Any, ...], list[int]] = {}
        lists = [vector.listed() for vector in vectors if vector is not None]
        for place, cells in enumerate(zip(*lists, strict=True)):
            if None not in cells:
                folded = zip(cells, columns, strict=True)
                key = tuple(cell if fold is None else fold(cell) for cell, (_, _, fold) in folded)
                keys.setdefault(key, []).append(place)
        for key, places in keys.items():
            if by_object and len(places) == 1:
                yield key, slice(places[0], None, self.objects)
            elif by_object:
                rows = np.arange(self.count).reshape(-1, self.objects)[:, places]
                yield key, rows.reshape(-1)
            else:
                yield key, np.array(places)


def by_time(stamp: str) -> tuple[int, str]:
    """Return the sort key of a sample's stamp: a number, or an ISO time."""
    return (int(stamp), "") if stamp.isdigit() else (0, stamp)


def captures_of(store: Store, name: Callable[[str], str]) -> list[SampleCapture]:
    """Return the frames of a table as captures: those of the same objects and of one origin together."""
    found: list[SampleCapture] = []
    for first, frame in store.placed():
        if not len(frame.line):
            continue
        last = found[-1] if found else None
        if last is not None and last.objects and _goes_on(last, frame, first):
            last.add(frame)
            continue
        columns = frame.columns
        objects = columns.objects if isinstance(columns, SampleColumns) else 0
        found.append(SampleCapture(first, name(frame.block.node), objects))
        found[-1].add(frame)
    return found


def _goes_on(capture: SampleCapture, frame: Frame, first: int) -> bool:
    mine, theirs = capture.frames[0].columns, frame.columns
    alike = (
        isinstance(mine, SampleColumns)
        and isinstance(theirs, SampleColumns)
        and mine.names is theirs.names
    )
    return alike and capture.block is frame.block and capture.first + capture.count == first


def _at(vector: Vector, places: Any) -> Vector:
    return Vector(
        vector.cells[places], vector.known if vector.known is True else vector.known[places]
    )


def _typed(cells: Any, kind: Kind) -> Vector:
    """Return an array as cells of a column's kind; what is not of it is unknown."""
    import numpy as np  # noqa: PLC0415 - heavy

    cells = np.asarray(cells)
    if kind == "float" and cells.dtype.kind in "fiu":
        known = np.isfinite(cells)
        return Vector(cells, True if known.all() else known)
    if kind == "int" and cells.dtype.kind in "iu":
        return Vector(cells)
    if kind == "int" and cells.dtype.kind == "f":
        known = np.isfinite(cells)
        whole = np.rint(np.where(known, cells, 0)).astype(np.int64)
        return Vector(whole, True if known.all() else known)
    if kind == "time" and cells.dtype.kind == "M":
        known = ~np.isnat(cells)
        return Vector(cells.astype("datetime64[us]"), True if known.all() else known)
    if kind == "bool" and cells.dtype.kind == "b":
        return Vector(cells)
    return _objects(cells.tolist(), kind)


def _objects(cells: list[Any], kind: Kind) -> Vector:
    import numpy as np  # noqa: PLC0415 - heavy

    fitted = [fitting(cell, kind) for cell in cells]
    known = np.array([cell is not None for cell in fitted], dtype=bool)
    empty: Any = _EMPTY[kind]
    if kind == "time":
        array = np.array(
            ["NaT" if cell is None else cell for cell in fitted], dtype="datetime64[us]"
        )
    else:
        array = np.array([empty if cell is None else cell for cell in fitted], dtype=_DTYPES[kind])
    return Vector(array, True if known.all() else known)


_DTYPES: dict[Kind, Any] = {
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "str": object,
    "version": object,
}
_EMPTY: dict[Kind, Any] = {
    "int": 0,
    "float": 0.0,
    "bool": False,
    "str": "",
    "version": "",
    "time": None,
}


def versions(vector: Vector) -> Vector:
    """Return versions as texts that sort as they do; what is none is unknown."""
    import numpy as np  # noqa: PLC0415 - heavy

    keys = [version_key(cell) for cell in vector.listed()]
    return Vector(
        np.array([key or "" for key in keys], dtype=object),
        np.array([key is not None for key in keys]),
    )
