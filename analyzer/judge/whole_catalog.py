"""Judges every rule over every subject of a case, or one rule over many cases.

How one rule judges one case stands in judge/rule_evaluation.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from analyzer.case.verdicts import Finding, Judgement, Verdict
from analyzer.facts import Facts
from analyzer.facts.other_names import other_names
from analyzer.judge.choosing import graded
from analyzer.judge.evidence import Series
from analyzer.judge.kinds import kinds_of
from analyzer.judge.relations import relate
from analyzer.judge.rule_evaluation import OneCase, verdict_of
from analyzer.rules import Catalog, Rule
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.runtime.errors import BacklineError, RuleFileError
from analyzer.runtime.limits import Limits

__all__ = ["alone", "graded", "judge", "judge_cases", "judge_many", "kinds_of", "verdict_of"]

_WORDS = {
    verdict: verdict.value for verdict in Verdict
}  # to ask an enumeration for each rule takes longer
KEPT = 1_000  # lines of one rule's signatures that stay in the facts, for a rule that is judged once more


# A rule was judged: what it found, which is only to be looked at, and how often it could not tell.
OnJudged = Callable[[Rule, Sequence[Finding], int], None]


def judge(
    catalog: Catalog,
    facts: Facts,
    limits: Limits | None = None,
    explain: str | None = None,
    on_judged: OnJudged | None = None,
) -> Judgement:
    """Return the verdicts of all rules; `explain` names a rule whose every verdict is traced.

    on_judged  called after each rule, before findings are related to each other and settings are looked at
    A rule that raises becomes a finding `error`; all others are judged.
    """
    limits = limits or Limits()
    facts.seconds = limits.rule_seconds
    whole = JudgementBuilder(catalog)
    for rule in catalog.rules:
        one = alone(rule, facts, limits, explains=explain == rule.id)
        whole.take(one)
        if one.failed or (one.asked_logs and needs_of(rule).reads_lines):
            _clear(rule, facts)
        if on_judged is not None:
            on_judged(rule, one.findings, len(one.unsure))
    return whole.judgement_of(other_names(facts))


def _clear(rule: Rule, facts: Facts) -> None:
    """Take the lines of a rule's signatures out of the facts again where they are many: no other rule looks at them."""
    own = [hit.table.name for hit in rule.hits]
    if sum(facts.count(name) for name in own) > KEPT:
        for name in own:
            facts.drop(name)


def judge_cases(
    rule: Rule,
    cases: Mapping[str, Facts],
    only: Iterable[str] | None = None,
    limits: Limits | None = None,
    *,
    lean: bool = False,
    explain: bool = False,
) -> dict[str, Judgement]:
    """Return what one rule says of each of many cases; `only` names some of them.

    Each is told as `judge` would tell it of that case; `lean` leaves out evidence, trace and charts,
    `explain` traces every verdict.
    """
    limits = limits or Limits()
    parsed: dict[str, bool] = {}
    found = {}
    for name in cases if only is None else only:
        facts = cases[name]
        facts.seconds = limits.rule_seconds
        whole = JudgementBuilder(Catalog([rule]))
        whole.take(alone(rule, facts, limits, explains=explain, lean=lean, parsed=parsed))
        facts.close()
        found[name] = whole.judgement_of()
    return found


def judge_many(
    catalog: Catalog, cases: Mapping[str, Facts], limits: Limits | None = None
) -> dict[str, Judgement]:
    """Return the verdicts of all rules on each of many cases."""
    found = {}
    for name, facts in cases.items():
        found[name] = judge(catalog, facts, limits)
        facts.close()
    return found


def alone(
    rule: Rule,
    facts: Facts,
    limits: Limits,
    *,
    explains: bool = False,
    lean: bool = False,
    parsed: dict[str, bool] | None = None,
) -> OneCase:
    """Return one rule judged over one case; when it raises, its only finding is the error.

    parsed  name of a signature -> whether its lines are parsed; shared by the cases of one rule
    """
    one = OneCase(rule, facts, limits, explains, lean, parsed={} if parsed is None else parsed)
    try:
        one.run()
    except Exception as error:  # noqa: BLE001 - whatever a rule does, the others are judged
        one = OneCase(rule, facts, limits, explains=False, failed=True)
        one.findings, one.counts[Verdict.ERROR] = [_failed(rule, error)], 1
    return one


class JudgementBuilder:
    """The verdicts of a catalog on one case, rule by rule, and in the end related to each other."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.judgement = Judgement(findings=[_broken(broken) for broken in catalog.broken])
        self.charts: list[tuple[Finding, str, Series]] = []
        self.rests_on: list[tuple[Finding, str]] = []

    def take(self, one: OneCase) -> None:
        """Take what a rule says."""
        judgement = self.judgement
        judgement.findings += one.findings
        judgement.cannot_tell += one.unsure
        counts = {word: one.counts.get(verdict, 0) for verdict, word in _WORDS.items()}
        judgement.counts[one.rule.id] = {_WORDS[Verdict.ERROR]: 1} if one.failed else counts
        judgement.explained += one.explained
        judgement.notes += one.notes
        judgement.cuts += one.chooser.cuts
        self.charts += one.charts
        self.rests_on += one.rests_on

    def judgement_of(self, names: Mapping[str, str] | None = None) -> Judgement:
        """Return all verdicts as one; `names` are those that mean one object."""
        judgement = self.judgement
        explained_by = {rule.id: rule.explained_by for rule in self.catalog.rules}
        relate(judgement.findings, explained_by, self.rests_on, names)
        for finding, name, chart in self.charts:
            key = f"{finding.id}/{name}"
            judgement.series[key] = chart
            finding.chart.append(key)
        return judgement


def unjudged(catalog: Catalog) -> Judgement:
    """Return a judgement in which every rule is an error: when judging itself failed, nothing may look quiet."""
    say = "The rule was not judged: an internal error stopped the run before this rule."
    return Judgement(
        findings=[_error(rule.id, rule.title, say) for rule in catalog.rules],
        counts={rule.id: {Verdict.ERROR.value: 1} for rule in catalog.rules},
    )


def _broken(error: RuleFileError) -> Finding:
    name = error.file if isinstance(error, BadRuleError) else error.where
    stem = name.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml") or "rule"
    return _error(stem, "The rule file cannot be used", str(error))


def _failed(rule: Rule, error: Exception) -> Finding:
    words = (
        str(error)
        if isinstance(error, BacklineError)
        else f"{type(error).__name__}: {str(error)[:500]}"
    )
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
