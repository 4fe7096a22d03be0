"""Samples of a capture as numpy columns: their cells, and checked expressions over all of them at once.

Values of which some are unknown are a `Vector`: the cells, and which of them are known. Nothing here is imported by a
case without samples: numpy takes longer to load than such a case to judge.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from analyzer.artefacts.samples import SampleColumns, SampleLines, floats_of, join_numbers
from analyzer.artefacts.tables import Block, Frame, Kind, Table
from analyzer.facts.database import fitting, own_columns, plain_many, version_key
from analyzer.facts.records import Store
from analyzer.judge.case_rows import (
    CaseRow,
    Fold,
    Key,
    make_object_key,
    parse_moment,
    sort_stamp,
)
from analyzer.judge.closures import (
    COMPARE,
    HUGE,
    WHOLE,
    Closures,
    Env,
    find_bounded,
    read_literal,
)
from analyzer.rules.language.expression import ExprNode

Grouping = tuple[str, Kind, Fold]  # a column, its kind, how its cells are compared

_DTYPES: dict[Kind, Any] = {
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "str": object,
    "version": object,
    "time": "datetime64[us]",
}
_EMPTY: dict[Kind, Any] = {
    "int": 0,
    "float": 0.0,
    "bool": False,
    "str": "",
    "version": "",
    "time": "NaT",
}


# -- cells


@dataclass(frozen=True, slots=True)
class Vector:
    """Many cells, or one for all of them, and which are known: an array of bool, or one for all."""

    cells: Any
    known: Any = True

    def list_cells(self) -> list[Any]:
        """Return the cells as Python values, None where one is unknown; of a vector that is an array."""
        cells = self.cells.tolist()
        if self.known is True:
            return list(cells)
        pairs = zip(cells, self.known.tolist(), strict=True)
        return [cell if known else None for cell, known in pairs]

    def pick_places(self, places: Any) -> Vector:
        """Return the cells at some places."""
        known = True if self.known is True else self.known[places]
        return Vector(self.cells[places], known)


UNKNOWN = Vector(None, known=False)


def make_vector(cells: Any, known: Any) -> Vector:
    """Return cells with an array of which are known, or True where all are."""
    return Vector(cells, True if known.all() else known)


def type_cells(cells: Any, kind: Kind) -> Vector:
    """Return an array as cells of a column's kind; what is not of it is unknown."""
    cells = np.asarray(cells)
    code = cells.dtype.kind
    if kind == "float" and code in "fiu":
        return make_vector(cells, np.isfinite(cells))
    if kind == "int" and code == "f":
        known = np.isfinite(cells)
        whole = np.rint(np.where(known, cells, 0))
        return make_vector(whole.astype(np.int64), known)
    if kind == "time" and code == "M":
        return make_vector(cells.astype("datetime64[us]"), ~np.isnat(cells))
    if (kind == "int" and code in "iu") or (kind == "bool" and code == "b"):
        return Vector(cells)
    fitted = [fitting(cell, kind) for cell in cells.tolist()]
    known = np.array([cell is not None for cell in fitted], dtype=bool)
    filled = [_EMPTY[kind] if cell is None else cell for cell in fitted]
    return make_vector(np.array(filled, dtype=_DTYPES[kind]), known)


def key_versions(vector: Vector) -> Vector:
    """Return versions as texts that sort as they do; what is none is unknown."""
    keys = [version_key(cell) for cell in vector.list_cells()]
    known = np.array([key is not None for key in keys])
    return Vector(np.array([key or "" for key in keys], dtype=object), known)


def unpack_value(value: Any) -> Any:
    """Return a numpy value as Python has it."""
    return value.item() if hasattr(value, "item") else value


# -- captures


@dataclass(slots=True)
class SampleCapture:
    """Frames of one origin whose rows are numbered on.

    first    number of the first row; node: name of the node
    objects  how many each sample has, one behind the other; 0 where rows are in no such order
    """

    first: int
    node: str
    objects: int = 0
    frames: list[Frame] = field(default_factory=list)
    count: int = 0
    _lines: Any = None
    _stamps: list[str] | None = None
    _vectors: dict[str, Vector | None] = field(default_factory=dict)
    _groups: dict[Hashable, dict[tuple[Any, ...], Any]] = field(default_factory=dict)

    @property
    def block(self) -> Block:
        """Where the capture was read."""
        return self.frames[0].block

    def add_frame(self, frame: Frame) -> None:
        """Take the next frame."""
        self.frames.append(frame)
        self.count += len(frame.line)

    def is_continued_by(self, frame: Frame, first: int) -> bool:
        """Say whether a frame, whose first row has a number, holds further samples of the same objects."""
        mine = self.frames[0].columns
        theirs = frame.columns
        return (
            isinstance(mine, SampleColumns)
            and isinstance(theirs, SampleColumns)
            and mine.names is theirs.names
            and self.block is frame.block
            and self.first + self.count == first
        )

    def read_column(self, column: str, kind: Kind, places: Any = None) -> Vector | None:
        """Return a column, or the part of it at some places (a slice or numbers); None when no frame has it."""
        if not any(column in frame.columns for frame in self.frames):
            return None
        columns = self.frames[0].columns
        if self.objects and isinstance(columns, SampleColumns):
            if column in columns.names:
                names = type_cells(columns.names[column], kind)
                return names.pick_places(self.list_places(places) % self.objects)
            if column not in columns.moments:
                return self._read_counter(column, kind, places)
            places = self.list_places(places) // self.objects  # one cell for each sample
        elif places is not None:
            places = self.list_places(places)
        whole = self._vectors.get(column)
        if whole is None:
            parts = [self._read_part(frame, column) for frame in self.frames]
            cells = parts[0] if len(parts) == 1 else np.concatenate(parts)
            whole = self._vectors[column] = type_cells(cells, kind)
        return whole if places is None else whole.pick_places(places)

    def _read_part(self, frame: Frame, column: str) -> Any:
        """Return a column of one frame; of a column that is the same for a sample, one cell for each sample."""
        columns = frame.columns
        if self.objects and isinstance(columns, SampleColumns):
            return np.asarray(columns.moments[column])
        if column in columns:
            return np.asarray(columns[column])
        return np.full(len(frame.line), None, dtype=object)

    def _read_counter(self, column: str, kind: Kind, places: Any) -> Vector:
        """Return counters, as floats; the packed numbers of all frames are joined once."""
        if column not in self._vectors:
            parts = [frame.columns.numbers[column] for frame in self.frames]  # type: ignore[attr-defined]
            complete = all(part is not None for part in parts)
            self._vectors[column] = Vector(join_numbers(parts).plain()) if complete else None
        vector = self._vectors[column]
        if vector is None:
            count = len(self.list_places(places))
            return Vector(np.zeros(count), np.zeros(count, dtype=bool))
        cells = vector.cells if places is None else vector.cells[places]
        return type_cells(floats_of(cells), kind)

    def draw_counter(self, column: str, places: Any) -> tuple[list[str], Any] | None:
        """Return the stamps of the samples at some places in which a counter is known, and its floats there.

        None where only the rows can tell: the column is no counter, or the places hold a sample more than once or
        out of order, or the samples have no ascending stamps.
        """
        for frame in self.frames:
            if getattr(frame.columns, "numbers", {}).get(column) is None:
                return None
        if not self.objects:
            return None
        samples = self.list_places(places) // self.objects
        stamps = self.list_stamps()
        if not stamps or not (np.diff(samples) > 0).all():
            return None
        found = self._read_counter(column, "float", places)
        known = np.broadcast_to(found.known, samples.shape)
        return [stamps[sample] for sample in samples[known].tolist()], found.cells[known]

    def list_stamps(self) -> list[str]:
        """Return the time of each sample, else its number; nothing where one has none or they do not ascend."""
        if self._stamps is None:
            stamps = [str(value) for value in self._list_moments() if value is not None]
            keys = [sort_stamp(stamp) for stamp in stamps]
            complete = len(stamps) * self.objects == self.count
            ascending = complete and all(map(operator.lt, keys, keys[1:]))
            self._stamps = stamps if ascending else []
        return self._stamps

    def _list_moments(self) -> list[Any]:
        """Return the times of the samples, else their numbers."""
        for name in ("time", "sample"):
            declared = self.frames[0].table.column(name) is not None
            if declared and any(name in frame.columns for frame in self.frames):
                found = []
                for frame in self.frames:
                    part = getattr(frame.columns, "moments", {}).get(name)
                    if part is not None:
                        found += plain_many(part, range(len(part)))
                return found
        return []

    def list_places(self, places: Any) -> Any:
        """Return places as numbers: a slice, numbers, or None for all."""
        if places is None:
            return np.arange(self.count)
        if isinstance(places, slice):
            return np.arange(*places.indices(self.count))
        return places

    def number_rows(self, places: Any = None) -> Any:
        """Return the numbers of rows."""
        return self.list_places(places) + self.first

    def list_lines(self, places: Any = None) -> Any:
        """Return the lines of rows."""
        lines = [frame.line for frame in self.frames]
        by_sample = self.objects and all(isinstance(line, SampleLines) for line in lines)
        if self._lines is None:
            own = [line.numbers if by_sample else np.asarray(line) for line in lines]
            self._lines = np.concatenate(own)
        numbers = self.list_places(places)
        return self._lines[numbers // self.objects if by_sample else numbers]

    def read_rows(self, table: Table, places: Any = None) -> Iterator[CaseRow]:
        """Yield the rows of the capture, or those at some places of it, one by one."""
        columns: dict[str, list[Any]] = {}
        for name, kind in own_columns(table):
            vector = self.read_column(name, kind, places)
            if vector is not None:
                columns[name] = vector.list_cells()
        block = self.block
        taken = parse_moment(block.taken) if block.taken else None
        lines = self.list_lines(places).tolist()
        for at, number in enumerate(self.number_rows(places).tolist()):
            cells = {}
            for name, column in columns.items():
                if column[at] is not None:
                    cells[name] = column[at]
            yield CaseRow(
                cells, block.node, self.node, block.address, block.order, lines[at], number, taken
            )

    def group_places(self, columns: Sequence[Grouping]) -> dict[tuple[Any, ...], Any]:
        """Return cells of some columns -> places of the rows that hold them; a row with an unknown one has no place."""
        index = tuple(columns)
        if index not in self._groups:
            self._groups[index] = self._group(columns)
        return self._groups[index]

    def cut_group(
        self, columns: Sequence[Grouping], cells: Sequence[Hashable]
    ) -> SampleSlice | None:
        """Return the samples that hold some cells in some columns, None where there are none."""
        places = self.group_places(columns).get(tuple(cells))
        if places is None:
            return None
        rows = range(self.count)[places] if isinstance(places, slice) else places
        return SampleSlice(self, places, len(rows))

    def _group(self, columns: Sequence[Grouping]) -> dict[tuple[Any, ...], Any]:
        """Return cells of some columns -> places; of columns that name objects every place of an object."""
        if not columns:
            return {(): slice(None)}
        own = self.frames[0].columns
        by_object = False
        if self.objects and isinstance(own, SampleColumns):
            by_object = all(name in own.names for name, *_ in columns)
        lists = []
        for name, kind, _ in columns:
            vector = self.read_column(name, kind, slice(0, self.objects) if by_object else None)
            if vector is None:
                return {}
            lists.append(vector.list_cells())
        keys: dict[tuple[Any, ...], list[int]] = {}
        for place, cells in enumerate(zip(*lists, strict=True)):
            if None in cells:
                continue
            key = []
            for cell, (_, _, fold) in zip(cells, columns, strict=True):
                key.append(cell if fold is None else fold(cell))
            keys.setdefault(tuple(key), []).append(place)
        found: dict[tuple[Any, ...], Any] = {}
        for folded, places in keys.items():
            if not by_object:
                found[folded] = np.array(places)
            elif len(places) == 1:
                found[folded] = slice(places[0], None, self.objects)
            else:
                rows = np.arange(self.count).reshape(-1, self.objects)
                found[folded] = rows[:, places].reshape(-1)
        return found


def read_captures(store: Store, name: Callable[[str], str]) -> list[SampleCapture]:
    """Return the frames of a table as captures: those of the same objects and of one origin together."""
    found: list[SampleCapture] = []
    for first, frame in store.number_frames():
        if not len(frame.line):
            continue
        last = found[-1] if found else None
        if last is None or not last.objects or not last.is_continued_by(frame, first):
            columns = frame.columns
            objects = columns.objects if isinstance(columns, SampleColumns) else 0
            last = SampleCapture(first, name(frame.block.node), objects)
            found.append(last)
        last.add_frame(frame)
    return found


# -- the samples of one subject


@dataclass(frozen=True, slots=True)
class SampleSlice:
    """The samples of one subject in one capture: places in it (a slice or numbers), and which rows may not belong."""

    capture: SampleCapture
    places: Any
    count: int
    maybe: Any = None

    def count_rows(self) -> tuple[Any, Any]:
        """Return a one for every row as an array, and which rows belong."""
        known = np.ones(self.count, dtype=bool) if self.maybe is None else ~self.maybe
        return np.ones(self.count, dtype=bool), known

    def spread_vector(self, vector: Vector) -> tuple[Any, Any]:
        """Return cells and what is known as arrays of the stretch's length; rows that may not belong are unknown."""
        known = np.broadcast_to(np.asarray(vector.known, dtype=bool), (self.count,))
        if vector.known is False:
            return np.zeros(self.count, dtype=bool), known
        if self.maybe is not None:
            known = known & ~self.maybe
        return np.broadcast_to(np.asarray(vector.cells), (self.count,)), known

    def find_extreme(self, cells: Any, mask: Any, *, least: bool) -> tuple[Any, int] | None:
        """Return the extreme cell of those in a mask with the number of its row; None where the mask is empty."""
        chosen = mask.nonzero()[0]
        if not len(chosen):
            return None
        own = cells[chosen]
        at = int(chosen[int(own.argmin() if least else own.argmax())])
        return unpack_value(cells[at]), int(self.capture.number_rows(self.places)[at])

    @staticmethod
    def fold_cells(op: str, cells: Any, start: Any) -> Any:
        """Return known cells folded by max, min or sum, going on from a value; None over none."""
        if not len(cells):
            return start
        if op == "sum":
            if cells.dtype.kind in "iuOb":
                total = sum(cells.tolist(), start or 0)
                if isinstance(total, int) and abs(total) >= HUGE:
                    return None
                return total
            whole = np.concatenate([[0.0 if start is None else start], cells.astype(float)])
            return float(np.add.accumulate(whole)[-1])  # one by one, in the order of the rows
        pick = max if op == "max" else min
        found = unpack_value(cells.max() if op == "max" else cells.min())
        return found if start is None else pick(start, found)

    def list_sort_keys(self, chosen: Any = slice(None)) -> list[tuple[float, float, int]]:
        """Return the sort keys of some rows of a stretch: where they are in the case, and their number last."""
        lines = self.capture.list_lines(self.places)[chosen].tolist()
        numbers = self.capture.number_rows(self.places)[chosen].tolist()
        order = self.capture.block.order
        return [(order, line, number) for line, number in zip(lines, numbers, strict=True)]

    def keep_fitting(self, vector: Vector) -> SampleSlice | None:
        """Return the rows of a stretch for which a condition holds, or may; None where there are none."""
        cells, known = self.spread_vector(vector)
        fits = ~known | cells.astype(bool)
        if not fits.any():
            return None
        places = np.arange(self.capture.count)[self.places][fits]
        return SampleSlice(self.capture, places, len(places), (~known)[fits])

    def split_objects(self, table: Table) -> Iterator[tuple[Key, SampleSlice]]:
        """Yield the samples of a stretch object by object."""
        capture = self.capture
        names = table.key
        every = np.arange(capture.count)
        position = np.full(capture.count, -1)  # of a row in this stretch
        position[self.places] = np.arange(self.count)
        left = position >= 0

        def pick_part(places: Any) -> SampleSlice:
            maybe = None if self.maybe is None else self.maybe[position[places]]
            return SampleSlice(capture, places, len(places), maybe)

        kinds = {column.name: column.kind for column in table.columns}
        groups = capture.group_places([(name, kinds[name], None) for name in names])
        for key, places in groups.items():
            chosen = every[places]
            chosen = chosen[position[chosen] >= 0]
            if len(chosen):
                left[chosen] = False
                yield (capture.block.node, *key), pick_part(chosen)
        rest = np.flatnonzero(left)  # rows without a whole key
        for row, place in zip(capture.read_rows(table, rest), rest, strict=True):
            yield make_object_key(row, names), pick_part(np.array([place]))


# -- expressions

VectorFn = Callable[[Env, SampleSlice], Vector]


class VectorClosures:
    """The functions of expressions over the rows of one alias: for all samples of a stretch at once, three-valued.

    What no column can say (a fold inside a row, a comparison of bounds) is worked out row by row.
    """

    def __init__(self, alias: str, table: Table, slot: int, scalars: Closures) -> None:
        self.alias = alias
        self.table = table
        self.slot = slot
        self.scalars = scalars
        self._made: dict[int, VectorFn] = {}

    def __call__(self, node: ExprNode) -> VectorFn:
        """Return the function that gives the values of a node for every row of a stretch."""
        found = self._made.get(id(node))
        if found is None:
            found = self._made[id(node)] = self._make(node)
        return found

    def _make(self, node: ExprNode) -> VectorFn:
        """Return the function of a node, over columns where that can be."""
        if not self._varies(node):
            value = self.scalars(node)
            return lambda env, _: wrap_scalar(value(env))
        make = _MAKE.get(node.op)
        if make is None or any(leaf.is_aggregate and self._varies(leaf) for leaf in node.walk()):
            return self._go_by_row(node)
        by_size = node.op == "compare" and node.name not in ("==", "!=")
        if by_size and any(find_bounded(child) for child in node.args):
            return self._go_by_row(node)
        return make(self, node)

    def _varies(self, node: ExprNode) -> bool:
        """Say whether a node's value differs from row to row."""
        return any(leaf.op in ("column", "row") and leaf.name == self.alias for leaf in node.walk())

    def _go_by_row(self, node: ExprNode) -> VectorFn:
        """Return what works a node out row by row."""
        value = self.scalars(node)
        slot = self.slot

        def work_out_rows(env: Env, stretch: SampleSlice) -> Vector:
            held = env[slot]
            found = []
            for env[slot] in stretch.capture.read_rows(self.table, stretch.places):
                found.append(value(env))
            env[slot] = held
            known = np.array([one is not None for one in found], dtype=bool)
            return Vector(np.array(found, dtype=object), known)

        return work_out_rows

    # -- leaves

    def make_column(self, node: ExprNode) -> VectorFn:
        """Return what gives the cells of a column."""
        column = self.table.column(node.column)
        if column is None or node.column in ("node", "taken"):
            return self._go_by_row(node)
        kind = column.kind

        def read_cells(_: Env, stretch: SampleSlice) -> Vector:
            found = stretch.capture.read_column(node.column, kind, stretch.places)
            if found is None:
                return UNKNOWN
            return key_versions(found) if node.type == "version" else found

        return read_cells

    def make_row(self, _: ExprNode) -> VectorFn:
        """Return what says that there is a row."""
        return lambda *_: Vector(cells=True)

    def make_let(self, node: ExprNode) -> VectorFn:
        """Return what gives a named value."""
        return self(node.args[0])

    def make_literal(self, node: ExprNode) -> VectorFn:
        """Return what gives a constant."""
        value = read_literal(node)
        return lambda *_: wrap_scalar(value)

    # -- logic

    def make_logical(self, node: ExprNode) -> VectorFn:
        """Return what answers `and` or `or`."""
        parts = [self(child) for child in node.args]
        either = node.op == "or"
        join_true = np.logical_or if either else np.logical_and
        join_false = np.logical_and if either else np.logical_or

        def combine(env: Env, stretch: SampleSlice) -> Vector:
            true: Any = not either
            false: Any = either
            for part in parts:
                one = part(env, stretch)
                yes: Any = False
                no: Any = False
                if one.known is not False:
                    yes = np.logical_and(one.cells, one.known)
                    no = np.logical_and(np.logical_not(one.cells), one.known)
                true = join_true(true, yes)
                false = join_false(false, no)
            return Vector(true, np.logical_or(true, false))

        return combine

    def make_not(self, node: ExprNode) -> VectorFn:
        """Return what answers `not`."""
        part = self(node.args[0])

        def negate(env: Env, stretch: SampleSlice) -> Vector:
            one = part(env, stretch)
            if one.known is False:
                return one
            return Vector(np.logical_not(one.cells), one.known)

        return negate

    def make_known(self, node: ExprNode) -> VectorFn:
        """Return what tells whether a value is known."""
        argument = node.args[0]
        value = self(argument)
        doubts = self.scalars.list_doubts(argument)

        def is_known(env: Env, stretch: SampleSlice) -> Vector:
            there = value(env, stretch).known
            return Vector(there, there if any(doubt(env) for doubt in doubts) else True)

        return is_known

    # -- numbers

    def make_negative(self, node: ExprNode) -> VectorFn:
        """Return what gives a number with the other sign."""
        part = self(node.args[0])

        def change_sign(env: Env, stretch: SampleSlice) -> Vector:
            one = part(env, stretch)
            if one.known is False:
                return one
            return Vector(-one.cells, one.known)

        return change_sign

    def make_arithmetic(self, node: ExprNode) -> VectorFn:
        """Return what gives a sum, difference, product or quotient."""
        if node.args[0].type == "time" or node.type == "int":
            return self._go_by_row(node)  # whole numbers grow beyond what an array holds
        one, two = (self(child) for child in node.args)
        op = node.op

        def work_out(env: Env, stretch: SampleSlice) -> Vector:
            left = one(env, stretch)
            right = two(env, stretch)
            known = find_known(left, right)
            if known is False:
                return UNKNOWN
            mine = np.asarray(left.cells, dtype=float)
            other = np.asarray(right.cells, dtype=float)
            with np.errstate(all="ignore"):
                if op != "/":
                    return Vector(WHOLE[op](mine, other), known)
                divided = np.divide(mine, np.where(other == 0, 1.0, other))
                return Vector(divided, np.logical_and(known, other != 0))

        return work_out

    # -- comparisons

    def make_comparison(self, node: ExprNode) -> VectorFn:
        """Return what compares two values."""
        one, two = (self(child) for child in node.args)
        compare = COMPARE[node.name]

        def compare_cells(env: Env, stretch: SampleSlice) -> Vector:
            left = one(env, stretch)
            right = two(env, stretch)
            known = find_known(left, right)
            if known is False:
                return UNKNOWN
            return Vector(compare(left.cells, right.cells), known)

        return compare_cells

    def make_membership(self, node: ExprNode) -> VectorFn:
        """Return what tells whether a value is one of several."""
        value, *choices = (self(child) for child in node.args)

        def is_member(env: Env, stretch: SampleSlice) -> Vector:
            mine = value(env, stretch)
            true: Any = False
            whole: Any = mine.known
            for choice in choices:
                other = choice(env, stretch)
                known = find_known(mine, other)
                whole = np.logical_and(whole, other.known)
                if known is not False:
                    true = np.logical_or(true, np.logical_and(mine.cells == other.cells, known))
            return Vector(true, np.logical_or(true, whole))

        return is_member


def wrap_scalar(value: Any) -> Vector:
    """Return a value of the subject as cells that are all the same."""
    if value is None:
        return UNKNOWN
    return Vector(np.datetime64(value, "us") if isinstance(value, datetime) else value)


def find_known(one: Vector, two: Vector) -> Any:
    """Return where two vectors are known: True or False for all cells, else an array."""
    if one.known is False or two.known is False:
        return False
    if one.known is True:
        return two.known
    return one.known if two.known is True else one.known & two.known


_MAKE: dict[str, Callable[[VectorClosures, ExprNode], VectorFn]] = {
    "literal": VectorClosures.make_literal,
    "column": VectorClosures.make_column,
    "row": VectorClosures.make_row,
    "let": VectorClosures.make_let,
    "and": VectorClosures.make_logical,
    "or": VectorClosures.make_logical,
    "not": VectorClosures.make_not,
    "neg": VectorClosures.make_negative,
    **dict.fromkeys("+-*/", VectorClosures.make_arithmetic),
    "compare": VectorClosures.make_comparison,
    "in": VectorClosures.make_membership,
    "known": VectorClosures.make_known,
}
