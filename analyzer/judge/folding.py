"""Aggregates over the rows of a subject: their parts, the deciding row, the rows that meet a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from analyzer.judge.closures import COUNTING, HUGE, UNSET, ZERO, Env, Fn, Parts
from analyzer.judge.joining import JoinedRows, Joiner
from analyzer.judge.vectors import SampleSlice, folded, python, spread
from analyzer.rules.language.expression import ExprNode

LISTED = 8  # rows that fulfil a condition that are listed as evidence
_OF_SUBJECT = ("column", "row", "seen", "seen_field", "known")  # what differs between subjects
OFTEN = 4096  # rows between two looks at the clock

GroupOf = Callable[[Env], JoinedRows]
Take = Callable[..., None]  # a cell, the number of its row, decides=


class Fold:
    """One aggregate of a rule.

    slot   of the row at hand of its alias; memo: of its parts
    whole  whether a subject without rows is known to have none
    """

    def __init__(
        self, node: ExprNode, joiner: Joiner, group: GroupOf, memo: int, whole: Fn, value: Fn | None
    ) -> None:
        self.node, self.joiner, self.group, self.memo, self.whole = node, joiner, group, memo, whole
        self.argument = node.args[0]
        self.counting = node.op in COUNTING
        self.value = value  # None: rows are counted, whatever they hold
        others = (
            leaf
            for leaf in node.args[0].walk()
            if leaf.op not in ("column", "row") or leaf.name != node.name
        )
        self.alike = not any(
            leaf.op in _OF_SUBJECT or leaf.is_aggregate for leaf in others
        )  # for all who share rows
        self.numbers = float if node.type == "float" and node.op in ("sum", "mean") else None

    def parts(self, env: Env) -> Parts | None:
        """Return rows, known ones, and the true ones or the value; None over no rows of which nothing is known."""
        found: Parts | None = env[self.memo]
        if found is UNSET:
            group = self.group(env)
            if len(group):
                found = group.parts.get(id(self.node))
                if found is None:
                    found = self._counted(env, group) if self.counting else self._folded(env, group)
                    if self.alike:
                        group.parts[id(self.node)] = found
            else:
                found = (0, 0, 0) if self.node.op in ZERO and self.whole(env) else None
            env[self.memo] = found
        return found

    def _rows(self, env: Env, group: JoinedRows) -> Iterator[Any]:
        """Yield the value of every row of objects."""
        value, slot, held, look = (
            self.value,
            self.joiner.slot,
            env[self.joiner.slot],
            self.joiner.look,
        )
        maybe = group.maybe
        for place, row in enumerate(group.rows):
            if maybe is not None and maybe[place]:
                yield None
                continue
            if not place % OFTEN:
                look()
            env[slot] = row
            yield True if value is None else value(env)
        env[slot] = held

    def _counted(self, env: Env, group: JoinedRows) -> Parts:
        if (
            self.value is None
            and group.maybe is None
            and all(one.maybe is None for one in group.captures)
        ):
            return len(group), len(group), len(group)
        known = true = 0
        for one in self._rows(env, group):
            if one is not None:
                known += 1
                true += one is True
        for stretch in group.captures:
            cells, there = self._cells(env, stretch)
            known += int(there.sum())
            true += int((cells.astype(bool) & there).sum())
        return len(group), known, true

    def _cells(self, env: Env, stretch: SampleSlice) -> tuple[Any, Any]:
        import numpy as np  # noqa: PLC0415 - heavy

        if self.value is None:
            there = np.ones(stretch.count, dtype=bool) if stretch.maybe is None else ~stretch.maybe
            return np.ones(stretch.count, dtype=bool), there
        return spread(self.joiner.columns()(self.argument)(env, stretch), stretch)

    def _folded(self, env: Env, group: JoinedRows) -> Parts:
        op = "sum" if self.node.op == "mean" else self.node.op
        some = [one for one in self._rows(env, group) if one is not None]
        known = len(some)
        total: Any = None
        if some and op == "sum":
            total = 0.0 if self.numbers else 0
            for one in some:  # in their order: the last bit hangs on it
                total += one
        elif some:
            total = max(some) if op == "max" else min(some)
        for stretch in group.captures:
            cells, there = self._cells(env, stretch)
            known += int(there.sum())
            own = cells[there]
            total = folded(op, own.astype(float) if self.numbers else own, total)
        if known and self.node.op == "mean":
            total = float(total) / known
        if isinstance(total, int) and abs(total) >= HUGE:
            return len(group), 0, None
        return len(group), known, total

    # -- what a finding shows

    @property
    def conditional(self) -> bool:
        """Tell whether the aggregate asks something of each row."""
        return self.argument.type == "bool" and self.argument.op != "row"

    def fulfilling(self, env: Env) -> list[int]:
        """Return the first rows that fulfil the aggregate's condition, in the order of the case."""
        if not self.conditional:
            return []
        group = self.group(env)
        found = [
            row.place
            for row, one in zip(group.rows, self._rows(env, group), strict=True)
            if one is True
        ]
        for stretch in group.captures:
            cells, there = self._cells(env, stretch)
            chosen = (cells.astype(bool) & there).nonzero()[0][:LISTED]
            found += _places(stretch, chosen)
        return [number for *_, number in sorted(found)[:LISTED]]

    def deciding(self, env: Env, leaf: ExprNode, *, least: bool) -> int | None:
        """Return the row that decides: where the condition holds the extreme one, of several the first."""
        group = self.group(env)
        sized = leaf.type in ("int", "float", "time")
        wanted = self.node.op != "all"  # one row decides a no
        best: dict[
            bool, tuple[Any, int]
        ] = {}  # whether the condition decides -> cell, number of the row

        def take(cell: Any, number: int, *, decides: bool) -> None:
            known = best.get(decides)
            better = known is None or (cell < known[0] if least else cell > known[0])
            if better or (known is not None and cell == known[0] and number < known[1]):
                best[decides] = cell, number

        slot, held, value = self.joiner.slot, env[self.joiner.slot], self.joiner.closures(leaf)
        answers = list(self._rows(env, group)) if self.conditional else []
        for place, row in enumerate(group.rows):
            env[slot] = row
            cell = value(env) if sized else 0
            if cell is not None:
                take(cell, row.number, decides=False)
                if answers and answers[place] is wanted:
                    take(cell, row.number, decides=True)
        env[slot] = held
        for stretch in group.captures:
            self._extremes(env, stretch, leaf if sized else None, take, least=least)
        return best.get(True, best.get(False, (None, None)))[1]

    def _extremes(
        self, env: Env, stretch: SampleSlice, leaf: ExprNode | None, take: Take, *, least: bool
    ) -> None:
        """Hand over the extreme sample of all, and of those whose condition decides."""
        import numpy as np  # noqa: PLC0415 - heavy

        cells, known = np.zeros(stretch.count, dtype=int), np.ones(stretch.count, dtype=bool)
        if leaf is not None:
            cells, known = spread(
                self.joiner.columns()(leaf)(env, stretch), replace(stretch, maybe=None)
            )
        masks = {False: known}
        if self.conditional:
            answers, there = self._cells(env, stretch)
            masks[True] = known & there & (answers.astype(bool) == (self.node.op != "all"))
        for decides, mask in masks.items():
            chosen = mask.nonzero()[0]
            if len(chosen):
                own = cells[chosen]
                at = int(chosen[int(own.argmin() if least else own.argmax())])
                take(
                    python(cells[at]),
                    int(stretch.capture.numbers(stretch.places)[at]),
                    decides=decides,
                )


def places(group: JoinedRows) -> list[tuple[float, float, int]]:
    """Return the sort keys of all rows of a group: where they stand in the case, and their number last."""
    found = [row.place for row in group.rows]
    for stretch in group.captures:
        found += _places(stretch, slice(None))
    return found


def _places(stretch: SampleSlice, chosen: Any) -> list[tuple[float, float, int]]:
    """Return the sort keys of some rows of a stretch."""
    lines = stretch.capture.lines(stretch.places)[chosen].tolist()
    numbers = stretch.capture.numbers(stretch.places)[chosen].tolist()
    return [
        (stretch.capture.block.order, line, number)
        for line, number in zip(lines, numbers, strict=True)
    ]


def in_order(group: JoinedRows) -> list[int]:
    """Return the numbers of all rows of a group, in the order of the case."""
    if not group.rows and len(group.captures) == 1:  # samples are numbered in their order
        stretch = group.captures[0]
        found: list[int] = stretch.capture.numbers(stretch.places).tolist()
        return found
    return [number for *_, number in sorted(places(group))]


def leaves(node: ExprNode) -> dict[str, tuple[ExprNode, bool]]:
    """Return the columns an aggregate looks at: column -> (leaf, True when the least value decides)."""
    found: dict[str, tuple[ExprNode, bool]] = {}

    def visit(one: ExprNode, least: bool) -> None:
        if one.op == "column" and one.name == node.name:
            found.setdefault(one.column, (one, least))
        for place, child in enumerate(one.args):
            flipped = one.op == "compare" and (one.name[0] == "<") == (place == 0)
            visit(child, flipped if one.op == "compare" else least)

    visit(node.args[0], node.op == "min")
    if node.op == "all":  # the row farthest from fulfilling it
        return {column: (leaf, not least) for column, (leaf, least) in found.items()}
    return found
