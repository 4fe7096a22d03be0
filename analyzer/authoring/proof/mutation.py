"""Mutation: does any example notice when a number of the rule changes?

Each number is moved up and down, and the real judge judges all examples with it. Another answer
of some example (verdict, outcome, severity, notes said) holds the number in place; a move that
changes nothing is a survivor: the rule could be off by that much and no example would say so.

Numbers in conditions are moved all at once, as further conditions of one look at each subject; those that
decide which rows and which log lines count take a look each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analyzer.authoring.proof import advice
from analyzer.authoring.proof.mutants import Mutant, conditions, mutants
from analyzer.authoring.proof.prove import prepare
from analyzer.case.verdicts import Judgement, Verdict
from analyzer.facts import Facts
from analyzer.judge import grade_severity, judge_cases, verdict_of
from analyzer.judge.evaluator import Evaluator
from analyzer.judge.rule_evaluation import OneCase
from analyzer.judge.subjects import Subject
from analyzer.rules import Rule
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import FileSpan
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits

COLUMNS = 150  # further conditions of one look

# What a rule says of a case: for each subject verdict, outcome, severity, notes; and what no look was needed for.
Told = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Survivor:
    """A number that no example holds in place.

    place      of the number in the rule file; text: how it is written there; where: the part of the rule
    direction  up, down, or either: moved so, no example gives another answer
    value      what it was moved to; advice: an example that would notice
    """

    rule: str
    place: FileSpan
    text: str
    where: str
    direction: str
    value: str
    advice: str

    def __str__(self) -> str:
        moved = f"`{self.text}` may become {self.value} and no example notices"
        return f"{self.place.line}:{self.place.column}: {moved} ({self.where}): {self.advice}"


def survivors(rule: Rule) -> list[Survivor]:
    """Return the numbers of a rule that no example holds in place, in the order of the file.

    Examples marked `gap` prove nothing and are left out. Raises BacklineError when the rule
    cannot be judged at all.
    """
    moved = mutants(rule)
    if not moved:
        return []
    prepared = prepare(rule, [example for example in rule.examples if not example.gap])
    try:
        noticed = _noticed(rule, moved, prepared.facts)
    except BacklineError:
        raise
    except Exception as error:
        raise BacklineError(
            "the rule cannot be judged", where=rule.id, why=str(error)[:300]
        ) from error
    return list(_survivors(rule, moved, noticed))


def _survivors(rule: Rule, moved: Sequence[Mutant], noticed: Sequence[bool]) -> Iterator[Survivor]:
    done = {
        mutant.site.place
        for mutant, seen in zip(moved, noticed, strict=True)
        if seen and mutant.site.named
    }
    for mutant, seen in zip(moved, noticed, strict=True):
        site = mutant.site
        if seen or site.place in done:
            continue
        if site.named:
            done.add(site.place)
        direction = "either" if site.named else mutant.direction
        told = advice.for_mutant(mutant)
        yield Survivor(rule.id, site.place, site.text, site.where, direction, mutant.value, told)


def _noticed(rule: Rule, moved: Sequence[Mutant], cases: Mapping[str, Facts]) -> list[bool]:
    """Return for each moved number whether some case is judged otherwise."""
    before = _Base(rule, cases)
    told = before.answers()
    found = [False] * len(moved)
    elsewhere = [place for place, mutant in enumerate(moved) if _looks_elsewhere(mutant.rule, rule)]
    columns = {
        place: _changed(mutant.rule, rule)
        for place, mutant in enumerate(moved)
        if place not in elsewhere
    }
    for some in _stretches([(place, changed) for place, changed in columns.items() if changed]):
        for (place, _), answer in zip(
            some, before.otherwise([changed for _, changed in some]), strict=True
        ):
            found[place] = answer != told
    shown = [
        place for place in columns if not found[place]
    ]  # what decides nothing may still change what is said
    texts = _shown(rule, cases) if shown else []
    for place in shown:
        found[place] = _shown(moved[place].rule, cases) != texts
    for place in elsewhere:  # last, for they put other lines of logs into the cases
        found[place] = _Base(moved[place].rule, cases).answers() != told
    return found


def _changed(one: Rule, other: Rule) -> dict[int, ExprNode]:
    """Return the conditions of a rule, by number, that are not those of another."""
    pairs = zip(conditions(one), conditions(other), strict=True)
    return {number: node for number, (node, was) in enumerate(pairs) if node is not was}


def _looks_elsewhere(one: Rule, other: Rule) -> bool:
    """Tell whether two rules look at other rows or other log lines."""
    wheres = [
        [join.where for join in rule.joins]
        + [log.where for log in rule.logs.values()]
        + [rule.population.where if rule.population else None]
        for rule in (one, other)
    ]
    return one.seen != other.seen or any(a is not b for a, b in zip(*wheres, strict=True))


def _stretches(
    columns: Sequence[tuple[int, dict[int, ExprNode]]],
) -> Iterator[list[tuple[int, dict[int, ExprNode]]]]:
    some: list[tuple[int, dict[int, ExprNode]]] = []
    for one in columns:
        if some and sum(len(changed) for _, changed in (*some, one)) > COLUMNS:
            yield some
            some = []
        some.append(one)
    if some:
        yield some


class _Base:
    """A rule over all cases: its answers, and what they would be if some conditions were otherwise."""

    def __init__(self, rule: Rule, cases: Mapping[str, Facts]) -> None:
        self.rule = rule
        self.without: dict[str, Told] = {}  # cases in which no subject needs a look
        self.evaluators: dict[str, Evaluator] = {}
        for name, facts in cases.items():
            one = OneCase(rule, facts, Limits(), explains=False)
            unseen_nodes = one.prepare_nodes()
            if unseen_nodes is None:
                self.without[name] = tuple(sorted(one.counts.items()))
            else:
                self.evaluators[name] = one.make_evaluator(unseen_nodes)
        self._told: dict[str, Told] | None = None

    def answers(self) -> dict[str, Told]:
        """Return what the rule says of each case."""
        if self._told is None:
            self._told = next(iter(self.otherwise([{}])))
        return self._told

    def otherwise(self, changes: Sequence[Mapping[int, ExprNode]]) -> Iterator[dict[str, Told]]:
        """Yield what the rule would say of each case with some of its conditions (by number) otherwise."""
        more = [node for changed in changes for node in changed.values()]
        shown = conditions(self.rule)[2 + len(self.rule.outcomes) :]
        subjects = {name: one.list_subjects([*shown, *more]) for name, one in self.evaluators.items()}
        start = len(shown)
        for changed in changes:
            columns = dict(zip(changed, range(start, start + len(changed)), strict=True))
            told = {
                name: tuple(self._answer(one, columns) for one in some)
                for name, some in subjects.items()
            }
            yield told | self.without
            start += len(changed)

    def _answer(self, subject: Subject, columns: Mapping[int, int]) -> Told:
        """Return verdict, outcome, severity, notes and steps, with the answers of some columns in their place."""
        rule = self.rule
        shown = len(rule.grades) + len(rule.notes) + len(rule.fix)
        plain = [subject.only, subject.when, *subject.outcomes, *subject.added[:shown]]
        safe = [
            subject.safe_only,
            subject.safe_when,
            *subject.safe_outcomes,
            *subject.safe_added[:shown],
        ]
        for number, column in columns.items():
            plain[number], safe[number] = subject.added[column], subject.safe_added[column]
        end = 2 + len(rule.outcomes)
        only, when, *outcomes = plain[:end]
        safe_only, safe_when, *safe_outcomes = safe[:end]
        verdict, taken = verdict_of(
            replace(
                subject,
                only=only,
                when=when,
                outcomes=outcomes,
                safe_only=safe_only,
                safe_when=safe_when,
                safe_outcomes=safe_outcomes,
            )
        )
        if verdict is not Verdict.MATCH or taken is None:
            return (verdict,)
        grades, rest = plain[end : end + len(rule.grades)], plain[end + len(rule.grades) :]
        severity = rule.outcomes[taken].severity or grade_severity(rule, grades)
        notes, steps = rest[: len(rule.notes)], tuple(rest[len(rule.notes) :])
        return verdict, taken, severity, tuple(answer is True for answer in notes), steps


def _shown(rule: Rule, cases: Mapping[str, Facts]) -> list[Told]:
    """Return the texts of all findings: what a number that decides nothing can change."""
    return [_texts(judgement) for judgement in judge_cases(rule, cases).values()]


def _texts(judgement: Judgement) -> Told:
    return tuple(
        (
            finding.subject,
            finding.object,
            finding.say,
            *finding.also,
            *(item.label for item in finding.evidence),
            *map(str, finding.fix),
        )
        for finding in judgement.findings
    )
