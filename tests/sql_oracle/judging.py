"""One rule over many cases as SQL: the judge as it was, kept as the oracle of the evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from analyzer.case.verdicts import Judgement, Verdict
from analyzer.facts import Facts
from analyzer.judge import JudgementBuilder
from analyzer.judge.rule_evaluation import OneCase
from analyzer.judge.subjects import Subject
from analyzer.rules import Catalog, Rule
from analyzer.runtime.limits import Limits
from tests.sql_oracle import answers
from tests.sql_oracle.cases import Cases
from tests.sql_oracle.query import Query
from tests.sql_oracle.stages import Part
from tests.sql_oracle.timed import ask


def part_of(one: OneCase, number: int) -> Part | None:
    """Return what a query over many cases must know of one, None when no subject needs a look."""
    unseen_nodes = one.prepare_nodes()
    if unseen_nodes is None:
        return None
    for own in one.rule.fact_tables().values():
        one.facts.lend(own)
    answers.put(one.rule, one.facts, one.logs.scopes, one.answers)
    return Part(one.facts, answers.by_node(one.answers), unseen_nodes, number)


def judges(
    rule: Rule, cases: Mapping[str, Facts], limits: Limits | None = None
) -> dict[str, OneCase]:
    """Return one rule judged over some cases, in one query."""
    together = Cases(cases)
    found = {
        name: OneCase(rule, facts, limits or Limits(), explains=False)
        for name, facts in cases.items()
    }
    try:
        made = {name: part_of(one, together.numbers[name]) for name, one in found.items()}
        parts = [part for part in made.values() if part is not None]
        if parts:
            _judge(
                rule,
                {part.number: found[name] for name, part in made.items() if part is not None},
                parts,
                together,
            )
    finally:
        together.close()
    return found


def _judge(rule: Rule, some: Mapping[int, OneCase], parts: list[Part], together: Cases) -> None:
    query = Query.over(rule, parts, partial(ask, together))
    if unmet := query.stages.unmet():
        for number, count in ask(together, query.stages.tables, unmet):
            some[number].counts[Verdict.NOT_APPLICABLE] += count
    subjects, details = query.whole()
    by_case: dict[int, list[Subject]] = {number: [] for number in some}
    for subject in subjects:
        by_case[subject.case].append(subject)
    for number, own in by_case.items():
        chosen = some[number].choose_subjects(own, details.__getitem__)
        some[number].report_chosen(chosen, details.__getitem__)


def judge_many(
    catalog: Catalog, cases: Mapping[str, Facts], limits: Limits | None = None
) -> dict[str, Judgement]:
    """Return the verdicts of all rules on each of many cases."""
    told = {name: JudgementBuilder(catalog) for name in cases}
    for rule in catalog.rules:
        for name, one in judges(rule, cases, limits).items():
            told[name].add_rule(one)
    return {name: one.build_judgement() for name, one in told.items()}
