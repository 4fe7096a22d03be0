"""Which subjects of a rule are reported in full, which in short, and which are only counted.

With more subjects than `limits.findings_per_rule` the worst are told with evidence, trace and charts, the
worst of every node among them; the next are told without. The counts of every node stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.case.ranking import Weight
from analyzer.case.verdicts import Cut, NodeCut, Verdict
from analyzer.facts import Facts
from analyzer.judge.log_hits import LogAnswer
from analyzer.judge.ranking import gauge, gauge_of, worst
from analyzer.judge.subjects import Detail, Subject
from analyzer.judge.trace import TraceContext
from analyzer.rules import Outcome, Rule
from analyzer.runtime.limits import Limits

CHARTED = 50  # findings of one rule whose samples are drawn


@dataclass(slots=True)
class Chosen:
    """A subject that is reported: `full` with its evidence and trace, `charted` with its samples drawn."""

    subject: Subject
    verdict: Verdict
    taken: int | None
    full: bool = True
    charted: bool = True


Look = Callable[[int], Detail]  # number of a subject -> what is shown of it
AnswersOf = Callable[[Subject, Detail], Mapping[str, LogAnswer]]


def no_answers(_subject: Subject, _detail: Detail) -> Mapping[str, LogAnswer]:
    """Return what logs say of a subject where nobody asks them."""
    return {}


def cut_in_words(cut: Cut) -> str:
    """Return in one sentence how many subjects of a rule are reported, and how many are only counted."""
    where = f" on {len(cut.by_node):,} nodes" if len(cut.by_node) > 1 else ""
    raise_it = "For more, run it with --limit findings_per_rule=N."
    if cut.verdict != Verdict.MATCH:
        named = f"{cut.full:,} of them are named, at least one from each node"
        return f"{cut.rule}: {cut.subjects:,} objects{where} cannot be judged; {named}. {raise_it}"
    worst_of = ", at least one from each node," if where else ""
    parts = [
        f"The worst {cut.full:,}{worst_of} are shown with their evidence",
        f"{cut.short:,} in short" if cut.short else "",
        f"{left:,} are only counted" if (left := cut.subjects - cut.full - cut.short) else "",
    ]
    return f"{cut.rule}: {cut.subjects:,} objects{where} match. {', '.join(filter(None, parts))}. {raise_it}"


def graded(rule: Rule, answers: Sequence[bool | None]) -> str:
    """Return the severity of the first true grade; where none is known to be true, of the last."""
    grades = zip(rule.grades, answers, strict=True)
    return next(
        (grade.severity for grade, answer in grades if answer is True), rule.grades[-1].severity
    )


@dataclass(slots=True)
class Chooser:
    """Sorts the subjects of one rule in one case."""

    rule: Rule
    facts: Facts
    limits: Limits
    lean: bool
    answers_of: AnswersOf = no_answers  # what logs say of it
    cuts: list[Cut] = field(default_factory=list)

    def reported(self, alike: list[Chosen], look: Look) -> list[Chosen]:
        """Return the subjects of one verdict that are reported; the others are counted in `cuts`."""
        verdict, most, short = (
            alike[0].verdict,
            self.limits.findings_per_rule,
            self.limits.findings_in_short,
        )
        if verdict is not Verdict.MATCH:
            told = self._first(alike, most)
            if verdict is Verdict.CANNOT_TELL and len(told) < len(alike):
                self._count_cut(alike, {one.subject.number for one in told}, set())
            return told
        drawn = CHARTED if self.rule.chart and not self.lean else most
        if len(alike) <= min(most, drawn):
            return alike
        ranked = self._ranked(alike, look)
        weights = dict(ranked)
        nodes = {one.subject.number: one.subject.node for one in alike}
        groups = (
            nodes.__getitem__,
            lambda number: (weights[number].severity, weights[number].confidence),
        )
        order = list(weights)
        full = worst(order, most, groups)
        kept = worst(order, most + short, groups)
        charted = set([number for number in order if number in full][:drawn])
        for one in alike:
            one.full, one.charted = one.subject.number in full, one.subject.number in charted
        if len(full) < len(alike):
            self._count_cut(alike, full, kept - full)
        return [one for one in alike if one.subject.number in kept]

    @staticmethod
    def _first(alike: list[Chosen], most: int) -> list[Chosen]:
        """Return the first subjects with one verdict, and in any case the first of every node."""
        nodes = {one.subject.number: one.subject.node for one in alike}
        kept = worst(list(nodes), most, [nodes.__getitem__]) if len(alike) > most else nodes
        return [one for one in alike if one.subject.number in kept]

    def _ranked(self, matches: list[Chosen], look: Look) -> list[tuple[int, Weight]]:
        """Return the numbers of matching subjects with their weights, worst first."""
        weights: list[tuple[int, Weight]] = []
        for one in matches:
            detail = look(one.subject.number)
            why = TraceContext(self.rule, self.facts, detail, self.answers_of(one.subject, detail))
            assert one.taken is not None
            outcome = self.rule.outcomes[one.taken]
            weight = Weight.of(self.severity(outcome, why), outcome.confidence, self.magnitude(why))
            weights.append((one.subject.number, weight))
        return sorted(weights, key=lambda item: item[1])

    def severity(self, outcome: Outcome, why: TraceContext) -> str:
        """Return the severity of an outcome: its own, or by the grades of the rule."""
        return outcome.severity or graded(
            self.rule, [why.value(grade.when) for grade in self.rule.grades]
        )

    def magnitude(self, why: TraceContext) -> float | None:
        """Return how bad a subject is as a number of which the larger is the worse; None when nothing tells."""
        measure = gauge(self.rule)
        return None if measure is None else measure.magnitude(why.value(measure.node))

    def excess(self, outcome: Outcome, why: TraceContext) -> float | None:
        """Return how many times the figure of a subject is over the bar of its severity; None when nothing tells."""
        held = [
            grade.when
            for grade in self.rule.grades
            if grade.severity == self.severity(outcome, why)
        ]
        measure = gauge_of(self.rule, [*held, outcome.when, self.rule.when])
        return (
            None
            if measure is None
            else measure.excess(why.value(measure.node), why.value(measure.bar))
        )

    def _count_cut(
        self, alike: Sequence[Chosen], full: Container[int], short: Container[int]
    ) -> None:
        """Note that not all subjects of a verdict are told in full, with the counts of every node."""
        counts: dict[str, NodeCut] = {}
        for one in alike:
            node, number = one.subject.node, one.subject.number
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
        cut.say = cut_in_words(cut)
        self.cuts.append(cut)
