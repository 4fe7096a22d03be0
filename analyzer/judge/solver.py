"""Values with which a comparison holds: the nearest, and for a sum of columns which column to move."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from analyzer.judge.what_if import Otherwise, bare, moment, same
from analyzer.language.expression import ExprNode

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_STEPS = 8  # of the search for a column's value
_BASE: dict[str, Any] = {"int": 1, "float": 1.0, "str": "x", "version": "1.0", "bool": True}
_SECOND = timedelta(seconds=1)


def values_for(node: ExprNode, sign: str, other: Any) -> list[Any]:
    """Return values of a node for which `node sign other` holds, the nearest first; `other` None is unknown."""
    kind = node.type
    if other is None:
        if kind == "time":
            return [moment("2000-01-01 00:00:00")]
        return [_BASE[kind]] if kind in _BASE else []
    if kind in ("int", "float"):
        return _numbers(kind, sign, other)
    if kind == "time":
        when = moment(other)
        return {"==": [when], "!=": [when + _SECOND, when - _SECOND]}.get(
            sign, [when, when + _SECOND if sign[0] == ">" else when - _SECOND]
        )
    if kind == "bool":
        return [other if sign == "==" else not other]
    if sign in ("==", "<=", ">="):
        return [other]
    if kind == "version":
        return ["0"] if sign == "<" else [f"{other}.1"]
    return [""] if sign == "<" else [f"{other}x"]


def afar(value: Any) -> list[Any]:
    """Return values beside and far beyond a plain value of a condition, and the value itself."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return [value]
    wide = 1000 * (abs(value) + 1)
    return [value, value + 1, value - 1, value + wide, value - wide]


def _numbers(kind: str, sign: str, other: float) -> list[Any]:
    if kind == "int":
        up, down = math.floor(other) + 1, math.ceil(other) - 1
        exact = [int(other)] if float(other).is_integer() else []
        return {
            "==": exact,
            "!=": [up, down],
            ">": _on(up, 1),
            "<": _on(down, -1),
            ">=": _on(math.ceil(other), 1),
            "<=": _on(math.floor(other), -1),
        }[sign]
    value = float(other)
    above, below = _beside(value, 1), _beside(value, -1)
    return {
        "==": [value],
        "!=": [*above, *below],
        ">": above,
        "<": below,
        ">=": [value, *above],
        "<=": [value, *below],
    }[sign]


def _on(first: int, way: int) -> list[int]:
    """Return a whole number and those behind it: another condition may forbid the first."""
    return [first, first + way, first + 2 * way]


def _beside(value: float, way: int) -> list[float]:
    """Return numbers a little beside a value: not so near that a sum swallows the difference."""
    return [value + way * max(abs(value), 1e-9) * 1e-6, value + way * max(abs(value), 1.0)]


def solved(side: ExprNode, wanted: Any, then: Otherwise) -> Iterator[dict[str, Any]]:
    """Yield for each number in an expression the value that gives the expression about the value wanted."""
    if not isinstance(wanted, int | float):
        return
    atoms = {same(atom): atom for atom in _atoms(side)}
    for name, atom in atoms.items():
        start = then.value(atom)
        if not isinstance(start, int | float) or isinstance(start, bool):
            continue
        found = _root(side, name, start, float(wanted), then)
        if found is None:
            continue
        if atom.type == "int":
            yield from ({name: whole} for whole in dict.fromkeys((round(found), math.floor(found), math.ceil(found))))
        else:
            yield {name: found}


def _root(side: ExprNode, name: str, start: float, wanted: float, then: Otherwise) -> float | None:
    """Return by the secant method where an expression of one changed number reaches a value."""

    def off(number: float) -> float | None:
        value = Otherwise(then.present, then.asked, {**then.changes, name: number}).value(side)
        return None if value is None else float(value) - wanted

    one, two = float(start), start + max(1.0, abs(start) * 0.01)
    for _ in range(_STEPS):
        low, high = off(one), off(two)
        if low is None or high is None or not math.isfinite(high - low) or low == high:
            return two if high == 0 else None
        one, two = two, two - high * (two - one) / (high - low)
        if not math.isfinite(two):
            return None
        if abs(two - one) <= 1e-12 * max(1.0, abs(two)):
            return two
    return two


def _atoms(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the columns, folds and counts an arithmetic expression is made of."""
    node = bare(node)
    if node.op in ("column", "seen_field") or node.is_aggregate:
        yield node
    else:
        for child in node.args:
            yield from _atoms(child)
