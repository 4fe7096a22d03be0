"""The judge: every rule over every subject of a case, or one rule over many cases at once.

How one rule judges one case stands in judging/onecase.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzer.errors import BacklineError, RuleFileError
from analyzer.facts import Cases, Facts
from analyzer.judging.onecase import OneCase, few, graded, kinds_of, verdict_of
from analyzer.judging.query import Query, Subject
from analyzer.judging.relations import relate
from analyzer.judging.stages import Part
from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError
from analyzer.rules import Catalog, Rule
from analyzer.verdicts import Finding, Judgement, Verdict

__all__ = ["graded", "judge", "judge_cases", "kinds_of", "verdict_of"]


def judge(catalog: Catalog, facts: Facts, limits: Limits | None = None, explain: str | None = None) -> Judgement:
    """Return the verdicts of all rules; `explain` names a rule whose every verdict is traced.

    A rule that raises becomes a finding `error`; all others are judged.
    """
    limits = limits or Limits()
    facts.seconds = limits.rule_seconds
    judges = []
    for rule in catalog.rules:
        one = OneCase(rule, facts, limits, explain == rule.id)
        try:
            one.run()
        except Exception as error:  # noqa: BLE001 - whatever a rule does, the others are judged
            one = OneCase(rule, facts, limits, explains=False, failed=True)
            one.findings, one.counts[Verdict.ERROR] = [_failed(rule, error)], 1
        judges.append(one)
    return _judgement(judges, [_broken(broken) for broken in catalog.broken])


def judge_cases(
    rule: Rule,
    cases: Cases,
    only: Iterable[str] | None = None,
    limits: Limits | None = None,
    *,
    lean: bool = False,
) -> dict[str, Judgement]:
    """Return what one rule says of each of many cases (`only` names some of them), in one query or two.

    Each is told as `judge` would tell it of that case alone; `lean` leaves out evidence, trace and charts.
    """
    limits = limits or Limits()
    cases.seconds = limits.rule_seconds
    names = list(cases.cases if only is None else only)
    judges = {name: OneCase(rule, cases.cases[name], limits, explains=False, lean=lean) for name in names}
    try:
        _judge_together(rule, {cases.numbers[name]: judges[name] for name in names}, cases)
    except Exception:  # noqa: BLE001 - a case that cannot be judged must not hurt the others
        return {name: judge(Catalog([rule]), cases.cases[name], limits) for name in names}
    return {name: _judgement([one]) for name, one in judges.items()}


def _judge_together(rule: Rule, judges: Mapping[int, OneCase], cases: Cases) -> None:
    """Judge a rule over many cases, given by their numbers."""
    parts = []
    for number, one in judges.items():
        asked = one.prepare()
        if asked is not None:
            parts.append(Part(one.facts, *asked, number))
    if not parts:
        return
    for table in sorted(set().union(*(one.changed for one in judges.values()))):
        cases.forget(table)
    query = Query.over(rule, parts, cases.ask)
    by_case: dict[int, list[Subject]] = {part.number: [] for part in parts}
    lean = any(one.lean for one in judges.values())
    subjects, details = query.whole(lean=lean) if few(rule, parts) else (query.subjects(), None)
    for subject in subjects:
        by_case[subject.case].append(subject)
    chosen = {number: judges[number].choose(own) for number, own in by_case.items()}
    if details is None:
        details = query.details([subject.number for some in chosen.values() for subject, _, _ in some], lean=lean)
    for number, some in chosen.items():
        judges[number].report(some, details)


def _judgement(judges: Iterable[OneCase], findings: Iterable[Finding] = ()) -> Judgement:
    """Return all verdicts as one, related to each other."""
    judges = list(judges)
    judgement = Judgement(findings=list(findings))
    for one in judges:
        judgement.findings += one.findings
        judgement.cannot_tell += one.unsure
        wanted = [Verdict.ERROR] if one.failed else list(Verdict)
        judgement.counts[one.rule.id] = {verdict.value: one.counts[verdict] for verdict in wanted}
        judgement.explained += one.explained
        judgement.notes += one.notes
    relate(judgement.findings, {one.rule.id: one.rule.explained_by for one in judges})
    for one in judges:
        for finding, name, chart in one.charts:
            key = f"{finding.id}/{name}"
            judgement.series[key] = chart
            finding.chart.append(key)
    return judgement


def _broken(error: RuleFileError) -> Finding:
    name = error.file if isinstance(error, BadRuleError) else error.where
    stem = name.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml") or "rule"
    return _error(stem, "The rule file cannot be used", str(error))


def _failed(rule: Rule, error: Exception) -> Finding:
    words = str(error) if isinstance(error, BacklineError) else f"{type(error).__name__}: {str(error)[:500]}"
    finding = _error(rule.id, rule.title, f"The rule failed: {words}")
    finding.kb, finding.issues, finding.status = list(rule.kb), list(rule.issues), rule.status
    return finding


def _error(rule: str, title: str, say: str) -> Finding:
    return Finding(
        id="",
        rule=rule,
        title=title,
        kb=[],
        issues=[],
        status="",
        node="",
        subject="",
        object=rule,
        verdict=Verdict.ERROR.value,
        severity="info",
        confidence="confirmed",
        say=say,
    )
