"""Near misses: the fewest conditions that would have to be otherwise for a rule to match.

`only`, `when` and the outcomes are walked together: `and` needs all its children, `or` the
cheapest, `not` the opposite. What is found is tried before it is told: the values in question
are set to the nearest that would do, and the rule must match with them. So nothing is called
near that another condition on the same value rules out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from analyzer.judge.causes import Cause
from analyzer.judge.near_miss_text import far, near, row_far, sides
from analyzer.judge.solver import OPPOSITE, afar, solved, values_for
from analyzer.judge.trace import Why
from analyzer.judge.what_if import Changes, Otherwise, bare, inputs, same
from analyzer.language.expression import ExprNode
from analyzer.verdicts import Explained, NearMiss, Verdict

NEAR = 2  # things to be otherwise
PLANS = 12  # ways to mend one node that are followed
TRIALS = 200  # evaluations for one subject
SIZE = 1000  # nodes of all conditions; a rule beyond is not searched for near misses


@dataclass(frozen=True, slots=True)
class Need:
    """A leaf that would have to be `want`: a comparison, a membership, a name seen in logs, any(), a column …"""

    node: ExprNode
    want: bool
    part: str  # only, when or outcome
    far: float | None = None
    cause: Cause | None = None  # why its value is unknown, when it is
    row_far: float | None = None  # the same of the row that decides, inside a fold

    @property
    def known(self) -> bool:
        """Tell whether the leaf has a value, the wrong one."""
        return self.cause is None

    @property
    def thing(self) -> str:
        """What would have to be otherwise: the leaf, or the source whose absence leaves it unknown."""
        if self.cause is None:
            return f"{same(self.node)} {self.want}"
        return f"? {self.cause.table.name if self.cause.table is not None else self.cause.missing}"


Plan = tuple[Need, ...]


def explained(why: Why, verdict: str, subject: str, thing: str, reason: str, taken: int | None) -> Explained:
    """Return one verdict with its whole tree, the leaves that said no, and the near miss."""
    tree = why.tree(verdict, subject, taken)
    try:
        miss = near_miss(why, verdict)
    except (ArithmeticError, RecursionError, ValueError):  # numbers beyond what Python's dates and floats can be
        miss = None
    return Explained(why.rule.id, why.detail.name, subject, thing, verdict, reason, tree, miss, why.marks(tree))


def near_miss(why: Why, verdict: str) -> NearMiss | None:
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

    def __init__(self, why: Why, asked: Sequence[tuple[ExprNode, str]], outcomes: Sequence[ExprNode]) -> None:
        self.why, self.asked, self.outcomes = why, asked, outcomes
        self.ghost = why.detail.row(why.rule.each.name) is None
        self.leaves = {same(leaf): leaf for node in (*(node for node, _ in asked), *outcomes) for leaf in _leaves(node)}
        self.trials = TRIALS

    def best(self, verdict: str) -> NearMiss | None:
        """Return the nearest plan that holds when it is tried."""
        parts = [self.mend(node, part, want=True) for node, part in self.asked]
        parts.append(self._one_of([self.mend(node, "outcome", want=True) for node in self.outcomes]))
        doubtful = verdict == Verdict.CANNOT_TELL
        for plan in self._joined(parts, doubtful=doubtful):
            distance = self.distance(plan)
            if distance > NEAR:
                return None
            changes = self._settled(plan, {})
            if changes is not None:
                return near(self.why, plan, distance, self._keeps(plan, changes), ghost=self.ghost)
        return None

    def distance(self, plan: Plan) -> int:
        """Return how many things a plan changes; the row of a ghost is one, and it brings its values along."""
        things = {need.thing for need in plan}
        if self.ghost:
            things.add(f"? {self.why.rule.each.table.name}")
        return len(things)

    # -- plans

    def mend(self, node: ExprNode, part: str, *, want: bool) -> list[Plan]:
        """Return the ways to give a node the value wanted, the nearest first."""
        node = bare(node)
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
            found = self._ranked((_merged(one, two) for one, two in product(found, way)), doubtful=doubtful)
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

    # -- trying a plan

    def matches(self, changes: Changes) -> bool:
        """Tell whether the rule matches with some values changed."""
        self.trials -= 1
        then = self._with(changes)
        if not all(then.value(node) is True for node, _ in self.asked):
            return False
        return any(then.value(node) is True for node in self.outcomes)

    def _with(self, changes: Changes) -> Otherwise:
        return Otherwise(self.why.value, self.why.detail.asked, changes)

    def _settled(self, plan: Sequence[Need], changes: Changes) -> Changes | None:
        """Return values with which every leaf of a plan holds and the rule matches."""
        if self.trials <= 0:
            return None
        if not plan:
            return changes if self.matches(changes) else None
        first, rest = plan[0], plan[1:]
        for more in self._options(first, changes):
            found = self._settled(rest, {**changes, **more})
            if found is not None:
                return found
        return None

    def _options(self, need: Need, changes: Changes) -> Iterator[dict[str, Any]]:
        """Yield values that make one leaf hold, the nearest first."""
        node, then = need.node, self._with(changes)
        if then.value(node) is need.want:
            yield {}
        if node.op == "compare":
            yield from self._compared(need, then)
        elif node.op == "in":
            yield from ({same(node.args[0]): value} for value in _members(node, want=need.want))
        else:
            yield {same(node): need.want}

    def _compared(self, need: Need, then: Otherwise) -> Iterator[dict[str, Any]]:
        left, right = need.node.args
        sign = need.node.name if need.want else OPPOSITE[need.node.name]
        flipped = sign.translate(str.maketrans("<>", "><"))
        there = [then.value(left), then.value(right)]
        for side, other, way in ((left, there[1], sign), (right, there[0], flipped)):
            if bare(side).op != "literal":
                for value in values_for(side, way, other):
                    yield from self._given(side, value, need, then)
        if there == [None, None] and right.op != "literal":
            for value in values_for(left, sign, None):
                yield {same(left): value, same(right): values_for(right, "==", None)[0]}

    def _given(self, side: ExprNode, value: Any, need: Need, then: Otherwise) -> Iterator[dict[str, Any]]:
        """Yield changes that give one side of a comparison a value.

        The side as a whole is set when nothing else is made of what it is made of; else one of
        its columns is moved, so that all that is made of it moves along.
        """
        side = bare(side)
        alone = side.op == "column" or then.value(side) is None or self._alone(side, need)
        if alone or not inputs(side):
            yield {same(side): value}
        else:
            yield from solved(side, value, then)

    def _alone(self, side: ExprNode, need: Need) -> bool:
        own = inputs(side)
        return all(own.isdisjoint(inputs(leaf, same(side))) for leaf in self.leaves.values() if leaf is not need.node)

    def _keeps(self, plan: Plan, settled: Changes) -> list[ExprNode]:
        """Return the leaves that look at the same values as the plan and must stay as they are for a match."""
        changed = {same(need.node) for need in plan}
        kept: dict[str, ExprNode] = {}
        for need in plan:
            own = inputs(need.node)
            others = {name: leaf for name, leaf in self.leaves.items() if name not in changed and own & inputs(leaf)}
            for changes in self._afar(need, others.values()) if need.known and others else ():
                trial = {**settled, **changes}
                then = self._with(trial)
                if then.value(need.node) is need.want and not self.matches(trial):
                    kept |= {name: leaf for name, leaf in others.items() if self._turns(leaf, then)}
        return list(kept.values())

    def _turns(self, leaf: ExprNode, then: Otherwise) -> bool:
        before = self.why.value(leaf)
        return before is not None and then.value(leaf) is not before

    def _afar(self, need: Need, others: Iterable[ExprNode]) -> Iterator[dict[str, Any]]:
        """Yield other values with which a leaf may hold: those that it and other leaves speak of, and beside them."""
        then = self._with({})
        plain = [one.value for leaf in (need.node, *others) for one in leaf.args if one.op == "literal"]
        values = [value for one in plain for value in afar(one)]
        if need.node.op == "in":
            yield from ({same(need.node.args[0]): value} for value in values)
        for side, _, _ in sides(need.node, want=need.want):
            for value in values:
                yield from self._given(side, value, need, then)


def _merged(one: Plan, two: Plan) -> Plan:
    return tuple({(same(need.node), need.want): need for need in (*one, *two)}.values())


def _leaves(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the conditions a condition is made of."""
    node = bare(node)
    if node.op in ("and", "or", "not"):
        for child in node.args:
            yield from _leaves(child)
    elif node.op != "literal":
        yield node


def _members(node: ExprNode, *, want: bool) -> list[Any]:
    choices = [choice.value for choice in node.args[1:]]
    if want:
        return choices
    texts = node.args[0].type not in ("int", "float")
    return ["".join(map(str, choices)) + "x"] if texts else [max(map(float, choices)) + 1]  # type: ignore[arg-type]
