"""Checked expressions as Python functions over one subject, three-valued: None is unknown.

`and`, `or` and `not` are Kleene's. A group that holds an unknown and no `true` is unknown, a sum over an unknown is
unknown, nothing is divided by zero. A comparison with share(), count(), max() or min() is decided as soon as the
unknown rows can no longer change it. Where rows of an alias may be missing, whatever such rows could change is unknown.
`language/logic.py` writes the same as SQL, for many cases at once.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from analyzer.facts.database import version_key as version_key_of
from analyzer.judge.case_rows import moment
from analyzer.rules.language.expression import ExprNode

Env = list[Any]  # what is known of one subject, by slot
Fn = Callable[[Env], Any]
Parts = tuple[
    int, int, Any
]  # of an aggregate: rows, rows whose value is known, true ones or the value

UNSET = object()  # a slot that was not asked for yet
HUGE = 2**127  # whole numbers beyond this are unknown
BOUNDED = ("share", "count", "max", "min")
ZERO = (
    "any",
    "count",
    "sum",
)  # they have a value over no rows, where that is known; the others have none
COUNTING = ("any", "all", "share", "count")
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")

version_key = lru_cache(maxsize=65_536)(version_key_of)


class Subjects(Protocol):
    """What expressions ask of the subject at hand."""

    def cell(self, alias: str, column: str) -> Fn:
        """Return what gives a cell of a row."""

    def present(self, alias: str) -> Fn:
        """Return what tells whether there is a row."""

    def seen(self, name: str, part: str) -> Fn:
        """Return what gives a value that logs answer: `burst`, or with a part `burst.count`."""

    def parts(self, node: ExprNode) -> Fn:
        """Return what gives the parts of an aggregate, None over no rows."""

    def unsure(self, alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing."""

    def memo(self) -> int:
        """Return a slot that is emptied for every subject."""


class Closures:
    """The functions of one rule's expressions, each made when it is first wanted.

    texts  True where a number may still be text: groups cut out of a log line
    """

    def __init__(self, subjects: Subjects, *, texts: bool = False) -> None:
        self.subjects, self.texts = subjects, texts
        self._made: dict[int, Fn] = {}

    def __call__(self, node: ExprNode) -> Fn:
        """Return the function that gives the value of a node."""
        found = self._made.get(id(node))
        if found is None:
            found = self._made[id(node)] = _MAKE[node.op](self, node)
        return found

    def release(self) -> None:
        """Let go of the functions, which hold this and each other."""
        self._made.clear()

    # -- leaves

    def _literal(self, node: ExprNode) -> Fn:
        value = literal(node)
        return lambda _: value

    def _column(self, node: ExprNode) -> Fn:
        cell = self.subjects.cell(node.name, node.column)
        if self.texts and node.type == "float":
            return lambda env: number_of(cell(env))
        if node.type != "version":
            return cell

        def version(env: Env) -> Any:
            found = cell(env)
            return None if found is None else version_key(found)

        return version

    def _row(self, node: ExprNode) -> Fn:
        return self.subjects.present(node.name)

    def _seen(self, node: ExprNode) -> Fn:
        return self.subjects.seen(node.name, node.column)

    def _let(self, node: ExprNode) -> Fn:
        body = node.args[0]
        value = self(body)
        if node.many or body.is_aggregate or body.op in ("literal", "column", "let"):
            return value
        slot = self.subjects.memo()

        def named(env: Env) -> Any:
            found = env[slot]
            if found is UNSET:
                found = env[slot] = value(env)
            return found

        return named

    # -- logic

    def _logical(self, node: ExprNode) -> Fn:
        parts = [self(child) for child in node.args]
        decisive = node.op == "or"

        def logical(env: Env) -> bool | None:
            unknown = False
            for part in parts:
                value: bool | None = part(env)
                if value is decisive:
                    return value
                unknown = unknown or value is None
            return None if unknown else not decisive

        return logical

    def _not(self, node: ExprNode) -> Fn:
        part = self(node.args[0])

        def negated(env: Env) -> bool | None:
            value = part(env)
            return None if value is None else not value

        return negated

    def _in(self, node: ExprNode) -> Fn:
        value, *choices = (self(child) for child in node.args)

        def member(env: Env) -> bool | None:
            mine = value(env)
            if mine is None:
                return None
            unknown = False
            for choice in choices:
                other = choice(env)
                if other is not None and mine == other:
                    return True
                unknown = unknown or other is None
            return None if unknown else False

        return member

    def _known(self, node: ExprNode) -> Fn:
        value = node.args[0]
        there = self(value)
        by_row = value.op == "row"
        aliases = sorted({leaf.name for leaf in value.walk() if leaf.op in ("column", "row")})
        doubts = [self.subjects.unsure(alias) for alias in aliases]

        def known(env: Env) -> bool | None:
            found = there(env)
            if found if by_row else found is not None:
                return True
            return None if any(doubt(env) for doubt in doubts) else False

        return known

    # -- numbers

    def _neg(self, node: ExprNode) -> Fn:
        part = self(node.args[0])

        def negative(env: Env) -> Any:
            value = part(env)
            return None if value is None else -value

        return negative

    def _arithmetic(self, node: ExprNode) -> Fn:
        one, two = (self(child) for child in node.args)
        work = arithmetic(node)

        def worked(env: Env) -> Any:
            left = one(env)
            if left is None:
                return None
            right = two(env)
            return None if right is None else work(left, right)

        return worked

    def _extreme(self, node: ExprNode) -> Fn:
        parts = [self(child) for child in node.args]
        pick = min if node.op == "least" else max
        cast = float if node.type == "float" else None

        def extreme(env: Env) -> Any:
            values = [part(env) for part in parts]
            if None in values:
                return None
            found = pick(values)
            return found if cast is None else cast(found)

        return extreme

    # -- comparisons

    def _compare(self, node: ExprNode) -> Fn:
        left, right = node.args
        sign = node.name
        if sign in ("==", "!=") or not (bounded(left) or bounded(right)):
            compare, one, two = COMPARE[sign], self(left), self(right)

            def compared(env: Env) -> bool | None:
                mine = one(env)
                if mine is None:
                    return None
                other = two(env)
                return None if other is None else compare(mine, other)

            return compared
        if sign in ("<", "<="):  # a < b is b > a
            left, right, sign = right, left, sign.replace("<", ">")
        compare, bounds, others = COMPARE[sign], self.bounds(left), self.bounds(right)

        def decided(env: Env) -> bool | None:
            low, high = bounds(env)
            other_low, other_high = others(env)
            if low is not None and other_high is not None and compare(low, other_high):
                return True
            if high is not None and other_low is not None and not compare(high, other_low):
                return False
            return None

        return decided

    def bounds(self, node: ExprNode) -> Callable[[Env], tuple[Any, Any]]:
        """Return what gives the least and the greatest value a node can have, given what is unknown."""
        fold = bounded(node)
        if fold is None:
            value = self(node)
            return lambda env: (value(env),) * 2
        parts, unsure = self.subjects.parts(fold), self.subjects.unsure(fold.name)
        if fold.op in ("max", "min"):
            top = fold.op == "max"

            def extremes(env: Env) -> tuple[Any, Any]:
                found = parts(env)
                if found is None:
                    return None, None
                rows, known, value = found
                complete = value if rows == known and not unsure(env) else None
                return (value, complete) if top else (complete, value)

            return extremes
        share = fold.op == "share"

        def counts(env: Env) -> tuple[Any, Any]:
            found = parts(env)
            if found is None:
                return None, None
            rows, known, true = found
            if share:
                return (
                    (None, None)
                    if not rows or unsure(env)
                    else (true / rows, (true + rows - known) / rows)
                )
            return true, None if unsure(env) else true + rows - known

        return counts

    # -- aggregates

    def _aggregate(self, node: ExprNode) -> Fn:
        parts, unsure = self.subjects.parts(node), self.subjects.unsure(node.name)
        if node.op in ("any", "all"):
            some = node.op == "any"

            def quantified(env: Env) -> bool | None:
                found = parts(env)
                if found is None:
                    return None
                rows, known, true = found
                if true > 0 if some else known > true:
                    return some
                return not some if rows == known and not unsure(env) else None

            return quantified
        share = node.op == "share"

        def folded(env: Env) -> Any:
            found = parts(env)
            if found is None or found[0] != found[1] or unsure(env):
                return None
            return found[2] / found[0] if share else found[2]

        return folded


def number_of(value: Any) -> float | None:
    """Return a number, or a text that is one, as a float; None when it is none."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value.strip()) else None
    return None if value is None or isinstance(value, bool) else float(value)


def literal(node: ExprNode) -> Any:
    """Return the value of a literal as it is compared: a version by its key, a time as a moment."""
    if node.type == "version":
        return version_key(str(node.value))
    return moment(str(node.value)) if node.type == "time" else node.value


def bounded(node: ExprNode) -> ExprNode | None:
    """Return the aggregate with bounds that a node stands for, through names."""
    while node.op == "let":
        node = node.args[0]
    return node if node.op in BOUNDED else None


def arithmetic(node: ExprNode) -> Callable[[Any, Any], Any]:
    """Return what works out one sum, difference, product or quotient of two known values."""
    if node.args[0].type == "time":
        return _seconds
    if node.op == "/":
        return _quotient
    work = _WHOLE[node.op]
    if node.type == "float":
        return lambda one, two: work(float(one), float(two))

    def whole(one: int, two: int) -> int | None:
        found = work(one, two)
        return None if abs(found) >= HUGE else int(found)

    return whole


def _seconds(one: datetime, two: datetime) -> float:
    return (one - two).total_seconds()


def _quotient(one: float, two: float) -> float | None:
    return float(one) / float(two) if two else None


_MAKE: dict[str, Callable[[Closures, ExprNode], Fn]] = {
    "literal": Closures._literal,
    "column": Closures._column,
    "row": Closures._row,
    "let": Closures._let,
    "seen": Closures._seen,
    "seen_field": Closures._seen,
    "and": Closures._logical,
    "or": Closures._logical,
    "not": Closures._not,
    "neg": Closures._neg,
    **dict.fromkeys("+-*/", Closures._arithmetic),
    "compare": Closures._compare,
    "in": Closures._in,
    "least": Closures._extreme,
    "greatest": Closures._extreme,
    "known": Closures._known,
    **dict.fromkeys(
        ("any", "all", "share", "count", "sum", "max", "min", "mean"), Closures._aggregate
    ),
}
