"""Which subjects of a rule are reported in full, which in short, and which are only counted.

With more subjects than `limits.findings_per_rule` the worst are shown with evidence, trace and charts, the worst of
every node among them; the next are shown without. The counts of every node stay exact. How bad a subject is follows
from the value that the rule compares with its threshold, see `find_gauge`; the order itself is that of
`analyzer.case.ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.case.ranking import Weight
from analyzer.case.verdicts import Cut, NodeCut, Verdict
from analyzer.facts import Facts
from analyzer.judge.log_answers import LogAnswer
from analyzer.judge.subjects import Detail, Subject
from analyzer.judge.trace import TraceContext
from analyzer.rules import Outcome, Rule
from analyzer.rules.language.expression import ExprNode
from analyzer.runtime.limits import Limits

CHARTED = 50  # findings of one rule whose samples are drawn
MOST_EXCESS = 1e6  # what is more times over its bar, or has nothing left of what must be there
_NUMBERS = ("int", "float")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FIXED = ("literal", "let", "neg", "+", "-", "*", "/")

ShowDetail = Callable[[int], Detail]  # number of a subject -> what is shown of it
FindAnswers = Callable[[Subject, Detail], Mapping[str, LogAnswer]]


# -- how bad a subject is


@dataclass(frozen=True, slots=True)
class Gauge:
    """The value that says how bad a subject is, and what it is compared with.

    sign  1 when more is worse, -1 when less is
    """

    node: ExprNode
    sign: int
    bar: ExprNode

    def measure_magnitude(self, value: Any) -> float | None:
        """Return a value as a number of which the larger is the worse, None when it is not known."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(self.sign * value) if math.isfinite(value) else None

    def measure_excess(self, value: Any, bar: Any) -> float | None:
        """Return how many times a value is over its bar, or the bar over the value where less is worse.

        None when one of them is not known, or the bar is no measure, as 0 is none.
        """
        if self.measure_magnitude(value) is None or self.measure_magnitude(bar) is None or bar <= 0:
            return None
        over, under = (value, bar) if self.sign > 0 else (bar, value)
        if under <= 0:
            return MOST_EXCESS
        times: float = over / under
        return min(max(times, 0.0), MOST_EXCESS)


def find_gauge(rule: Rule) -> Gauge | None:
    """Return what measures the subjects of a rule: the first number compared by size with something fixed.

    Looked for in the grades, then in the outcomes, then in `when`: what grades the severity says best how bad
    a subject is. How many samples there are says how sure it is, and is passed over. None when a rule compares no
    number by size.
    """
    conditions = [
        *(grade.when for grade in rule.grades),
        *(outcome.when for outcome in rule.outcomes),
        rule.when,
    ]
    for condition in conditions:
        for gauge in list_gauges(condition, holds=True):
            if not counts_samples(gauge.node, rule):
                return gauge
    return None


def find_gauge_among(rule: Rule, conditions: Iterable[ExprNode]) -> Gauge | None:
    """Return the gauge of a rule with the bar that holds for one subject: that of the first condition that has one.

    conditions  those that decide on the subject, the most telling first
    """
    usual = find_gauge(rule)
    if usual is None:
        return None
    for condition in conditions:
        for gauge in list_gauges(condition, holds=True):
            if gauge.node.text == usual.node.text and gauge.sign == usual.sign:
                return gauge
    return usual


def counts_samples(node: ExprNode, rule: Rule) -> bool:
    """Say whether a value is the number of samples of an object, without any condition on them."""
    while node.op == "let":
        node = node.args[0]
    if node.op != "count":
        return False
    for part in node.walk():
        if part.op not in ("count", "column", "row"):
            return False
        if part.op != "count" and rule.aliases[part.name].table.column("sample") is None:
            return False
    return True


def list_gauges(node: ExprNode, *, holds: bool) -> Iterator[Gauge]:
    """Yield the values that a condition compares by size, outside of folds over rows."""
    if node.op in ("let", "and", "or"):
        for child in node.args:
            yield from list_gauges(child, holds=holds)
    elif node.op == "not":
        yield from list_gauges(node.args[0], holds=not holds)
    elif node.op == "compare" and node.name in _FLIPPED:
        left, right = node.args
        for side, other, sign in ((left, right, node.name), (right, left, _FLIPPED[node.name])):
            number = side.type in _NUMBERS and not side.many
            if number and not is_fixed(side) and is_fixed(other):
                yield Gauge(side, 1 if (sign[0] == ">") is holds else -1, other)


def is_fixed(node: ExprNode) -> bool:
    """Say whether a value is the same for every subject."""
    return all(part.op in _FIXED for part in node.walk())


def pick_worst(
    ranked: Sequence[int], most: int, groups: Iterable[Callable[[int], Hashable]]
) -> set[int]:
    """Return the first `most` of what is ranked, and in any case the first of every group.

    ranked  worst first
    groups  each gives the group of an entry, such as its node; with more groups than `most` there are more entries
    """
    kept: set[int] = set()
    for find_group in groups:
        met = set()
        for number in ranked:
            group = find_group(number)
            if group not in met:
                met.add(group)
                kept.add(number)
    for number in ranked:
        if len(kept) >= most:
            break
        kept.add(number)
    return kept


def grade_severity(rule: Rule, answers: Iterable[bool | None]) -> str:
    """Return the severity of the first true grade; where none is known to be true, of the last."""
    for grade, answer in zip(rule.grades, answers, strict=True):
        if answer is True:
            return grade.severity
    return rule.grades[-1].severity


# -- what is reported


@dataclass(slots=True)
class Chosen:
    """A subject that is reported: `full` with its evidence and trace, `charted` with its samples drawn."""

    subject: Subject
    verdict: Verdict
    taken: int | None
    full: bool = True
    charted: bool = True


def find_no_answers(_subject: Subject, _detail: Detail) -> Mapping[str, LogAnswer]:
    """Return what logs answer about a subject where no one asks them."""
    return {}


def describe_cut(cut: Cut) -> str:
    """Return in one sentence how many subjects of a rule are reported, and how many are only counted."""
    where = f" on {len(cut.by_node):,} nodes" if len(cut.by_node) > 1 else ""
    start = f"{cut.rule}: {cut.subjects:,} objects{where}"
    raise_it = "For more, run it with --limit findings_per_rule=N."
    if cut.verdict != Verdict.MATCH:
        named = f"{cut.full:,} of them are named, at least one from each node"
        return f"{start} cannot be judged; {named}. {raise_it}"
    worst_of = ", at least one from each node," if where else ""
    parts = [f"The worst {cut.full:,}{worst_of} are shown with their evidence"]
    if cut.short:
        parts.append(f"{cut.short:,} in short")
    left = cut.subjects - cut.full - cut.short
    if left:
        parts.append(f"{left:,} are only counted")
    return f"{start} match. {', '.join(parts)}. {raise_it}"


@dataclass(slots=True)
class Chooser:
    """Sorts the subjects of one rule in one case."""

    rule: Rule
    facts: Facts
    limits: Limits
    lean: bool
    find_answers: FindAnswers = find_no_answers  # of the logs
    cuts: list[Cut] = field(default_factory=list)
    _gauges: dict[tuple[int, str], Gauge | None] = field(
        default_factory=dict
    )  # by outcome, severity

    def choose_reported(self, alike: list[Chosen], show: ShowDetail) -> list[Chosen]:
        """Return the subjects of one verdict that are reported; the others are counted in `cuts`."""
        verdict = alike[0].verdict
        most = self.limits.findings_per_rule
        nodes = {one.subject.number: one.subject.node for one in alike}
        if verdict is not Verdict.MATCH:
            # The first, and in any case the first of every node.
            if len(alike) <= most:
                return alike
            named = pick_worst(list(nodes), most, [nodes.__getitem__])
            if verdict is Verdict.CANNOT_TELL and len(named) < len(alike):
                self._count_cut(alike, named, set())
            return [one for one in alike if one.subject.number in named]
        drawn = CHARTED if self.rule.chart and not self.lean else most
        if len(alike) <= min(most, drawn):
            return alike
        weights = self._weigh(alike, show)
        order = sorted(weights, key=weights.__getitem__)

        def find_class(number: int) -> Hashable:
            return weights[number].severity, weights[number].confidence

        groups = (nodes.__getitem__, find_class)
        full = pick_worst(order, most, groups)
        kept = pick_worst(order, most + self.limits.findings_in_short, groups)
        charted = set([number for number in order if number in full][:drawn])
        for one in alike:
            one.full = one.subject.number in full
            one.charted = one.subject.number in charted
        if len(full) < len(alike):
            self._count_cut(alike, full, kept - full)
        return [one for one in alike if one.subject.number in kept]

    def _weigh(self, matches: list[Chosen], show: ShowDetail) -> dict[int, Weight]:
        """Return the weights of matching subjects by their numbers."""
        weights: dict[int, Weight] = {}
        for one in matches:
            detail = show(one.subject.number)
            answers = self.find_answers(one.subject, detail)
            why = TraceContext(self.rule, self.facts, detail, answers)
            assert one.taken is not None
            outcome = self.rule.outcomes[one.taken]
            severity = self.find_severity(outcome, why)
            magnitude = self.measure_magnitude(why)
            weights[one.subject.number] = Weight.of(severity, outcome.confidence, magnitude)
        return weights

    def find_severity(self, outcome: Outcome, why: TraceContext) -> str:
        """Return the severity of an outcome: its own, or by the grades of the rule."""
        if outcome.severity:
            return outcome.severity
        return grade_severity(self.rule, (why.read_value(grade.when) for grade in self.rule.grades))

    def measure_magnitude(self, why: TraceContext) -> float | None:
        """Return how bad a subject is as a number of which the larger is the worse; None when nothing says so."""
        answer = 0, ""
        if answer not in self._gauges:
            self._gauges[answer] = find_gauge(self.rule)
        gauge = self._gauges[answer]
        if gauge is None:
            return None
        return gauge.measure_magnitude(why.read_value(gauge.node))

    def measure_excess(self, outcome: Outcome, severity: str, why: TraceContext) -> float | None:
        """Return how many times the figure of a subject is over the bar of its severity; None when nothing says so."""
        answer = id(outcome), severity
        if answer not in self._gauges:
            held = [grade.when for grade in self.rule.grades if grade.severity == severity]
            conditions = [*held, outcome.when, self.rule.when]
            self._gauges[answer] = find_gauge_among(self.rule, conditions)
        gauge = self._gauges[answer]
        if gauge is None:
            return None
        return gauge.measure_excess(why.read_value(gauge.node), why.read_value(gauge.bar))

    def _count_cut(
        self, alike: Sequence[Chosen], full: Container[int], short: Container[int]
    ) -> None:
        """Note that not all subjects of a verdict are shown in full, with the counts of every node."""
        counts: dict[str, NodeCut] = {}
        for one in alike:
            node = one.subject.node
            number = one.subject.number
            row = counts.setdefault(node, NodeCut(self.facts.name(node), 0, 0, 0))
            row.subjects += 1
            row.full += number in full
            row.short += number in short
        nodes = list(counts.values())
        cut = Cut(
            rule=self.rule.id,
            title=self.rule.title,
            verdict=alike[0].verdict.value,
            subjects=len(alike),
            full=sum(row.full for row in nodes),
            short=sum(row.short for row in nodes),
            say="",
            by_node=sorted(nodes, key=lambda row: row.node),
        )
        cut.say = describe_cut(cut)
        self.cuts.append(cut)
