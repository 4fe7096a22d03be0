"""Rows of other tables that belong to a subject: the nearest one, or all of them, and aggregates over these.

Objects are rows, indexed by join keys; samples stay columns (judge/samples.py) until one of them is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from analyzer.artefacts.tables import Table
from analyzer.facts import Facts
from analyzer.judge.case_rows import (
    INFINITE,
    CaseRow,
    Fold,
    Key,
    group_rows,
    make_key,
    make_object_key,
    parse_moment,
    read_rows,
)
from analyzer.judge.closures import COUNTING, HUGE, UNSET, ZERO, Closures, Env, Fn, Parts
from analyzer.rules import Join
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.own import NAMES

if TYPE_CHECKING:
    from analyzer.judge.samples import SampleCapture, SampleSlice, VectorClosures

LISTED = 8  # rows that fulfil a condition that are listed as evidence
OFTEN = 4096  # rows between two looks at the clock
_OF_SUBJECT = ("column", "row", "seen", "seen_field", "known")  # what differs between subjects

# Called with how many rows are looked at (else one); raises when a rule takes too long.
Look = Callable[..., None]


# -- tables


class CaseTable:
    """The rows of one table in one case."""

    def __init__(self, facts: Facts, name: str) -> None:
        store = facts.store(name)  # not kept, nor the facts: they hold this table
        self.table: Table = store.table
        self.rows = list(read_rows(facts, store))
        self.captures: list[SampleCapture] = []
        if store.frames:
            from analyzer.judge.samples import read_captures  # noqa: PLC0415 - numpy

            self.captures = read_captures(store, facts.name)
        self.indexes: dict[Hashable, Mapping[Key, list[CaseRow]]] = {}
        self._keys: tuple[list[Key], bool] | None = None

    def list_all_rows(self) -> list[CaseRow]:
        """Return all rows, those of captures as well; many samples make many rows."""
        rows = list(self.rows)
        for capture in self.captures:
            rows += capture.read_rows(self.table)
        return rows

    def list_object_keys(self) -> tuple[list[Key], bool]:
        """Return the key of each row's object by the number of the row, and whether two rows share one."""
        if self._keys is None:
            keys = [make_object_key(row, self.table.key) for row in self.rows]
            self._keys = keys, len(set(keys)) < len(keys)
        return self._keys

    def index_by(
        self, columns: Sequence[tuple[str, Fold]], *, any_node: bool
    ) -> Mapping[Key, list[CaseRow]]:
        """Return the rows of objects by node and cells of some columns; a row with an unknown one is not there."""
        index = (tuple(columns), any_node)
        if index not in self.indexes:
            self.indexes[index] = group_rows(self.rows, columns, any_node=any_node)
        return self.indexes[index]


def read_table(facts: Facts, name: str) -> CaseTable:
    """Return a table of a case as the evaluator reads it; read once for all rules.

    A table of rows that several cases have alike is read once for all in which their nodes have one name.
    """
    found = facts.held.get(name)
    if found is None:
        shared = facts.store(name).only_shared
        if shared is None:
            found = CaseTable(facts, name)
        else:
            key = name, *((block.node, facts.name(block.node)) for block, _ in shared.places)
            if key not in shared.worked_out:
                shared.worked_out[key] = CaseTable(facts, name)
            found = shared.worked_out[key]
        facts.held[name] = found
    assert isinstance(found, CaseTable)
    return found


# -- joins


# Operations whose value follows from their parts alone
_PLAIN = ("literal", "and", "or", "not", "compare", "in", "known")


@dataclass(slots=True)
class JoinedRows:
    """The many rows of an alias that belong to one subject.

    rows      of objects, in the order of their numbers; maybe: of which it is unknown whether they belong
    captures  of samples
    deciding, fulfilling  rows that findings show of such aggregates
    """

    rows: Sequence[CaseRow] = ()
    maybe: Sequence[bool] | None = None
    captures: Sequence[SampleSlice] = ()
    parts: dict[int, Any] = field(default_factory=dict)  # of aggregates that hang on the rows alone
    deciding: dict[tuple[int, int, bool], int | None] = field(default_factory=dict)
    fulfilling: dict[int, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows) + sum(stretch.count for stretch in self.captures)

    def list_numbers(self) -> list[int]:
        """Return the numbers of all rows, in the order of the case."""
        if not self.rows and len(self.captures) == 1:  # samples are numbered in their order
            stretch = self.captures[0]
            found: list[int] = stretch.capture.number_rows(stretch.places).tolist()
            return found
        keys = [row.place for row in self.rows]
        for stretch in self.captures:
            keys += stretch.list_sort_keys()
        return [number for *_, number in sorted(keys)]


NO_ROWS = JoinedRows()


def shorten_name(value: str) -> str:
    """Return a host's name up to the first dot, lower case; an address stays whole."""
    address = bool(value) and all(sign in "0123456789." for sign in value)
    return (value if address else value.partition(".")[0]).lower()


def lower_name(value: str) -> str:
    """Return a name as it is compared where capitals do not matter."""
    return value.lower()


def choose_fold(mine: str, theirs: str, join: Join) -> Fold:
    """Return how two columns of a join are compared."""
    column = mine.rpartition(".")[2]
    if "node" in (column, theirs):
        return shorten_name
    declared = join.alias.column(theirs)
    named = declared is not None and declared.kind == "str" and (column in NAMES or theirs in NAMES)
    return lower_name if named else None


@dataclass(frozen=True, slots=True)
class RowSource:
    """Where rows were read: of one output they all have the same."""

    node: str
    source: str | None
    taken: datetime | None
    order: int | None

    def measure_apart(self, base: CaseRow) -> tuple[int, float]:
        """Return whether this and a row are of one source (0), of two (1) or it is unknown (2), and the seconds between."""
        time = INFINITE
        if base.taken is not None and self.taken is not None:
            time = abs((self.taken - base.taken).total_seconds())
        if base.source is None or self.source is None:
            return 2, time
        return int(base.source != self.source), time

    def rank_near(self, base: CaseRow) -> tuple[Any, ...]:
        """Return how far this is from a row: on the same node, of the same source, read about the same time."""
        source, time = self.measure_apart(base)
        between = INFINITE
        if self.order is not None and base.order is not None:
            between = abs(self.order - base.order)
        return self.node != base.node, source, time if source else 0, between


def reads_only(where: ExprNode, alias: str) -> bool:
    """Say whether a condition reads cells of one alias and nothing else: then it holds for a row whoever asks."""
    for node in where.walk():
        if node.op in ("column", "row"):
            if node.name != alias:
                return False
        elif node.op not in _PLAIN:
            return False
    return True


class Joiner:
    """Finds the rows of one join for every subject.

    slot      of its row in what is known of a subject; a group of many has the next one
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
        self.join = join
        self.look = look
        self.name = join.alias.name
        self.slot = slots[self.name]
        self.table = read_table(facts, join.alias.table.name)
        self.lines = join.alias.table.lines_of is not None
        self.mine: list[tuple[Fn, Fold]] = []
        self.theirs: list[tuple[str, Fold]] = []
        for mine, theirs in join.by:
            fold = choose_fold(mine, theirs, join)
            alias, _, column = mine.rpartition(".")
            self.mine.append((closures.subjects.make_cell(alias, column), fold))
            self.theirs.append((theirs, fold))
        self.closures = closures
        self.wheres = wheres
        self._where: Fn | None = wheres(join.where) if join.where is not None else None
        self._vectors: VectorClosures | None = None
        self._vector_wheres: VectorClosures | None = None
        # Rows that a key alone chooses are found once for all subjects that have it
        self._own_where = join.where is None or reads_only(join.where, self.name)
        self._groups: dict[Key, JoinedRows] = {}
        table = join.alias.table
        self._ranked = join.alias.many and bool(table.key) and not facts.single_block(table.name)

    # -- what a subject meets

    def make_key(self, env: Env) -> Key | None:
        """Return what the rows of a subject have in common; None when one of its own cells is unknown."""
        node = "" if self.join.any_node else env[0].node
        return make_key([(cell(env), fold) for cell, fold in self.mine], node)

    def find_nearest(self, env: Env) -> CaseRow | None:
        """Return the row that a subject is joined with: of several the nearest."""
        self.look()
        key = self.make_key(env)
        if key is None:
            return None
        found = list(self._find_objects(key))
        for stretch in self._find_samples(key):
            found += stretch.capture.read_rows(self.table.table, stretch.places)
        if self._where is not None:
            fits = self._try_where(self._where, env, found)
            found = [row for row, fit in zip(found, fits, strict=True) if fit is True]
        if len(found) < 2:
            return found[0] if found else None
        self.look(len(found))
        base: CaseRow = env[0]
        return min(found, key=lambda row: self._measure_distance(base, row))

    def find_group(self, env: Env) -> JoinedRows:
        """Return the many rows of a subject."""
        self.look()
        key = self.make_key(env)
        if key is None:
            return NO_ROWS
        if not self._own_where or self._ranked:
            return self._choose_group(env, key)
        if key not in self._groups:
            self._groups[key] = self._choose_group(env, key)
        return self._groups[key]

    def _choose_group(self, env: Env, key: Key) -> JoinedRows:
        """Return the rows with a key that the join's `where` lets pass; of copies the nearest."""
        group = JoinedRows(self._find_objects(key), captures=self._find_samples(key))
        if self._where is not None:
            group = self._filter_group(self._where, env, group)
        if self._ranked:
            group = self._keep_nearest(env[0], group)
        if group.maybe is not None and not any(group.maybe):
            group.maybe = None
        return group

    def _find_objects(self, key: Key) -> Sequence[CaseRow]:
        """Return the rows of objects with a key."""
        return self.table.index_by(self.theirs, any_node=self.join.any_node).get(key, ())

    def _try_where(self, where: Fn, env: Env, rows: Sequence[CaseRow]) -> list[bool | None]:
        """Return for each row whether the join's `where` holds for it and the subject."""
        held = env[self.slot]
        found = []
        for env[self.slot] in rows:
            found.append(where(env))
            self.look()
        env[self.slot] = held
        return found

    def _filter_group(self, where: Fn, env: Env, group: JoinedRows) -> JoinedRows:
        """Return the rows of a group that fulfil the join's `where`, or may."""
        rows: list[CaseRow] = []
        maybe: list[bool] = []
        fits = self._try_where(where, env, group.rows)
        for row, fit in zip(group.rows, fits, strict=True):
            if fit is not False:
                rows.append(row)
                maybe.append(fit is None)
        captures = []
        for stretch in group.captures:
            assert self.join.where is not None
            if self._vector_wheres is None:
                self._vector_wheres = self._make_vectors(self.wheres)
            kept = stretch.keep_fitting(self._vector_wheres(self.join.where)(env, stretch))
            if kept is not None:
                captures.append(kept)
        return JoinedRows(rows, maybe, captures)

    # -- samples

    @property
    def vectors(self) -> VectorClosures:
        """The functions of expressions over columns of samples."""
        if self._vectors is None:
            self._vectors = self._make_vectors(self.closures)
        return self._vectors

    def _make_vectors(self, scalars: Closures) -> VectorClosures:
        """Return the functions of expressions over the samples of this join."""
        from analyzer.judge.samples import VectorClosures  # noqa: PLC0415 - numpy

        return VectorClosures(self.name, self.table.table, self.slot, scalars)

    def _find_samples(self, key: Key) -> list[SampleSlice]:
        """Return the samples whose columns hold a key."""
        found = []
        node, *cells = key
        for capture in self.table.captures:
            if self.join.any_node or node == capture.block.node:
                stretch = self._find_in_capture(capture, cells)
                if stretch is not None:
                    found.append(stretch)
        return found

    def _find_in_capture(
        self, capture: SampleCapture, cells: Sequence[Hashable]
    ) -> SampleSlice | None:
        """Return the samples of one capture whose columns hold some cells."""
        own = []
        columns = []
        for (name, fold), cell in zip(self.theirs, cells, strict=True):
            if name in ("node", "taken"):
                value: Any = capture.node if name == "node" else None
                if value is None or (value if fold is None else fold(value)) != cell:
                    return None
                continue
            declared = self.table.table.column(name)
            assert declared is not None
            columns.append((name, declared.kind, fold))
            own.append(cell)
        return capture.cut_group(columns, own)

    # -- the nearest

    def _measure_distance(self, base: CaseRow, row: CaseRow) -> tuple[Any, ...]:
        """Return how far a row is: on the same node, of the same source, read about the same time, a few lines away.

        Lines of a log are distinguished by their time first.
        """
        origin = RowSource(row.node, row.source, row.taken, row.order)
        lines = INFINITE
        if row.line is not None and base.line is not None:
            lines = abs(row.line - base.line)
        last = (lines, -(row.order or 0), -(row.line or 0), -row.number)
        if self.lines:
            source, time = origin.measure_apart(base)
            return (row.node != base.node, time, source, *last)
        return (*origin.rank_near(base), *last)

    def _keep_nearest(self, base: CaseRow, group: JoinedRows) -> JoinedRows:
        """Return of objects that several places hold only those of the nearest."""
        table = self.table.table
        keys, repeated = self.table.list_object_keys()
        if not group.captures and not repeated:
            return group
        self.look(len(group.rows))
        known: dict[RowSource, tuple[Any, ...]] = {}  # many rows are of one output

        def rank(origin: RowSource) -> tuple[Any, ...]:
            if origin not in known:
                near = origin.rank_near(base)
                known[origin] = (*near, -(origin.order or 0), origin.source or "")
            return known[origin]

        ranks = []
        for row in group.rows:
            origin = RowSource(row.node, row.source, row.taken, row.order)
            ranks.append((keys[row.number], rank(origin)))
        parts = []
        for stretch in group.captures:
            block = stretch.capture.block
            taken = parse_moment(block.taken) if block.taken else None
            near = rank(RowSource(block.node, block.address, taken, block.order))
            for key, part in stretch.split_objects(table):
                parts.append((key, near, part))
        best: dict[Key, tuple[Any, ...]] = {}
        for key, near in (*ranks, *((key, near) for key, near, _ in parts)):
            best[key] = min(near, best.get(key, near))
        rows: list[CaseRow] = []
        maybe: list[bool] = []
        for place, (key, near) in enumerate(ranks):
            if best[key] == near:
                rows.append(group.rows[place])
                maybe.append(group.maybe is not None and group.maybe[place])
        return JoinedRows(rows, maybe, [part for key, near, part in parts if best[key] == near])


# -- aggregates


class Aggregate:
    """One aggregate of a rule over the rows of a subject.

    slot   of the row at hand of its alias; memo: of its parts
    whole  whether a subject without rows is known to have none
    value  None: rows are counted, whatever they hold
    """

    def __init__(
        self,
        node: ExprNode,
        joiner: Joiner,
        group: Callable[[Env], JoinedRows],
        memo: int,
        whole: Fn,
        value: Fn | None,
    ) -> None:
        self.node = node
        self.joiner = joiner
        self.group = group
        self.memo = memo
        self.whole = whole
        self.value = value
        self.argument = node.args[0]
        self.counting = node.op in COUNTING
        self.numbers = float if node.type == "float" and node.op in ("sum", "mean") else None
        self.conditional = self.argument.type == "bool" and self.argument.op != "row"
        self.shared = True  # the same for all subjects that share the rows
        for leaf in self.argument.walk():
            own = leaf.op in ("column", "row") and leaf.name == node.name
            if not own and (leaf.op in _OF_SUBJECT or leaf.is_aggregate):
                self.shared = False

    def read_parts(self, env: Env) -> Parts | None:
        """Return rows, known ones, and the true ones or the value; None over no rows of which nothing is known."""
        found: Parts | None = env[self.memo]
        if found is not UNSET:
            return found
        group = self.group(env)
        if not len(group):
            found = (0, 0, 0) if self.node.op in ZERO and self.whole(env) else None
        else:
            found = group.parts.get(id(self.node))
            if found is None:
                found = self._count(env, group) if self.counting else self._fold(env, group)
                if self.shared:
                    group.parts[id(self.node)] = found
        env[self.memo] = found
        return found

    def _read_values(self, env: Env, group: JoinedRows) -> Iterator[Any]:
        """Yield the value of every row of objects."""
        slot = self.joiner.slot
        held = env[slot]
        for place, row in enumerate(group.rows):
            if group.maybe is not None and group.maybe[place]:
                yield None
                continue
            if not place % OFTEN:
                self.joiner.look()
            env[slot] = row
            yield True if self.value is None else self.value(env)
        env[slot] = held

    def _count(self, env: Env, group: JoinedRows) -> Parts:
        """Return how many rows there are, how many are known and how many true."""
        certain = group.maybe is None and all(one.maybe is None for one in group.captures)
        if self.value is None and certain:
            return len(group), len(group), len(group)
        known = true = 0
        for value in self._read_values(env, group):
            if value is not None:
                known += 1
                true += value is True
        for stretch in group.captures:
            cells, there = self._read_cells(env, stretch)
            known += int(there.sum())
            true += int((cells.astype(bool) & there).sum())
        return len(group), known, true

    def _read_cells(self, env: Env, stretch: SampleSlice) -> tuple[Any, Any]:
        """Return the values of samples, and which of them are known."""
        if self.value is None:
            return stretch.count_rows()
        return stretch.spread_vector(self.joiner.vectors(self.argument)(env, stretch))

    def _fold(self, env: Env, group: JoinedRows) -> Parts:
        """Return the sum, the mean or an extreme of the values that are known."""
        op = "sum" if self.node.op == "mean" else self.node.op
        values = [value for value in self._read_values(env, group) if value is not None]
        known = len(values)
        total: Any = None
        if values and op == "sum":
            total = 0.0 if self.numbers else 0
            for value in values:  # in their order: the last bit hangs on it
                total += value
        elif values:
            total = max(values) if op == "max" else min(values)
        for stretch in group.captures:
            cells, there = self._read_cells(env, stretch)
            known += int(there.sum())
            own = cells[there]
            total = stretch.fold_cells(op, own.astype(float) if self.numbers else own, total)
        if known and self.node.op == "mean":
            total = float(total) / known
        if isinstance(total, int) and abs(total) >= HUGE:
            return len(group), 0, None
        return len(group), known, total

    # -- what a finding shows

    def list_fulfilling(self, env: Env) -> list[int]:
        """Return the first rows that fulfil the aggregate's condition, in the order of the case."""
        if not self.conditional:
            return []
        group = self.group(env)
        if not self.shared or not len(group):
            return self._list_fulfilling(env, group)
        key = id(self.node)
        if key not in group.fulfilling:
            group.fulfilling[key] = self._list_fulfilling(env, group)
        return group.fulfilling[key]

    def _list_fulfilling(self, env: Env, group: JoinedRows) -> list[int]:
        """Return the first rows of a group that fulfil the condition."""
        found = []
        for row, value in zip(group.rows, self._read_values(env, group), strict=True):
            if value is True:
                found.append(row.place)
        for stretch in group.captures:
            cells, there = self._read_cells(env, stretch)
            chosen = (cells.astype(bool) & there).nonzero()[0]
            found += stretch.list_sort_keys(chosen[:LISTED])
        return [number for *_, number in sorted(found)[:LISTED]]

    def find_deciding(self, env: Env, leaf: ExprNode, *, least: bool) -> int | None:
        """Return the row that decides: where the condition holds the extreme one, of several the first."""
        group = self.group(env)
        if not self.shared or not len(group):
            return self._find_deciding(env, group, leaf, least=least)
        key = id(self.node), id(leaf), least
        if key not in group.deciding:
            group.deciding[key] = self._find_deciding(env, group, leaf, least=least)
        return group.deciding[key]

    def _find_deciding(
        self, env: Env, group: JoinedRows, leaf: ExprNode, *, least: bool
    ) -> int | None:
        """Return the row of a group that decides."""
        sized = leaf.type in ("int", "float", "time")
        wanted = self.node.op != "all"  # one row decides a no
        best: dict[bool, tuple[Any, int]] = {}  # whether the condition decides -> cell, row

        def take(cell: Any, number: int, *, decides: bool) -> None:
            if decides not in best:
                best[decides] = cell, number
                return
            extreme, first = best[decides]
            better = cell < extreme if least else cell > extreme
            if better or (cell == extreme and number < first):
                best[decides] = cell, number

        slot = self.joiner.slot
        held = env[slot]
        value = self.joiner.closures(leaf)
        answers = list(self._read_values(env, group)) if self.conditional else []
        for place, row in enumerate(group.rows):
            env[slot] = row
            cell = value(env) if sized else True
            if cell is not None:
                take(cell, row.number, decides=False)
                if answers and answers[place] is wanted:
                    take(cell, row.number, decides=True)
        env[slot] = held
        for stretch in group.captures:
            every = replace(stretch, maybe=None)
            cells, known = every.count_rows()
            if sized:
                cells, known = every.spread_vector(self.joiner.vectors(leaf)(env, stretch))
            masks = {False: known}
            if self.conditional:
                holds, there = self._read_cells(env, stretch)
                masks[True] = known & there & (holds.astype(bool) == wanted)
            for decides, mask in masks.items():
                extreme = stretch.find_extreme(cells, mask, least=least)
                if extreme is not None:
                    take(*extreme, decides=decides)
        return best.get(True, best.get(False, (None, None)))[1]


def list_leaves(node: ExprNode) -> dict[str, tuple[ExprNode, bool]]:
    """Return the columns an aggregate looks at: column -> (leaf, True when the least value decides)."""
    found: dict[str, tuple[ExprNode, bool]] = {}

    def visit(part: ExprNode, least: bool) -> None:
        if part.op == "column" and part.name == node.name:
            found.setdefault(part.column, (part, least))
        for place, child in enumerate(part.args):
            if part.op == "compare":
                least = (part.name[0] == "<") == (place == 0)
            visit(child, least)

    visit(node.args[0], node.op == "min")
    if node.op == "all":  # the row farthest from fulfilling it
        return {column: (leaf, not least) for column, (leaf, least) in found.items()}
    return found
