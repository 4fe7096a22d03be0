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
from analyzer.judge.case_rows import parse_moment
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
WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")

version_key = lru_cache(maxsize=65_536)(version_key_of)


class Subjects(Protocol):
    """What expressions ask of the subject at hand."""

    def make_cell(self, alias: str, column: str) -> Fn:
        """Return what gives a cell of a row."""

    def make_presence(self, alias: str) -> Fn:
        """Return what tells whether there is a row."""

    def make_seen(self, name: str, part: str) -> Fn:
        """Return what gives a value that logs answer: `burst`, or with a part `burst.count`."""

    def make_parts(self, node: ExprNode) -> Fn:
        """Return what gives the parts of an aggregate, None over no rows."""

    def make_doubt(self, alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing."""

    def add_memo(self) -> int:
        """Return a slot that is emptied for every subject."""


class Closures:
    """The functions of one rule's expressions, each made when it is first wanted.

    texts  True where a number may still be text: groups cut out of a log line
    """

    def __init__(self, subjects: Subjects, *, texts: bool = False) -> None:
        self.subjects = subjects
        self.texts = texts
        self._made: dict[int, Fn] = {}

    def __call__(self, node: ExprNode) -> Fn:
        """Return the function that gives the value of a node."""
        found = self._made.get(id(node))
        if found is None:
            found = self._made[id(node)] = _MAKE[node.op](self, node)
        return found

    def list_doubts(self, node: ExprNode) -> list[Fn]:
        """Return for each alias that a value comes from what tells whether rows of it may be missing."""
        aliases = {leaf.name for leaf in node.walk() if leaf.op in ("column", "row")}
        return [self.subjects.make_doubt(alias) for alias in sorted(aliases)]

    def release(self) -> None:
        """Drop the functions, which hold this and each other."""
        self._made.clear()

    # -- leaves

    def make_literal(self, node: ExprNode) -> Fn:
        """Return what gives a constant."""
        value = read_literal(node)
        return lambda _: value

    def make_column(self, node: ExprNode) -> Fn:
        """Return what gives a cell: of a version its key."""
        cell = self.subjects.make_cell(node.name, node.column)
        if self.texts and node.type == "float":
            return lambda env: parse_number(cell(env))
        if node.type != "version":
            return cell

        def read_version(env: Env) -> Any:
            found = cell(env)
            return None if found is None else version_key(found)

        return read_version

    def make_row(self, node: ExprNode) -> Fn:
        """Return what tells whether there is a row."""
        return self.subjects.make_presence(node.name)

    def make_seen(self, node: ExprNode) -> Fn:
        """Return what gives an answer of the logs."""
        return self.subjects.make_seen(node.name, node.column)

    def make_let(self, node: ExprNode) -> Fn:
        """Return what gives a named value, worked out once for a subject."""
        body = node.args[0]
        value = self(body)
        if node.many or body.is_aggregate or body.op in ("literal", "column", "let"):
            return value
        slot = self.subjects.add_memo()

        def read_named(env: Env) -> Any:
            found = env[slot]
            if found is UNSET:
                found = env[slot] = value(env)
            return found

        return read_named

    # -- logic

    def make_logical(self, node: ExprNode) -> Fn:
        """Return what answers `and` or `or`."""
        parts = [self(child) for child in node.args]
        decisive = node.op == "or"

        def combine(env: Env) -> bool | None:
            unknown = False
            for part in parts:
                value: bool | None = part(env)
                if value is decisive:
                    return value
                unknown = unknown or value is None
            return None if unknown else not decisive

        return combine

    def make_not(self, node: ExprNode) -> Fn:
        """Return what answers `not`."""
        part = self(node.args[0])

        def negate(env: Env) -> bool | None:
            value = part(env)
            return None if value is None else not value

        return negate

    def make_membership(self, node: ExprNode) -> Fn:
        """Return what tells whether a value is one of several."""
        value, *choices = (self(child) for child in node.args)

        def is_member(env: Env) -> bool | None:
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

        return is_member

    def make_known(self, node: ExprNode) -> Fn:
        """Return what tells whether a value is known."""
        value = node.args[0]
        there = self(value)
        by_row = value.op == "row"
        doubts = self.list_doubts(value)

        def is_known(env: Env) -> bool | None:
            found = there(env)
            if found if by_row else found is not None:
                return True
            return None if any(doubt(env) for doubt in doubts) else False

        return is_known

    # -- numbers

    def make_negative(self, node: ExprNode) -> Fn:
        """Return what gives a number with the other sign."""
        part = self(node.args[0])

        def change_sign(env: Env) -> Any:
            value = part(env)
            return None if value is None else -value

        return change_sign

    def make_arithmetic(self, node: ExprNode) -> Fn:
        """Return what gives a sum, difference, product or quotient."""
        one, two = (self(child) for child in node.args)
        work = choose_arithmetic(node)

        def work_out(env: Env) -> Any:
            left = one(env)
            if left is None:
                return None
            right = two(env)
            return None if right is None else work(left, right)

        return work_out

    def make_extreme(self, node: ExprNode) -> Fn:
        """Return what gives the least or the greatest of some values."""
        parts = [self(child) for child in node.args]
        pick = min if node.op == "least" else max
        cast = float if node.type == "float" else None

        def pick_extreme(env: Env) -> Any:
            values = [part(env) for part in parts]
            if None in values:
                return None
            found = pick(values)
            return found if cast is None else cast(found)

        return pick_extreme

    # -- comparisons

    def make_comparison(self, node: ExprNode) -> Fn:
        """Return what compares two values, or the bounds of what may have any of several."""
        left, right = node.args
        sign = node.name
        if sign in ("==", "!=") or not (find_bounded(left) or find_bounded(right)):
            compare = COMPARE[sign]
            one = self(left)
            two = self(right)

            def compare_values(env: Env) -> bool | None:
                mine = one(env)
                if mine is None:
                    return None
                other = two(env)
                return None if other is None else compare(mine, other)

            return compare_values
        if sign in ("<", "<="):  # a < b is b > a
            left, right, sign = right, left, sign.replace("<", ">")
        compare = COMPARE[sign]
        bounds = self.make_bounds(left)
        others = self.make_bounds(right)

        def compare_bounds(env: Env) -> bool | None:
            low, high = bounds(env)
            other_low, other_high = others(env)
            if low is not None and other_high is not None and compare(low, other_high):
                return True
            if high is not None and other_low is not None and not compare(high, other_low):
                return False
            return None

        return compare_bounds

    def make_bounds(self, node: ExprNode) -> Callable[[Env], tuple[Any, Any]]:
        """Return what gives the least and the greatest value a node can have, given what is unknown."""
        fold = find_bounded(node)
        if fold is None:
            value = self(node)
            return lambda env: (value(env),) * 2
        parts = self.subjects.make_parts(fold)
        unsure = self.subjects.make_doubt(fold.name)
        if fold.op in ("max", "min"):
            top = fold.op == "max"

            def bound_extreme(env: Env) -> tuple[Any, Any]:
                found = parts(env)
                if found is None:
                    return None, None
                rows, known, value = found
                complete = value if rows == known and not unsure(env) else None
                return (value, complete) if top else (complete, value)

            return bound_extreme
        share = fold.op == "share"

        def bound_count(env: Env) -> tuple[Any, Any]:
            found = parts(env)
            if found is None:
                return None, None
            rows, known, true = found
            if share:
                if not rows or unsure(env):
                    return None, None
                return true / rows, (true + rows - known) / rows
            return true, None if unsure(env) else true + rows - known

        return bound_count

    # -- aggregates

    def make_aggregate(self, node: ExprNode) -> Fn:
        """Return what gives an aggregate; None where an unknown row decides it."""
        parts = self.subjects.make_parts(node)
        unsure = self.subjects.make_doubt(node.name)
        if node.op in ("any", "all"):
            some = node.op == "any"

            def quantify(env: Env) -> bool | None:
                found = parts(env)
                if found is None:
                    return None
                rows, known, true = found
                if true > 0 if some else known > true:
                    return some
                return not some if rows == known and not unsure(env) else None

            return quantify
        share = node.op == "share"

        def read_parts(env: Env) -> Any:
            found = parts(env)
            if found is None or found[0] != found[1] or unsure(env):
                return None
            return found[2] / found[0] if share else found[2]

        return read_parts


def parse_number(value: Any) -> float | None:
    """Return a number, or a text that is one, as a float; None when it is none."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value.strip()) else None
    if value is None or isinstance(value, bool):
        return None
    return float(value)


def read_literal(node: ExprNode) -> Any:
    """Return the value of a literal as it is compared: a version by its key, a time as a moment."""
    if node.type == "version":
        return version_key(str(node.value))
    if node.type == "time":
        return parse_moment(str(node.value))
    return node.value


def find_bounded(node: ExprNode) -> ExprNode | None:
    """Return the aggregate with bounds that a node means, through names."""
    while node.op == "let":
        node = node.args[0]
    return node if node.op in BOUNDED else None


def choose_arithmetic(node: ExprNode) -> Callable[[Any, Any], Any]:
    """Return what works out one sum, difference, product or quotient of two known values."""
    if node.args[0].type == "time":
        return subtract_times
    if node.op == "/":
        return divide
    work = WHOLE[node.op]
    if node.type == "float":
        return lambda one, two: work(float(one), float(two))

    def work_out_whole(one: int, two: int) -> int | None:
        found = work(one, two)
        return None if abs(found) >= HUGE else int(found)

    return work_out_whole


def subtract_times(one: datetime, two: datetime) -> float:
    """Return the seconds between two moments."""
    return (one - two).total_seconds()


def divide(one: float, two: float) -> float | None:
    """Return a quotient, None where the divisor is 0."""
    return float(one) / float(two) if two else None


_MAKE: dict[str, Callable[[Closures, ExprNode], Fn]] = {
    "literal": Closures.make_literal,
    "column": Closures.make_column,
    "row": Closures.make_row,
    "let": Closures.make_let,
    "seen": Closures.make_seen,
    "seen_field": Closures.make_seen,
    "and": Closures.make_logical,
    "or": Closures.make_logical,
    "not": Closures.make_not,
    "neg": Closures.make_negative,
    **dict.fromkeys("+-*/", Closures.make_arithmetic),
    "compare": Closures.make_comparison,
    "in": Closures.make_membership,
    "least": Closures.make_extreme,
    "greatest": Closures.make_extreme,
    "known": Closures.make_known,
    **dict.fromkeys(
        ("any", "all", "share", "count", "sum", "max", "min", "mean"), Closures.make_aggregate
    ),
}
