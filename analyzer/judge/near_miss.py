"""Near misses: the fewest conditions that would have to be otherwise for a rule to match.

`only`, `when` and the outcomes are walked together: `and` needs all its children, `or` the
cheapest, `not` the opposite. A way is told when the rule would match with these conditions otherwise and all
others as they are. Others that look at the same value are named; where no value meets them all, nothing is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise, product
from typing import Any

from analyzer.case.verdicts import Explained, NearMiss, Verdict
from analyzer.judge.near_miss_leaves import Need, compared, inputs, logical, moment, same, sides
from analyzer.judge.near_miss_text import far, near, row_far
from analyzer.judge.trace import TraceContext
from analyzer.rules.language.expression import ExprNode, bare_node

NEAR = 2  # things to be otherwise
PLANS = 12  # ways to mend one node that are followed
SIZE = 1000  # nodes of all conditions; a rule beyond is not searched for near misses


Plan = tuple[Need, ...]


def explained(
    why: TraceContext, verdict: str, subject: str, thing: str, reason: str, taken: int | None
) -> Explained:
    """Return one verdict with its whole tree, the leaves that said no, and the near miss."""
    tree = why.tree(verdict, subject, taken)
    try:
        miss = near_miss(why, verdict)
    except (
        ArithmeticError,
        RecursionError,
        ValueError,
    ):  # numbers beyond what Python's dates and floats can be
        miss = None
    return Explained(
        why.rule.id, why.detail.name, subject, thing, verdict, reason, tree, miss, why.marks(tree)
    )


def near_miss(why: TraceContext, verdict: str) -> NearMiss | None:
    """Return how little was missing to a match, or None when it is one, or when more than two things were."""
    rule = why.rule
    if verdict not in (Verdict.NO_MATCH, Verdict.NOT_APPLICABLE, Verdict.CANNOT_TELL):
        return None
    conditions = [(rule.only, "only"), (rule.when, "when")]
    asked = [(node, part) for node, part in conditions if node is not None]
    outcomes = [outcome.when for outcome in rule.outcomes]
    if sum(node.size for node in (*(node for node, _ in asked), *outcomes)) > SIZE:
        return None
    return _Search(why, asked, outcomes).best(verdict)


class _Search:
    """Looks for the nearest way to a match of one subject."""

    def __init__(
        self, why: TraceContext, asked: Sequence[tuple[ExprNode, str]], outcomes: Sequence[ExprNode]
    ) -> None:
        self.why, self.asked, self.outcomes = why, asked, outcomes
        self.unseen_row = why.detail.row(why.rule.each.name) is None
        self.leaves = {
            same(leaf): leaf
            for node in (*(node for node, _ in asked), *outcomes)
            for leaf in _leaves(node)
        }

    def best(self, verdict: str) -> NearMiss | None:
        """Return the nearest plan that holds when it is tried."""
        parts = [self.mend(node, part, want=True) for node, part in self.asked]
        parts.append(
            self._one_of([self.mend(node, "outcome", want=True) for node in self.outcomes])
        )
        doubtful = verdict == Verdict.CANNOT_TELL
        for plan in self._joined(parts, doubtful=doubtful):
            distance = self.distance(plan)
            if distance > NEAR:
                return None
            then = {same(need.node): need.want for need in plan}
            if len(then) < len(plan) or not self._matches(then):
                continue
            keeps = [leaf for leaf in self._beside(plan, then) if self._turns(plan, leaf)]
            if self._possible(plan, keeps):
                return near(self.why, plan, distance, keeps, unseen_row=self.unseen_row)
        return None

    def distance(self, plan: Plan) -> int:
        """Return how many things a plan changes; an unseen row is one, and it brings its values along."""
        things = {need.thing for need in plan}
        if self.unseen_row:
            things.add(f"? {self.why.rule.each.table.name}")
        return len(things)

    # -- plans

    def mend(self, node: ExprNode, part: str, *, want: bool) -> list[Plan]:
        """Return the ways to give a node the value wanted, the nearest first."""
        node = bare_node(node)
        if self.why.value(node) is want:
            return [()]
        if node.op == "literal":
            return []
        if node.op == "not":
            return self.mend(node.args[0], part, want=not want)
        if node.op in ("and", "or"):
            ways = [self.mend(child, part, want=want) for child in node.args]
            return self._joined(ways) if (node.op == "and") is want else self._one_of(ways)
        return [(self._need(node, part, want=want),)]

    def _need(self, node: ExprNode, part: str, *, want: bool) -> Need:
        if self.why.value(node) is None:
            return Need(node, want, part, None, self.why.cause(node))
        measured = far(self.why, node, want=want)
        return Need(node, want, part, measured, row_far=row_far(self.why, node, want=want))

    def _one_of(self, ways: Sequence[Sequence[Plan]]) -> list[Plan]:
        return self._ranked(plan for way in ways for plan in way)

    def _joined(self, ways: Sequence[Sequence[Plan]], *, doubtful: bool = False) -> list[Plan]:
        """Return the ways that go all of the given ones; none when one of them has no way."""
        found: list[Plan] = [()]
        for way in ways:
            found = self._ranked(
                (_merged(one, two) for one, two in product(found, way)), doubtful=doubtful
            )
        return found

    def _ranked(self, plans: Iterable[Plan], *, doubtful: bool = False) -> list[Plan]:
        """Return plans by distance, of equal ones what is unknown first where that is the verdict, then the closest."""
        return sorted(
            dict.fromkeys(plans),
            key=lambda plan: (
                self.distance(plan),
                doubtful and all(need.known for need in plan),
                sum(1.0 if need.far is None else min(1.0, need.far) for need in plan),
                sum(1.0 if need.row_far is None else min(1.0, need.row_far) for need in plan),
                len(plan),
            ),
        )[:PLANS]

    # -- holding a plan against the rule

    def _matches(self, then: Mapping[str, bool]) -> bool:
        """Tell whether the rule matches with some leaves otherwise and all others as they are."""
        if not all(self._value(node, then) is True for node, _ in self.asked):
            return False
        return any(self._value(node, then) is True for node in self.outcomes)

    def _value(self, node: ExprNode, then: Mapping[str, bool]) -> bool | None:
        node = bare_node(node)
        if node.op == "not":
            value = self._value(node.args[0], then)
            return None if value is None else not value
        if node.op in ("and", "or"):
            return logical(node.op, [self._value(child, then) for child in node.args])
        value = then.get(same(node), self.why.value(node))
        return value if isinstance(value, bool) else None

    def _beside(self, plan: Plan, then: Mapping[str, bool]) -> Iterator[ExprNode]:
        """Yield the leaves that look at the values of a plan and without which the rule would not match."""
        changed = frozenset[str]().union(*(inputs(need.node) for need in plan if need.known))
        for name, leaf in self.leaves.items():
            value = self.why.value(leaf)
            own = name not in then and value is not None and changed & inputs(leaf)
            if own and not self._matches({**then, name: not value}):
                yield leaf

    def _turns(self, plan: Plan, leaf: ExprNode) -> bool:
        """Tell whether a leaf may turn while the plan holds: with values of their own it may."""
        for need in plan:
            tests = _tests(need.node)
            other = _tests(leaf)
            if tests is not None and other is not None and tests[0] == other[0]:
                found = [
                    value for value in _tried((need.node, leaf)) if tests[1](value) is need.want
                ]
                if all(other[1](value) is self.why.value(leaf) for value in found):
                    return False
        return True

    def _possible(self, plan: Plan, keeps: Sequence[ExprNode]) -> bool:
        """Tell whether a value can meet all that is asked of it, where all of it is compared with plain values."""
        asked: dict[str, list[tuple[Callable[[Any], bool | None], bool]]] = {}
        nodes: dict[str, list[ExprNode]] = {}
        wanted = [(need.node, need.want) for need in plan] + [
            (leaf, bool(self.why.value(leaf))) for leaf in keeps
        ]
        pins = [node for node, want in wanted if _pins(node, want=want)]
        pinned = frozenset[str]().union(*map(inputs, pins))
        tried = {
            found[0] for found in map(_tests, pins) if found is not None
        }  # below, with all that is asked of them
        for need in plan:
            found = _tests(need.node)
            if (
                need.known
                and inputs(need.node) <= pinned
                and (found is None or found[0] not in tried)
            ):
                return False
        for node, want in wanted:
            if (test := _tests(node)) is not None:
                asked.setdefault(test[0], []).append((test[1], want))
                nodes.setdefault(test[0], []).append(node)
        return all(
            any(
                all(test(value) is want for test, want in asked[name])
                for value in _tried(nodes[name])
            )
            for name in asked
        )


def _pins(node: ExprNode, *, want: bool) -> bool:
    """Tell whether a leaf leaves one value only for its column."""
    columns = (
        [side for side in node.args if bare_node(side).op == "column"]
        if node.op == "compare"
        else []
    )
    return (
        len(columns) == 1
        and len(list(sides(node, want=want))) == 1
        and (node.name == ("==" if want else "!="))
    )


def _tests(node: ExprNode) -> tuple[str, Callable[[Any], bool | None]] | None:
    """Return the name of the one value that a leaf compares with plain values, and the test of that value."""
    node = bare_node(node)
    if node.op == "in":
        side, choices = node.args[0], node.args[1:]
        return same(side), lambda value: logical(
            "or", [compared(node, "==", value, one.value) for one in choices]
        )
    found = list(sides(node, want=True))
    if len(found) == 1:
        side, sign, other = found[0]
        return same(side), lambda value: compared(node, sign, value, bare_node(other).value)
    return (same(node), lambda value: value) if node.op == "column" else None


def _tried(nodes: Iterable[ExprNode]) -> list[Any]:
    """Return values on, between and beyond those that some leaves compare one value with."""
    sides = [bare_node(side) for node in nodes for side in (node.args or (node,))]
    kind = next((side.type for side in sides if side.op != "literal"), "")
    plain = [side.value for side in sides if side.op == "literal"]
    if kind == "bool":
        return [True, False]
    if kind == "time":
        return [moment(one) + timedelta(seconds=way) for one in plain for way in (-1, 0, 1)]
    if kind not in ("int", "float"):
        return [*plain, *(f"{one}.1" for one in plain), "0", ""]
    numbers = sorted(float(str(one)) for one in plain)
    if kind == "int":
        return [math.floor(number) + way for number in numbers for way in (-1, 0, 1, 2)]
    ends = [numbers[0] - 1 - abs(numbers[0]), numbers[-1] + 1 + abs(numbers[-1])] if numbers else []
    return [*numbers, *((one + two) / 2 for one, two in pairwise(numbers)), *ends]


def _merged(one: Plan, two: Plan) -> Plan:
    return tuple({(same(need.node), need.want): need for need in (*one, *two)}.values())


def _leaves(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the conditions a condition is made of."""
    node = bare_node(node)
    if node.op in ("and", "or", "not"):
        for child in node.args:
            yield from _leaves(child)
    elif node.op != "literal":
        yield node
