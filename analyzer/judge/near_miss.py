"""Near misses: the fewest conditions that would have to be otherwise for a rule to match, and their sentences.

`only`, `when` and the outcomes are walked together: `and` needs all its children, `or` the
cheapest, `not` the opposite. A way is reported when the rule would match with these conditions otherwise and all
others as they are. Others that look at the same value are named; where no value meets them all, nothing is reported.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

from analyzer.case.verdicts import Explained, NearLeaf, NearMiss, Verdict
from analyzer.facts.database import version_key
from analyzer.judge.closures import COMPARE
from analyzer.judge.trace import Cause, TraceContext, explain_table, format_value
from analyzer.rules import SeenDef
from analyzer.rules.language.expression import OPPOSITE, ExprNode, bare_node

NEAR = 2  # things to be otherwise
PLANS = 12  # ways to mend one node that are followed
SIZE = 1000  # nodes of all conditions; a rule beyond is not searched for near misses
_NODES = 8192  # nodes whose names are remembered
_PLACES = 3  # places named of one expression
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_MIRRORED = str.maketrans("<>", "><")

Test = Callable[[Any], bool | None]  # of the one value that a leaf looks at


# -- the leaves of a rule's conditions


@lru_cache(maxsize=_NODES)
def name_node(node: ExprNode) -> str:
    """Return one name for all nodes of a rule that mean the same value, however they are written."""
    if node.op == "let":
        return name_node(node.args[0])
    if node.op == "column":
        return f"{node.name}.{node.column}"
    if node.op == "literal":
        return f"{node.type} {node.value!r}"
    parts = ", ".join(name_node(child) for child in node.args)
    return f"{node.op} {node.name} {node.column}({parts})"


def list_inputs(node: ExprNode) -> frozenset[str]:
    """Return what a node's value comes from: columns, rows, names seen in logs."""
    if node.op == "column":
        return frozenset((name_node(node),))
    found: set[str] = set()
    if node.op == "row":
        found.add(f"row {node.name}")
    elif node.op in ("seen", "seen_field"):
        found.add(f"seen {node.name}")
    return frozenset(found).union(*(list_inputs(child) for child in node.args))


def list_sides(node: ExprNode, *, want: bool) -> list[tuple[ExprNode, str, ExprNode]]:
    """Return each side of a comparison that is no plain value, with the sign that should hold and the other side."""
    found: list[tuple[ExprNode, str, ExprNode]] = []
    if node.op == "compare":
        left, right = node.args
        sign = node.name if want else OPPOSITE[node.name]
        if bare_node(left).op != "literal":
            found.append((left, sign, right))
        if bare_node(right).op != "literal":
            found.append((right, sign.translate(_MIRRORED), left))
    return found


def list_leaves(node: ExprNode) -> Iterator[ExprNode]:
    """Yield the conditions a condition is made of."""
    node = bare_node(node)
    if node.op in ("and", "or", "not"):
        for child in node.args:
            yield from list_leaves(child)
    elif node.op != "literal":
        yield node


def join_answers(op: str, values: Sequence[bool | None]) -> bool | None:
    """Return Kleene's `and` or `or`."""
    decisive = op == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def compare_values(node: ExprNode, sign: str, one: Any, two: Any) -> bool | None:
    """Return a comparison of two values, versions part by part, times as moments; unknown when one is."""
    if one is None or two is None:
        return None
    types = {child.type for child in node.args[:2]}
    if "version" in types:
        one = version_key(str(one))
        two = version_key(str(two))
        if one is None or two is None:
            return None
    elif "time" in types:
        one = read_moment(one)
        two = read_moment(two)
    return bool(COMPARE[sign](one, two))


def read_moment(value: Any) -> datetime:
    """Return a time of the database, or one written in a rule, as a moment in UTC."""
    if isinstance(value, datetime):
        return value
    return datetime.fromisoformat(str(value).rstrip("Z"))


@dataclass(frozen=True, slots=True)
class Need:
    """A leaf that would have to be `want`: a comparison, a membership, a name seen in logs, any(), a column …

    part     only, when or outcome
    cause    why its value is unknown, when it is
    row_far  as `far`, of the row that decides, inside a fold
    """

    node: ExprNode
    want: bool
    part: str
    far: float | None = None
    cause: Cause | None = None
    row_far: float | None = None

    @property
    def has_value(self) -> bool:
        """Say whether the leaf has a value, the wrong one."""
        return self.cause is None

    @property
    def thing(self) -> str:
        """What would have to be otherwise: the leaf, or the source whose absence leaves it unknown."""
        if self.cause is None:
            return f"{name_node(self.node)} {self.want}"
        return f"? {self.cause.missing if self.cause.table is None else self.cause.table.name}"


Plan = tuple[Need, ...]


# -- the nearest way


def explain_verdict(
    why: TraceContext, verdict: str, subject: str, thing: str, reason: str, taken: int | None
) -> Explained:
    """Return one verdict with its whole tree, the leaves that answered no, and the near miss."""
    tree = why.write_tree(verdict, subject, taken)
    try:
        miss = find_near_miss(why, verdict)
    except (ArithmeticError, RecursionError, ValueError):
        miss = None  # numbers beyond what Python's dates and floats can be
    marks = why.list_marks(tree)
    name = why.detail.name
    return Explained(why.rule.id, name, subject, thing, verdict, reason, tree, miss, marks)


def find_near_miss(why: TraceContext, verdict: str) -> NearMiss | None:
    """Return how little was missing to a match, or None when it is one, or when more than two things were."""
    rule = why.rule
    if verdict not in (Verdict.NO_MATCH, Verdict.NOT_APPLICABLE, Verdict.CANNOT_TELL):
        return None
    search = NearMissSearch(why)
    conditions = [*(node for node, _ in search.asked), *search.outcomes]
    if sum(node.size for node in conditions) > SIZE:
        return None
    search.leaves = {name_node(leaf): leaf for node in conditions for leaf in list_leaves(node)}
    search.unseen_row = why.detail.find_row(rule.each.name) is None
    return search.find_nearest(verdict)


class NearMissSearch:
    """Looks for the nearest way to a match of one subject."""

    def __init__(self, why: TraceContext) -> None:
        rule = why.rule
        self.why = why
        self.asked: list[tuple[ExprNode, str]] = []
        if rule.only is not None:
            self.asked.append((rule.only, "only"))
        self.asked.append((rule.when, "when"))
        self.outcomes = [outcome.when for outcome in rule.outcomes]
        self.unseen_row = False
        self.leaves: dict[str, ExprNode] = {}

    def find_nearest(self, verdict: str) -> NearMiss | None:
        """Return the nearest plan that holds when it is tried."""
        parts = [self.mend_node(node, part, want=True) for node, part in self.asked]
        outcomes: list[Plan] = []
        for node in self.outcomes:
            outcomes += self.mend_node(node, "outcome", want=True)
        parts.append(self._rank(outcomes))
        doubtful = verdict == Verdict.CANNOT_TELL
        for plan in self._join_ways(parts, doubtful=doubtful):
            distance = self.measure_distance(plan)
            if distance > NEAR:
                return None
            then = {name_node(need.node): need.want for need in plan}
            if len(then) < len(plan) or not self._matches(then):
                continue
            keeps = [leaf for leaf in self._list_kept(plan, then) if self._may_turn(plan, leaf)]
            if self._is_possible(plan, keeps):
                writer = NearMissWriter(self.why, unseen_row=self.unseen_row)
                return writer.write_plan(plan, distance, keeps)
        return None

    def measure_distance(self, plan: Plan) -> int:
        """Return how many things a plan changes; an unseen row is one, and it brings its values along."""
        things = {need.thing for need in plan}
        if self.unseen_row:
            things.add(f"? {self.why.rule.each.table.name}")
        return len(things)

    # -- plans

    def mend_node(self, node: ExprNode, part: str, *, want: bool) -> list[Plan]:
        """Return the ways to give a node the value wanted, the nearest first."""
        node = bare_node(node)
        value = self.why.read_value(node)
        if value is want:
            return [()]
        if node.op == "literal":
            return []
        if node.op == "not":
            return self.mend_node(node.args[0], part, want=not want)
        if node.op in ("and", "or"):
            ways = [self.mend_node(child, part, want=want) for child in node.args]
            if (node.op == "and") is want:
                return self._join_ways(ways)
            return self._rank(plan for way in ways for plan in way)
        if value is None:
            return [(Need(node, want, part, cause=self.why.find_cause(node)),)]
        far = measure_far(self.why, node, want=want)
        row_far = measure_row_far(self.why, node, want=want)
        return [(Need(node, want, part, far, row_far=row_far),)]

    def _join_ways(self, ways: Sequence[Sequence[Plan]], *, doubtful: bool = False) -> list[Plan]:
        """Return the ways that go all of the given ones; none when one of them has no way."""
        found: list[Plan] = [()]
        for way in ways:
            joined: list[Plan] = []
            for one, two in product(found, way):
                needs = {(name_node(need.node), need.want): need for need in (*one, *two)}
                joined.append(tuple(needs.values()))
            found = self._rank(joined, doubtful=doubtful)
        return found

    def _rank(self, plans: Iterable[Plan], *, doubtful: bool = False) -> list[Plan]:
        """Return plans by distance, of equal ones what is unknown first where that is the verdict, then the closest."""

        def weigh(plan: Plan) -> tuple[int, bool, float, float, int]:
            known = doubtful and all(need.has_value for need in plan)
            far = row_far = 0.0
            for need in plan:
                far += 1.0 if need.far is None else min(1.0, need.far)
                row_far += 1.0 if need.row_far is None else min(1.0, need.row_far)
            return self.measure_distance(plan), known, far, row_far, len(plan)

        return sorted(dict.fromkeys(plans), key=weigh)[:PLANS]

    # -- holding a plan against the rule

    def _matches(self, then: Mapping[str, bool]) -> bool:
        """Say whether the rule matches with some leaves otherwise and all others as they are."""
        if any(self._answer(node, then) is not True for node, _ in self.asked):
            return False
        return any(self._answer(node, then) is True for node in self.outcomes)

    def _answer(self, node: ExprNode, then: Mapping[str, bool]) -> bool | None:
        """Return the value of a condition with some leaves otherwise."""
        node = bare_node(node)
        if node.op == "not":
            value = self._answer(node.args[0], then)
            return None if value is None else not value
        if node.op in ("and", "or"):
            return join_answers(node.op, [self._answer(child, then) for child in node.args])
        value = then.get(name_node(node), self.why.read_value(node))
        return value if isinstance(value, bool) else None

    def _list_kept(self, plan: Plan, then: Mapping[str, bool]) -> Iterator[ExprNode]:
        """Yield the leaves that look at the values of a plan and without which the rule would not match."""
        changed: set[str] = set()
        for need in plan:
            if need.has_value:
                changed |= list_inputs(need.node)
        for name, leaf in self.leaves.items():
            value = self.why.read_value(leaf)
            if name in then or value is None or changed.isdisjoint(list_inputs(leaf)):
                continue
            if not self._matches({**then, name: not value}):
                yield leaf

    def _may_turn(self, plan: Plan, leaf: ExprNode) -> bool:
        """Say whether a leaf may turn while the plan holds: with values of their own it may."""
        other = make_test(leaf)
        if other is None:
            return True
        value_of, leaf_test = other
        kept = self.why.read_value(leaf)
        for need in plan:
            own = make_test(need.node)
            if own is None or own[0] != value_of:
                continue
            fitting = [
                value for value in list_tries([need.node, leaf]) if own[1](value) is need.want
            ]
            if all(leaf_test(value) is kept for value in fitting):
                return False
        return True

    def _is_possible(self, plan: Plan, keeps: Sequence[ExprNode]) -> bool:
        """Say whether a value can meet all that is asked of it, where all of it is compared with plain values."""
        wanted = [(need.node, need.want) for need in plan]
        wanted += [(leaf, bool(self.why.read_value(leaf))) for leaf in keeps]
        pinned: set[str] = set()  # inputs of leaves that leave one value
        tried: set[str] = set()  # values that are tried below, with all that is asked of them
        for node, want in wanted:
            if pins_value(node, want=want):
                pinned |= list_inputs(node)
                found = make_test(node)
                if found is not None:
                    tried.add(found[0])
        for need in plan:
            found = make_test(need.node)
            untried = found is None or found[0] not in tried
            if need.has_value and untried and list_inputs(need.node) <= pinned:
                return False
        tests: dict[str, list[tuple[Test, bool]]] = {}
        nodes: dict[str, list[ExprNode]] = {}
        for node, want in wanted:
            found = make_test(node)
            if found is not None:
                name, test = found
                tests.setdefault(name, []).append((test, want))
                nodes.setdefault(name, []).append(node)
        for name, asked in tests.items():
            tries = list_tries(nodes[name])
            if not any(all(test(value) is want for test, want in asked) for value in tries):
                return False
        return True


def pins_value(node: ExprNode, *, want: bool) -> bool:
    """Say whether a leaf leaves one value only for its column."""
    if node.op != "compare" or node.name != ("==" if want else "!="):
        return False
    columns = [side for side in node.args if bare_node(side).op == "column"]
    return len(columns) == 1 and len(list_sides(node, want=want)) == 1


def make_test(node: ExprNode) -> tuple[str, Test] | None:
    """Return the name of the one value that a leaf compares with plain values, and the test of that value."""
    node = bare_node(node)
    if node.op == "in":
        side, *choices = node.args

        def is_member(value: Any) -> bool | None:
            answers = [compare_values(node, "==", value, choice.value) for choice in choices]
            return join_answers("or", answers)

        return name_node(side), is_member
    sides = list_sides(node, want=True)
    if len(sides) == 1:
        side, sign, other = sides[0]
        return name_node(side), lambda value: compare_values(
            node, sign, value, bare_node(other).value
        )
    return (name_node(node), lambda value: value) if node.op == "column" else None


def list_tries(nodes: Iterable[ExprNode]) -> list[Any]:
    """Return values on, between and beyond those that some leaves compare one value with."""
    kind = ""
    plain: list[Any] = []
    for node in nodes:
        for side in map(bare_node, node.args or (node,)):
            if side.op == "literal":
                plain.append(side.value)
            else:
                kind = kind or side.type
    if kind == "bool":
        return [True, False]
    if kind == "time":
        moments = map(read_moment, plain)
        return [moment + timedelta(seconds=way) for moment in moments for way in (-1, 0, 1)]
    if kind not in ("int", "float"):
        return [*plain, *(f"{value}.1" for value in plain), "0", ""]
    numbers = sorted(float(str(value)) for value in plain)
    if kind == "int":
        return [math.floor(number) + way for number in numbers for way in (-1, 0, 1, 2)]
    found = [*numbers, *((one + two) / 2 for one, two in pairwise(numbers))]
    if numbers:
        least = numbers[0]
        greatest = numbers[-1]
        found += [least - 1 - abs(least), greatest + 1 + abs(greatest)]
    return found


# -- how far off


def measure_far(why: TraceContext, node: ExprNode, *, want: bool) -> float | None:
    """Return how far a leaf is off as a share of its threshold, None where there is none."""
    if node.op == "seen" and want:
        seen = why.rule.seen[node.name]
        if seen.silence or seen.in_order or node.name not in why.answers:
            return None
        return max(0.0, (seen.at_least - why.answers[node.name].best) / seen.at_least)
    if node.op == "any" and want:
        for side, _, other in list_sides(bare_node(node.args[0]), want=True):
            row = why.detail.find_deciding(node).get(side.column)
            if side.op == "column" and row is not None and other.op == "literal":
                value = why.facts.value(why.find_table(node), row, side.column)
                return divide_gap(value, other.value)
        return None
    for side, _, other in list_sides(node, want=want):
        return divide_gap(why.read_value(side), why.read_value(other))
    return None


def measure_row_far(why: TraceContext, node: ExprNode, *, want: bool) -> float | None:
    """Return how far the row that decides a fold is off inside it, as a share of the threshold of its rows.

    `share(cpu.rdy >= 5) >= 0.3` may be 0 while a sample comes to 4.9: of two such folds this finds the closer.
    """
    folds = [node]
    if node.op == "compare":
        folds = [bare_node(side) for side, _, _ in list_sides(node, want=want)]
    for fold in folds:
        if fold.op not in ("share", "count", "any", "all") or not fold.args:
            continue
        for side, _, other in list_sides(bare_node(fold.args[0]), want=True):
            for row in why.detail.find_deciding(fold).values():
                if row is not None:
                    value = read_in_row(why, side, fold.name, row)
                    return divide_gap(value, read_in_row(why, other, fold.name, row))
    return None


def read_in_row(why: TraceContext, node: ExprNode, alias: str, row: int) -> Any:
    """Return the value of an expression in one row of an alias with many rows, None when it is not known."""
    node = bare_node(node)
    if node.op == "literal":
        return node.value
    if node.op == "column" and node.name == alias:
        return why.facts.value(why.find_table(node), row, node.column)
    if node.op not in _ARITHMETIC:
        return why.read_value(node)
    parts = [read_in_row(why, part, alias, row) for part in node.args]
    if len(parts) != 2 or not all(isinstance(part, int | float) for part in parts):
        return None
    if node.op == "/" and not parts[1]:
        return None
    return _ARITHMETIC[node.op](*parts)


def divide_gap(value: Any, threshold: Any) -> float | None:
    """Return the difference of two numbers as a share of the second, None where one is no number."""
    for number in (value, threshold):
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
    return abs(value - threshold) / abs(threshold) if threshold else None


# -- in words


class NearMissWriter:
    """Puts a near miss of one subject into words: what each condition would have to be, what it is, and where."""

    def __init__(self, why: TraceContext, *, unseen_row: bool) -> None:
        self.why = why
        self.unseen_row = unseen_row

    def write_plan(self, plan: Plan, distance: int, keeps: Sequence[ExprNode]) -> NearMiss:
        """Return a plan as a record with its sentence."""
        leaves = [self.write_leaf(need) for need in plan]
        known = []
        for need, leaf in zip(plan, leaves, strict=True):
            if leaf.known:
                known.append(self.write_sentence(need, leaf))
        unknown = self.list_unknown(leaves)
        gated = any(need.has_value and need.part == "only" for need in plan)
        gate = "not applicable: " if gated else ""
        away = "two conditions away: " if distance > 1 and not unknown else ""
        sure = "would match if " if known and not unknown else "could match if "
        rest = ""
        if keeps:
            stays = " and ".join(f"`{node.text}`" for node in keeps)
            verb = "stays as it is" if len(keeps) == 1 else "stay as they are"
            rest = f" (as long as {stays} {verb})"
        text = gate + away + sure + "; and if ".join([*known, *unknown]) + rest
        return NearMiss(None if unknown else distance, leaves, text)

    def write_leaf(self, need: Need) -> NearLeaf:
        """Return one condition with what it is now."""
        node = need.node
        wanted, value = self.describe_value(need)
        text = negate_condition(node) if not need.want else node.text
        leaf = NearLeaf(text, need.part, wanted, value, far=need.far)
        if need.cause is not None:
            leaf.known = False
            leaf.note = need.cause.why
            leaf.ask = need.cause.find_ask(self.why.rule)
        elif node.op == "seen":
            leaf.note, leaf.at = self.describe_lines(node)
        else:
            about = node.args[0] if node.op in ("in", "known") else node
            for side, _, _ in list_sides(node, want=need.want)[:1]:
                about = side
            leaf.note, leaf.at = self.describe_origin(bare_node(about))
        return leaf

    def describe_value(self, need: Need) -> tuple[str, str]:
        """Return what the value in question would have to be, and what it is."""
        node = need.node
        want = need.want
        for side, sign, other in list_sides(node, want=want):
            bar = other.text if other.op == "literal" else self.read_text(other)
            return f"{sign} {bar}", self.read_text(side)
        if node.op == "in":
            choices = ", ".join(choice.text for choice in node.args[1:])
            return f"{'' if want else 'not '}in [{choices}]", self.read_text(node.args[0])
        if node.op == "known":
            return ("known", "unknown") if want else ("unknown", "known")
        if node.op != "seen":
            return format_value(want), self.read_text(node)
        seen = self.why.rule.seen[node.name]
        answer = self.why.find_answer(node)
        wanted = "seen" if want else "not seen"
        if answer.value is None:
            return wanted, format_value(None)
        whole = seen.silence or seen.in_order or answer.value
        return wanted, f"{answer.count or 0}" if whole else f"{answer.best}"

    def read_text(self, node: ExprNode) -> str:
        """Return the value of a node as it is printed."""
        return format_value(self.why.read_value(node))

    def describe_lines(self, node: ExprNode) -> tuple[str, str]:
        """Return what the logs hold of a question that was not answered as wanted, and the place of the last line."""
        answers = self.why.answers
        seen = self.why.rule.seen[node.name]
        answer = self.why.find_answer(node)
        at = ""
        if answer.hits:
            last = answer.hits[-1].hit
            at = f"{last.address}:{last.line}"
        if answer.value:
            return "", at
        if seen.in_order:
            counts = [f"{name} {answers[name].count or 0}" for name in seen.logs if name in answers]
            return f"lines: {', '.join(counts)}" if counts else "", at
        grouped = (seen.within or seen.per or seen.distinct) and not seen.silence
        return f"{answer.count} lines in all" if grouped and answer.count else "", at

    def describe_origin(self, node: ExprNode) -> tuple[str, str]:
        """Return how a value came about, and the places it was read from."""
        why = self.why
        if node.is_aggregate:
            return self.describe_rows(node)
        if node.op == "column":
            return "", why.locate_column(node)
        columns: dict[str, ExprNode] = {}
        for part in node.walk():
            if part.op == "column" and not part.many:
                columns[name_node(part)] = part
        places: dict[str, None] = {}
        for column in list(columns.values())[:_PLACES]:
            at = why.locate_column(column)
            if at:
                places[at] = None
        if not places:
            return why.write_sum(node), ""
        first, *others = places
        address = first.rpartition(":")[0] + ":"
        shown = [first, *(at.removeprefix(address) for at in others)]
        return why.write_sum(node), ", ".join(shown)

    def describe_rows(self, node: ExprNode) -> tuple[str, str]:
        """Return of how many rows a fold is made, and the row that decides."""
        why = self.why
        rows, known, true = why.detail.count_rows(node)
        if not rows:
            return "no row", ""
        note = f"{rows:,} rows"
        if node.op in ("any", "all", "share", "count"):
            note = f"{true:,} of {note}"
        if known < rows:
            note += f", {rows - known} of them unknown"
        table = why.find_table(node)
        for column, row in why.detail.find_deciding(node).items():
            if row is not None:
                value = format_value(why.facts.value(table, row, column))
                note += f", the row that decides has {node.name}.{column} {value}"
                return note, why.locate_cell(table, row, column)
        return note, ""

    def write_sentence(self, need: Need, leaf: NearLeaf) -> str:
        """Return "ring_full > 0; it is 0 (0 + 0; esx0.txt:17)"."""
        node = need.node
        at = leaf.at
        sides = list_sides(node, want=need.want)
        if node.op == "seen":
            seen = self.why.rule.seen[node.name]
            were = describe_seen(seen, leaf.value, want=need.want)
            text = f"`{node.name}` ({describe_question(seen)}) {were}"
            at = f"the last at {at}" if at else ""
        elif len(sides) == 2:
            values = [f"{side.text} is {self.read_text(side)}" for side, _, _ in sides]
            text = f"{leaf.text}; {', '.join(values)}"
        else:
            threshold = ""  # of a named number, whose name alone does not say how far it is
            for side in node.args if node.op == "compare" else ():
                if side.op == "let" and bare_node(side).op == "literal":
                    threshold = threshold or f" ({format_value(bare_node(side).value)})"
            text = f"{leaf.text}{threshold}; it is {leaf.value}"
        more = "; ".join(part for part in (leaf.note, at) if part)
        return f"{text} ({more})" if more else text

    def list_unknown(self, leaves: Sequence[NearLeaf]) -> list[str]:
        """Return what is not known, source by source, with what to ask for."""
        why = self.why
        groups: dict[tuple[str, str], list[str]] = {}
        for leaf in leaves:
            if not leaf.known:
                groups.setdefault((leaf.note, leaf.ask), []).append(leaf.text)
        if self.unseen_row and not groups:
            table = why.rule.each.table
            cause = explain_table(why.facts, why.detail.node or None, table)
            what = "row" if table.lines_of is None else "line"
            missing = f"there is a {what} of {table.spoken_name}"
            groups[cause.why, cause.find_ask(why.rule)] = [missing]
        found = []
        for (note, ask), texts in groups.items():
            text = f"{' and '.join(texts)}, which is not known: {note}"
            found.append(f"{text}; ask for: {ask}" if ask else text)
        return found


def negate_condition(node: ExprNode) -> str:
    """Return the opposite of a condition as a rule writes it."""
    if node.op == "compare":
        return f"{node.args[0].text} {OPPOSITE[node.name]} {node.args[1].text}"
    if node.op == "in":
        return f"{node.args[0].text} not in [{', '.join(choice.text for choice in node.args[1:])}]"
    return f"not {node.text}"


def describe_question(seen: SeenDef) -> str:
    """Return a question to the logs in words: "3 lines of api_error within 10m"."""
    log = seen.logs[0]
    span = format_span(seen.within)
    if seen.silence:
        if span:
            return f"no line of {log} for {span}"
        return f"no line of {log}"
    if seen.lasting:
        return f"{log} without {seen.logs[1]} for more than {span}"
    if seen.sequence:
        asked = ", then ".join(seen.logs)
    elif seen.distinct:
        asked = f"{seen.at_least} different {seen.distinct} in lines of {log}"
    else:
        asked = f"{seen.at_least} {'line' if seen.at_least == 1 else 'lines'} of {log}"
    if seen.per:
        asked += f" for one {seen.per}"
    return f"{asked} within {span}" if span else asked


def format_span(seconds: float) -> str:
    """Return a span in its largest whole unit: 10m."""
    if not seconds:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"


def describe_seen(seen: SeenDef, count: str, *, want: bool) -> str:
    """Return "were seen; 2 were", in the words of the question."""
    lines = "line was" if count == "1" else "lines were"
    if seen.silence:
        shown = "no line was seen" if count == "0" else f"{count} {lines} seen"
        return f"held; {shown}" if want else f"did not hold; {shown}"
    if not want:
        return f"were not seen; {count} {lines}"
    if seen.in_order:
        return "were seen; it was not"
    if count == "0":
        return "were seen; none was"
    return f"were seen; {count} {'was' if count == '1' else 'were'}"
