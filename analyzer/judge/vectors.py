"""Checked expressions over the samples of one object at once: cells as numpy columns, three-valued.

What no column can say (a fold inside a row, a comparison of bounds) is worked out row by row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.artefacts.tables import Table
from analyzer.judge.captures import SampleCapture, Vector, versions
from analyzer.judge.case_rows import capture_rows
from analyzer.judge.closures import COMPARE, HUGE, Closures, Env, bounded, literal
from analyzer.rules.language.expression import ExprNode

_WORK: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


@dataclass(frozen=True, slots=True)
class SampleSlice:
    """The samples of one subject in one capture: places in it (a slice or numbers), and which rows may not belong."""

    capture: SampleCapture
    places: Any
    count: int
    maybe: Any = None


VectorFn = Callable[[Env, SampleSlice], Vector]


class Columns:
    """The functions of expressions over the rows of one alias."""

    def __init__(self, alias: str, table: Table, slot: int, scalars: Closures) -> None:
        self.alias, self.table, self.slot, self.scalars = alias, table, slot, scalars
        self._made: dict[int, VectorFn] = {}

    def __call__(self, node: ExprNode) -> VectorFn:
        """Return the function that gives the values of a node for every row of a stretch."""
        found = self._made.get(id(node))
        if found is None:
            found = self._made[id(node)] = self._make(node)
        return found

    def _make(self, node: ExprNode) -> VectorFn:
        if not self._own(node):
            value = self.scalars(node)
            return lambda env, _: _scalar(value(env))
        make = _MAKE.get(node.op)
        if make is None or any(leaf.is_aggregate and self._own(leaf) for leaf in node.walk()):
            return self._row_by_row(node)
        if (
            node.op == "compare"
            and node.name not in ("==", "!=")
            and any(bounded(child) for child in node.args)
        ):
            return self._row_by_row(node)
        return make(self, node)

    def _own(self, node: ExprNode) -> bool:
        """Tell whether a node's value differs from row to row."""
        return any(leaf.op in ("column", "row") and leaf.name == self.alias for leaf in node.walk())

    def _row_by_row(self, node: ExprNode) -> VectorFn:
        value = self.scalars(node)

        def rows(env: Env, stretch: SampleSlice) -> Vector:
            import numpy as np  # noqa: PLC0415 - heavy

            slot, held, found = self.slot, env[self.slot], []
            for env[slot] in capture_rows(self.table, stretch.capture, stretch.places):
                found.append(value(env))
            env[slot] = held
            return Vector(
                np.array(found, dtype=object),
                np.array([one is not None for one in found], dtype=bool),
            )

        return rows

    # -- leaves

    def _column(self, node: ExprNode) -> VectorFn:
        column = self.table.column(node.column)
        if column is None or node.column in ("node", "taken"):
            return self._row_by_row(node)
        kind, version = column.kind, node.type == "version"

        def cells(_: Env, stretch: SampleSlice) -> Vector:
            found = stretch.capture.cells(node.column, kind, stretch.places)
            if found is None:
                return Vector(None, known=False)
            return versions(found) if version else found

        return cells

    def _row(self, _: ExprNode) -> VectorFn:
        return lambda *_: Vector(cells=True)

    def _let(self, node: ExprNode) -> VectorFn:
        return self(node.args[0])

    def _literal(self, node: ExprNode) -> VectorFn:
        value = literal(node)
        return lambda *_: _scalar(value)

    # -- logic

    def _logical(self, node: ExprNode) -> VectorFn:
        parts = [self(child) for child in node.args]
        either = node.op == "or"

        def logical(env: Env, stretch: SampleSlice) -> Vector:
            import numpy as np  # noqa: PLC0415 - heavy

            true, false = not either, either
            for part in parts:
                one = part(env, stretch)
                if one.known is False:
                    yes = no = False
                else:
                    yes, no = (
                        np.logical_and(one.cells, one.known),
                        np.logical_and(np.logical_not(one.cells), one.known),
                    )
                true = np.logical_or(true, yes) if either else np.logical_and(true, yes)
                false = np.logical_and(false, no) if either else np.logical_or(false, no)
            return Vector(true, np.logical_or(true, false))

        return logical

    def _not(self, node: ExprNode) -> VectorFn:
        part = self(node.args[0])

        def negated(env: Env, stretch: SampleSlice) -> Vector:
            import numpy as np  # noqa: PLC0415 - heavy

            one = part(env, stretch)
            return one if one.known is False else Vector(np.logical_not(one.cells), one.known)

        return negated

    def _known(self, node: ExprNode) -> VectorFn:
        value = self(node.args[0])
        aliases = sorted(
            {leaf.name for leaf in node.args[0].walk() if leaf.op in ("column", "row")}
        )
        doubts = [self.scalars.subjects.unsure(alias) for alias in aliases]

        def known(env: Env, stretch: SampleSlice) -> Vector:
            there = value(env, stretch).known
            return Vector(there, there if any(doubt(env) for doubt in doubts) else True)

        return known

    # -- numbers

    def _neg(self, node: ExprNode) -> VectorFn:
        part = self(node.args[0])

        def negative(env: Env, stretch: SampleSlice) -> Vector:
            one = part(env, stretch)
            return one if one.known is False else Vector(-one.cells, one.known)

        return negative

    def _arithmetic(self, node: ExprNode) -> VectorFn:
        if (
            node.args[0].type == "time" or node.type == "int"
        ):  # whole numbers grow beyond what an array holds
            return self._row_by_row(node)
        one, two = (self(child) for child in node.args)
        op = node.op

        def worked(env: Env, stretch: SampleSlice) -> Vector:
            import numpy as np  # noqa: PLC0415 - heavy

            left, right = one(env, stretch), two(env, stretch)
            known = both(left, right)
            if known is False:
                return Vector(None, known=False)
            mine, other = np.asarray(left.cells, dtype=float), np.asarray(right.cells, dtype=float)
            with np.errstate(all="ignore"):
                if op == "/":
                    return Vector(
                        np.divide(mine, np.where(other == 0, 1.0, other)),
                        np.logical_and(known, other != 0),
                    )
                return Vector(_WORK[op](mine, other), known)

        return worked

    # -- comparisons

    def _compare(self, node: ExprNode) -> VectorFn:
        one, two = (self(child) for child in node.args)
        compare = COMPARE[node.name]

        def compared(env: Env, stretch: SampleSlice) -> Vector:
            left, right = one(env, stretch), two(env, stretch)
            known = both(left, right)
            return (
                Vector(None, known=False)
                if known is False
                else Vector(compare(left.cells, right.cells), known)
            )

        return compared

    def _in(self, node: ExprNode) -> VectorFn:
        value, *choices = (self(child) for child in node.args)

        def member(env: Env, stretch: SampleSlice) -> Vector:
            import numpy as np  # noqa: PLC0415 - heavy

            mine = value(env, stretch)
            true: Any = False
            whole: Any = mine.known
            for choice in choices:
                other = choice(env, stretch)
                known = both(mine, other)
                whole = np.logical_and(whole, other.known)
                if known is not False:
                    true = np.logical_or(true, np.logical_and(mine.cells == other.cells, known))
            return Vector(true, np.logical_or(true, whole))

        return member


def _scalar(value: Any) -> Vector:
    """Return a value of the subject as cells that are all the same."""
    if value is None:
        return Vector(None, known=False)
    if isinstance(value, datetime):
        import numpy as np  # noqa: PLC0415 - heavy

        return Vector(np.datetime64(value, "us"))
    return Vector(value)


def both(one: Vector, two: Vector) -> Any:
    """Return where two vectors are known: True or False for all cells, else an array."""
    if one.known is False or two.known is False:
        return False
    if one.known is True:
        return two.known
    return one.known if two.known is True else one.known & two.known


def spread(vector: Vector, stretch: SampleSlice) -> tuple[Any, Any]:
    """Return cells and what is known as arrays of the stretch's length; rows that may not belong are unknown."""
    import numpy as np  # noqa: PLC0415 - heavy

    known = np.broadcast_to(np.asarray(vector.known, dtype=bool), (stretch.count,))
    if vector.known is False:
        return np.zeros(stretch.count, dtype=bool), known
    if stretch.maybe is not None:
        known = known & ~stretch.maybe
    return np.broadcast_to(np.asarray(vector.cells), (stretch.count,)), known


def python(value: Any) -> Any:
    """Return a numpy value as Python has it."""
    return value.item() if hasattr(value, "item") else value


def folded(op: str, cells: Any, start: Any) -> Any:
    """Return known cells folded by max, min or sum, going on from a value; None over none."""
    import numpy as np  # noqa: PLC0415 - heavy

    if not len(cells):
        return start
    if op == "sum":
        if cells.dtype.kind in "iuOb":
            total = sum(cells.tolist(), start or 0)
            return total if not isinstance(total, int) or abs(total) < HUGE else None
        whole = np.concatenate([[0.0 if start is None else start], cells.astype(float)])
        return float(np.add.accumulate(whole)[-1])  # one by one, in the order of the rows
    found = python(cells.max() if op == "max" else cells.min())
    return found if start is None else (max if op == "max" else min)(start, found)


_MAKE: dict[str, Callable[[Columns, ExprNode], VectorFn]] = {
    "literal": Columns._literal,
    "column": Columns._column,
    "row": Columns._row,
    "let": Columns._let,
    "and": Columns._logical,
    "or": Columns._logical,
    "not": Columns._not,
    "neg": Columns._neg,
    **dict.fromkeys("+-*/", Columns._arithmetic),
    "compare": Columns._compare,
    "in": Columns._in,
    "known": Columns._known,
}
