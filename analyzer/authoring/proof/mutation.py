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
from analyzer.authoring.proof.mutants import Mutant, list_conditions, make_mutants
from analyzer.authoring.proof.prove import prepare_rule
from analyzer.case.verdicts import Verdict
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
Answer = tuple[Any, ...]


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
        place = f"{self.place.line}:{self.place.column}"
        return f"{place}: {moved} ({self.where}): {self.advice}"


def find_survivors(rule: Rule) -> list[Survivor]:
    """Return the numbers of a rule that no example holds in place, in the order of the file.

    Examples marked `gap` prove nothing and are left out. Raises BacklineError when the rule
    cannot be judged at all.
    """
    moved = make_mutants(rule)
    if not moved:
        return []
    prepared = prepare_rule(rule, [example for example in rule.examples if not example.gap])
    try:
        noticed = _list_noticed(rule, moved, prepared.facts)
    except BacklineError:
        raise
    except Exception as error:
        raise BacklineError(
            "the rule cannot be judged", where=rule.id, why=str(error)[:300]
        ) from error
    found = []
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
        if site.named:
            direction = "either"
        else:
            direction = mutant.direction
        example = advice.suggest_example(mutant)
        found.append(
            Survivor(rule.id, site.place, site.text, site.where, direction, mutant.value, example)
        )
    return found


def _list_noticed(rule: Rule, moved: Sequence[Mutant], cases: Mapping[str, Facts]) -> list[bool]:
    """Return for each moved number whether some case is judged otherwise."""
    before = _Base(rule, cases)
    answers = before.list_answers()
    found = [False] * len(moved)
    elsewhere = []
    columns: dict[int, dict[int, ExprNode]] = {}  # place -> the conditions that are not the rule's
    for place, mutant in enumerate(moved):
        wheres = zip(_list_wheres(mutant.rule), _list_wheres(rule), strict=True)
        if mutant.rule.seen != rule.seen or any(one is not two for one, two in wheres):
            elsewhere.append(place)
            continue
        pairs = zip(list_conditions(mutant.rule), list_conditions(rule), strict=True)
        columns[place] = {
            number: node for number, (node, was) in enumerate(pairs) if node is not was
        }
    stretches: list[list[int]] = [[]]  # places that one look answers
    width = 0
    for place, changed in columns.items():
        if not changed:
            continue
        if stretches[-1] and width + len(changed) > COLUMNS:
            stretches.append([])
            width = 0
        stretches[-1].append(place)
        width += len(changed)
    for stretch in stretches:
        otherwise = before.answer_otherwise([columns[place] for place in stretch])
        for place, answer in zip(stretch, otherwise, strict=True):
            found[place] = answer != answers
    # What decides nothing may still change a text.
    shown = [place for place in columns if not found[place]]
    texts = []
    if shown:
        texts = _show_texts(rule, cases)
    for place in shown:
        found[place] = _show_texts(moved[place].rule, cases) != texts
    for place in elsewhere:  # last, for they put other lines of logs into the cases
        found[place] = _Base(moved[place].rule, cases).list_answers() != answers
    return found


def _list_wheres(rule: Rule) -> list[ExprNode | None]:
    """Return the conditions that decide which rows and log lines a rule looks at."""
    wheres = [join.where for join in rule.joins]
    wheres += [log.where for log in rule.logs.values()]
    if rule.population:
        wheres.append(rule.population.where)
    else:
        wheres.append(None)
    return wheres


class _Base:
    """A rule over all cases: its answers, and what they would be if some conditions were otherwise."""

    def __init__(self, rule: Rule, cases: Mapping[str, Facts]) -> None:
        self.rule = rule
        self.without: dict[str, Answer] = {}  # cases in which no subject needs a look
        self.evaluators: dict[str, Evaluator] = {}
        for name, facts in cases.items():
            one = OneCase(rule, facts, Limits(), explains=False)
            unseen_nodes = one.prepare_nodes()
            if unseen_nodes is None:
                self.without[name] = tuple(sorted(one.counts.items()))
            else:
                self.evaluators[name] = one.make_evaluator(unseen_nodes)
        self._answers: dict[str, Answer] | None = None

    def list_answers(self) -> dict[str, Answer]:
        """Return what the rule says of each case."""
        if self._answers is None:
            self._answers = next(iter(self.answer_otherwise([{}])))
        return self._answers

    def answer_otherwise(
        self, changes: Sequence[Mapping[int, ExprNode]]
    ) -> Iterator[dict[str, Answer]]:
        """Yield what the rule would say of each case with some of its conditions (by number) otherwise."""
        more = [node for changed in changes for node in changed.values()]
        shown = list_conditions(self.rule)[2 + len(self.rule.outcomes) :]
        subjects = {
            name: one.list_subjects([*shown, *more]) for name, one in self.evaluators.items()
        }
        start = len(shown)
        for changed in changes:
            columns = dict(zip(changed, range(start, start + len(changed)), strict=True))
            answers = {}
            for name, some in subjects.items():
                answers[name] = tuple(self.answer_subject(one, columns) for one in some)
            yield answers | self.without
            start += len(changed)

    def answer_subject(self, subject: Subject, columns: Mapping[int, int]) -> Answer:
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
            plain[number] = subject.added[column]
            safe[number] = subject.safe_added[column]
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
        grades = plain[end : end + len(rule.grades)]
        rest = plain[end + len(rule.grades) :]
        severity = rule.outcomes[taken].severity or grade_severity(rule, grades)
        notes = rest[: len(rule.notes)]
        steps = tuple(rest[len(rule.notes) :])
        return verdict, taken, severity, tuple(answer is True for answer in notes), steps


def _show_texts(rule: Rule, cases: Mapping[str, Facts]) -> list[Answer]:
    """Return the texts of all findings: what a number that decides nothing can change."""
    found = []
    for judgement in judge_cases(rule, cases).values():
        texts = tuple(
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
        found.append(texts)
    return found
