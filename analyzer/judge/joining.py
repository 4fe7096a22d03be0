"""Joins rows of other tables to a subject: the nearest one, or all that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.facts import Facts
from analyzer.judge.captures import SampleCapture
from analyzer.judge.case_rows import (
    INFINITE,
    CaseRow,
    Fold,
    Key,
    after,
    capture_rows,
    key_of,
    key_of_object,
    moment,
    table_of,
)
from analyzer.judge.closures import Closures, Env, Fn
from analyzer.judge.vectors import Columns, SampleSlice, spread
from analyzer.rules import Join
from analyzer.rules.own import NAMES

Look = Callable[
    ..., None
]  # called with how many rows are looked at (else one), raises when a rule takes too long


@dataclass(slots=True)
class JoinedRows:
    """The many rows of an alias that belong to one subject.

    rows      of objects, in the order of their numbers; maybe: of which it is unknown whether they belong
    captures  of samples
    """

    rows: Sequence[CaseRow] = ()
    maybe: Sequence[bool] | None = None
    captures: Sequence[SampleSlice] = ()
    parts: dict[int, Any] = field(default_factory=dict)  # of aggregates that hang on the rows alone

    def __len__(self) -> int:
        return len(self.rows) + sum(one.count for one in self.captures)


NO_ROWS = JoinedRows()


def short_name(value: str) -> str:
    """Return a host's name up to the first dot, lower case; an address stays whole."""
    address = bool(value) and all(sign in "0123456789." for sign in value)
    return (value if address else value.partition(".")[0]).lower()


def lowered(value: str) -> str:
    """Return a name as it is compared where capitals do not matter."""
    return value.lower()


def same(mine: str, theirs: str, join: Join) -> Fold:
    """Return how two columns of a join are compared."""
    column = mine.rpartition(".")[2]
    declared = join.alias.column(theirs)
    if "node" in (column, theirs):
        return short_name
    named = declared is not None and declared.kind == "str" and (column in NAMES or theirs in NAMES)
    return lowered if named else None


class Joiner:
    """Finds the rows of one join for every subject.

    slot     where its row stands in what is known of a subject; a group of many stands in the next one
    closures  of the rule; wheres: of the conditions of its joins; look: called for every subject
    """

    def __init__(
        self,
        join: Join,
        facts: Facts,
        slots: dict[str, int],
        closures: Closures,
        wheres: Closures,
        look: Look,
    ) -> None:
        self.join, self.facts, self.look = join, facts, look
        self.name, self.many = join.alias.name, join.alias.many
        self.slot = slots[self.name]
        self.table = table_of(facts, join.alias.table.name)
        self.lines = join.alias.table.lines_of is not None
        folds = [same(mine, theirs, join) for mine, theirs in join.by]
        self.theirs = [(theirs, fold) for (_, theirs), fold in zip(join.by, folds, strict=True)]
        owners = [mine.rpartition(".") for mine, _ in join.by]
        pairs = zip(owners, folds, strict=True)
        self.mine = [
            (closures.subjects.cell(alias, column), fold) for (alias, _, column), fold in pairs
        ]
        self.where = join.where
        self._where: Fn | None = wheres(join.where) if join.where is not None else None
        self._columns: Columns | None = None
        self._filter = Columns(self.name, self.table.table, self.slot, wheres)
        self.closures = closures
        self._lists: dict[Key, JoinedRows] = {}
        self._ranked = (
            self.many
            and bool(join.alias.table.key)
            and not facts.single_block(join.alias.table.name)
        )

    # -- what a subject meets

    def key(self, env: Env) -> Key | None:
        """Return what the rows of a subject have in common; None when one of its own cells is unknown."""
        node = "" if self.join.any_node else env[0].node
        return key_of([(cell(env), fold) for cell, fold in self.mine], node)

    def nearest(self, env: Env) -> CaseRow | None:
        """Return the row beside a subject: of several the nearest."""
        self.look()
        key = self.key(env)
        if key is None:
            return None
        found: list[CaseRow] = [
            *self.table.by(self.theirs, any_node=self.join.any_node).get(key, ())
        ]
        found += [
            row
            for stretch in self._stretches(key)
            for row in capture_rows(self.table.table, *_part(stretch))
        ]
        if self._where is not None:
            found = [
                row for row, fits in zip(found, self._fit(env, found), strict=True) if fits is True
            ]
        if len(found) < 2:
            return found[0] if found else None
        self.look(len(found))
        base: CaseRow = env[0]
        return min(found, key=lambda row: self._distance(base, row))

    def group(self, env: Env) -> JoinedRows:
        """Return the many rows of a subject."""
        self.look()
        key = self.key(env)
        if key is None:
            return NO_ROWS
        if self._where is None and not self._ranked:
            if key not in self._lists:
                self._lists[key] = JoinedRows(self._objects(key), captures=self._stretches(key))
            return self._lists[key]
        rows, captures = self._objects(key), self._stretches(key)
        maybe = None
        if self._where is not None:
            fits = self._fit(env, rows)
            rows = [row for row, one in zip(rows, fits, strict=True) if one is not False]
            maybe = [one is None for one in fits if one is not False]
            captures = [one for stretch in captures for one in self._fitting(env, stretch)]
        if self._ranked:
            rows, maybe, captures = self._near(env[0], rows, maybe, captures)
        return JoinedRows(rows, maybe if maybe and any(maybe) else None, captures)

    def _objects(self, key: Key) -> Sequence[CaseRow]:
        return self.table.by(self.theirs, any_node=self.join.any_node).get(key, ())

    def _fit(self, env: Env, rows: Iterable[CaseRow]) -> list[bool | None]:
        """Return for each row whether the join's `where` holds for it and the subject."""
        assert self._where is not None
        held, found = env[self.slot], []
        for env[self.slot] in rows:
            found.append(self._where(env))
            self.look()
        env[self.slot] = held
        return found

    # -- samples

    def columns(self) -> Columns:
        """Return the functions of expressions over columns of samples."""
        if self._columns is None:
            self._columns = Columns(self.name, self.table.table, self.slot, self.closures)
        return self._columns

    def _stretches(self, key: Key) -> list[SampleSlice]:
        """Return the samples whose columns hold a key."""
        found = []
        for capture in self.table.captures:
            node, *cells = key
            if not self.join.any_node and node != capture.block.node:
                continue
            places = self._places(capture, tuple(cells))
            if places is not None:
                found.append(SampleSlice(capture, places, _length(places, capture.count)))
        return found

    def _places(self, capture: SampleCapture, cells: tuple[Hashable, ...]) -> Any:
        own = []
        columns = []
        for (name, fold), cell in zip(self.theirs, cells, strict=True):
            if name in ("node", "taken"):
                row = CaseRow({}, capture.block.node, capture.node, taken=None)
                value = row.cell(name)
                if value is None or (value if fold is None else fold(value)) != cell:
                    return None
                continue
            declared = self.table.table.column(name)
            assert declared is not None
            columns.append((name, declared.kind, fold))
            own.append(cell)
        return capture.groups(columns).get(tuple(own))

    def _fitting(self, env: Env, stretch: SampleSlice) -> Iterable[SampleSlice]:
        """Yield the rows of a stretch that fulfil the join's `where`, or may."""
        import numpy as np  # noqa: PLC0415 - heavy

        assert self.where is not None
        cells, known = spread(self._filter(self.where)(env, stretch), stretch)
        fits = ~known | cells.astype(bool)
        if fits.any():
            places = np.arange(stretch.capture.count)[stretch.places][fits]
            yield SampleSlice(stretch.capture, places, len(places), (~known)[fits])

    # -- the nearest

    def _distance(self, base: CaseRow, row: CaseRow) -> tuple[Any, ...]:
        """Return how far a row is: on the same node, of the same source, read about the same time, a few lines away.

        Lines of a log are told apart by their time first.
        """
        source, time = _apart(base, row.source, row.taken)
        far = (
            abs(after(row.line) - after(base.line))
            if None not in (row.line, base.line)
            else INFINITE
        )
        last = (far, -_or_zero(row.order), -_or_zero(row.line), -row.number)
        if self.lines:
            return (row.node != base.node, time, source, *last)
        return (
            row.node != base.node,
            source,
            0 if source == 0 else time,
            _between(row.order, base.order),
            *last,
        )

    def _near(
        self,
        base: CaseRow,
        rows: Sequence[CaseRow],
        maybe: list[bool] | None,
        captures: Sequence[SampleSlice],
    ) -> tuple[list[CaseRow], list[bool] | None, list[SampleSlice]]:
        """Return of objects that stand in several places only those of the nearest."""
        names = self.join.alias.table.key
        keys, repeated = self.table.keys(names)
        if not captures and not repeated:
            return list(rows), maybe, []
        self.look(len(rows))
        best: dict[Key, tuple[Any, ...]] = {}
        known: dict[tuple[Hashable, ...], tuple[Any, ...]] = {}  # many rows are of one output
        ranks = []
        for row in rows:
            place = row.node, row.source, row.taken, row.order
            if place not in known:
                known[place] = self._rank(base, *place)
            ranks.append((keys[row.number], known[place]))
        parts = [part for stretch in captures for part in self._by_object(stretch, names)]
        for key, rank in (*ranks, *((key, self._rank_of(base, stretch)) for key, stretch in parts)):
            best[key] = min(rank, best.get(key, rank))
        kept = [best[key] == rank for key, rank in ranks]
        found = [row for row, keep in zip(rows, kept, strict=True) if keep]
        unsure = (
            [one for one, keep in zip(maybe, kept, strict=True) if keep]
            if maybe is not None
            else None
        )
        return (
            found,
            unsure,
            [stretch for key, stretch in parts if best[key] == self._rank_of(base, stretch)],
        )

    def _by_object(
        self, stretch: SampleSlice, names: Sequence[str]
    ) -> Iterable[tuple[Key, SampleSlice]]:
        """Yield the samples of a stretch object by object."""
        import numpy as np  # noqa: PLC0415 - heavy

        capture = stretch.capture
        mine = np.zeros(capture.count, dtype=bool)
        mine[stretch.places] = True
        whole = np.full(capture.count, -1)
        whole[stretch.places] = np.arange(stretch.count)
        kinds = {column.name: column.kind for column in self.table.table.columns}
        left = mine.copy()
        for key, places in capture.groups([(name, kinds[name], None) for name in names]).items():
            chosen = np.arange(capture.count)[places]
            chosen = chosen[mine[chosen]]
            if len(chosen):
                left[chosen] = False
                yield (capture.block.node, *key), _some(stretch, chosen, whole)
        rest = np.flatnonzero(left)
        for row, place in zip(
            capture_rows(self.table.table, capture, rest), rest, strict=True
        ):  # no whole key
            yield key_of_object(row, names), _some(stretch, np.array([place]), whole)

    def _rank_of(self, base: CaseRow, stretch: SampleSlice) -> tuple[Any, ...]:
        block = stretch.capture.block
        taken = moment(block.taken) if block.taken else None
        return self._rank(base, block.node, block.address, taken, block.order)

    @staticmethod
    def _rank(
        base: CaseRow, node: str, source: str | None, taken: Any, order: int | None
    ) -> tuple[Any, ...]:
        apart, time = _apart(base, source, taken)
        near = (node != base.node, apart, 0 if apart == 0 else time, _between(order, base.order))
        return (*near, -_or_zero(order), source or "")


def _some(stretch: SampleSlice, places: Any, whole: Any) -> SampleSlice:
    maybe = None if stretch.maybe is None else stretch.maybe[whole[places]]
    return SampleSlice(stretch.capture, places, len(places), maybe)


def _part(stretch: SampleSlice) -> tuple[SampleCapture, Any]:
    return stretch.capture, stretch.places


def _length(places: Any, count: int) -> int:
    return len(range(*places.indices(count))) if isinstance(places, slice) else len(places)


def _apart(base: CaseRow, source: str | None, taken: Any) -> tuple[int, float]:
    """Return whether two rows are of one source (0), of two (1) or it is unknown (2), and the seconds between them."""
    unknown = base.source is None or source is None
    time = (
        INFINITE
        if base.taken is None or taken is None
        else abs((taken - base.taken).total_seconds())
    )
    return (2 if unknown else int(base.source != source)), time


def _between(one: int | None, two: int | None) -> float:
    return INFINITE if one is None or two is None else abs(one - two)


def _or_zero(value: int | None) -> int:
    return value or 0
