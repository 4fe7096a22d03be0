"""The judge: every rule over every subject of a case, or of many cases at once.

How one rule judges one case stands in judging/onecase.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from analyzer.cases import Cases
from analyzer.errors import BacklineError, RuleFileError
from analyzer.facts import Facts
from analyzer.judging.answers import answer_tables
from analyzer.judging.choosing import graded, told_of
from analyzer.judging.evidence import Series
from analyzer.judging.kinds import kinds_of
from analyzer.judging.onecase import OneCase, few, verdict_of
from analyzer.judging.query import Query, Subject
from analyzer.judging.relations import relate
from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError
from analyzer.rules import Catalog, Rule
from analyzer.verdicts import Finding, Judgement, Verdict

__all__ = ["alone", "graded", "judge", "judge_cases", "judge_many", "kinds_of", "verdict_of"]

QUESTION = 2_000  # cases of one query
TOGETHER = 500  # small cases that share a database
ROWS = 200_000  # rows of the cases that share it
KEPT = 1_000  # lines of one rule's signatures that stay in the facts, for a rule that is judged once more
LARGE = 10_000  # rows of a case that is judged by itself


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
    told = _Told(catalog)
    for rule in catalog.rules:
        one = alone(rule, facts, limits, explains=explain == rule.id)
        told.take(one)
        _clear(rule, facts)
        if on_judged is not None:
            on_judged(rule, one.findings, len(one.unsure))
    return told.whole()


def _clear(rule: Rule, facts: Facts) -> None:
    """Take the lines of a rule's signatures out of the facts again where they are many: no other rule looks at them."""
    own = [*(hit.table.name for hit in rule.hits), *(table.name for table in answer_tables(rule))]
    if sum(facts.count(name) for name in own) > KEPT:
        for name in own:
            facts.drop(name)


def judge_cases(
    rule: Rule,
    cases: Cases,
    only: Iterable[str] | None = None,
    limits: Limits | None = None,
    *,
    lean: bool = False,
    explain: bool = False,
) -> dict[str, Judgement]:
    """Return what one rule says of each of many cases (`only` names some of them), in few queries.

    Each is told as `judge` would tell it of that case alone; `lean` leaves out evidence, trace and charts,
    `explain` traces every verdict.
    """
    limits = limits or Limits()
    names = list(cases.cases if only is None else only)
    catalog = Catalog([rule])
    found = {}
    for start in range(0, len(names), QUESTION):
        some = names[start : start + QUESTION]
        for name, one in _judges(rule, cases, some, limits, lean=lean, explains=explain).items():
            told = _Told(catalog)
            told.take(one)
            found[name] = told.whole()
    return found


def judge_many(catalog: Catalog, cases: Mapping[str, Facts], limits: Limits | None = None) -> dict[str, Judgement]:
    """Return the verdicts of all rules on each of many cases, each as `judge` gives it of that case alone.

    Small cases are judged side by side, so that planning a query is paid once for hundreds of them.
    """
    limits = limits or Limits()
    found: dict[str, Judgement] = {}
    for names in _stretches(cases):
        if len(names) == 1:
            found[names[0]] = judge(catalog, cases[names[0]], limits)
            cases[names[0]].close()
            continue
        told = {name: _Told(catalog) for name in names}
        together = Cases({name: cases[name] for name in names})
        try:
            for rule in catalog.rules:
                for name, one in _judges(rule, together, names, limits).items():
                    told[name].take(one)
        finally:
            together.close()
        found |= {name: one.whole() for name, one in told.items()}
    return {name: found[name] for name in cases}


def _stretches(cases: Mapping[str, Facts]) -> Iterator[list[str]]:
    """Yield the names of cases that are judged side by side: few enough rows in all; a large case is by itself."""
    some: list[str] = []
    rows = 0
    for name, facts in cases.items():
        own = sum(facts.count(table) for table in facts.tables)
        if own > LARGE:
            yield [name]
            continue
        if some and (len(some) == TOGETHER or rows + own > ROWS):
            yield some
            some, rows = [], 0
        some.append(name)
        rows += own
    if some:
        yield some


def _judges(
    rule: Rule, cases: Cases, names: Sequence[str], limits: Limits, *, lean: bool = False, explains: bool = False
) -> dict[str, OneCase]:
    """Return one rule judged over some cases, in one query or two."""
    cases.seconds = limits.rule_seconds
    parsed: dict[str, bool] = {}
    judges = {name: OneCase(rule, cases.cases[name], limits, explains, lean, parsed=parsed) for name in names}
    try:
        _judge_together(rule, {cases.numbers[name]: judges[name] for name in names}, cases)
    except Exception:  # noqa: BLE001 - a case that cannot be judged must not hurt the others
        return {name: _by_itself(rule, cases.cases[name], limits, explains=explains) for name in names}
    return judges


def _by_itself(rule: Rule, facts: Facts, limits: Limits, *, explains: bool = False) -> OneCase:
    facts.seconds = limits.rule_seconds
    try:
        return alone(rule, facts, limits, explains=explains)
    finally:
        facts.close()


def alone(rule: Rule, facts: Facts, limits: Limits, *, explains: bool = False) -> OneCase:
    """Return one rule judged over one case; when it raises, its only finding is the error."""
    one = OneCase(rule, facts, limits, explains)
    try:
        one.run()
    except Exception as error:  # noqa: BLE001 - whatever a rule does, the others are judged
        one = OneCase(rule, facts, limits, explains=False, failed=True)
        one.findings, one.counts[Verdict.ERROR] = [_failed(rule, error)], 1
    return one


def _judge_together(rule: Rule, judges: Mapping[int, OneCase], cases: Cases) -> None:
    """Judge a rule over many cases, given by their numbers."""
    parts = [part for number, one in judges.items() if (part := one.part(number)) is not None]
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
    look = partial(query.details, lean=True) if details is None else lambda _: details
    chosen = {number: judges[number].choose(own, look) for number, own in by_case.items()}
    told = told_of(query, [one for some in chosen.values() for one in some], details, lean=lean)
    for number, some in chosen.items():
        judges[number].report(some, told)


class _Told:
    """The verdicts of a catalog on one case, rule by rule, and in the end related to each other."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.judgement = Judgement(findings=[_broken(broken) for broken in catalog.broken])
        self.charts: list[tuple[Finding, str, Series]] = []

    def take(self, one: OneCase) -> None:
        """Take what a rule says."""
        judgement = self.judgement
        judgement.findings += one.findings
        judgement.cannot_tell += one.unsure
        wanted = [Verdict.ERROR] if one.failed else list(Verdict)
        judgement.counts[one.rule.id] = {verdict.value: one.counts[verdict] for verdict in wanted}
        judgement.explained += one.explained
        judgement.notes += one.notes
        judgement.cuts += one.chooser.cuts
        self.charts += one.charts

    def whole(self) -> Judgement:
        """Return all verdicts as one."""
        judgement = self.judgement
        relate(judgement.findings, {rule.id: rule.explained_by for rule in self.catalog.rules})
        for finding, name, chart in self.charts:
            key = f"{finding.id}/{name}"
            judgement.series[key] = chart
            finding.chart.append(key)
        return judgement


def unjudged(catalog: Catalog) -> Judgement:
    """Return a judgement in which every rule is an error: when judging itself failed, nothing may look quiet."""
    say = "The rule was not judged: an internal error ended the judging before it."
    return Judgement(
        findings=[_error(rule.id, rule.title, say) for rule in catalog.rules],
        counts={rule.id: {Verdict.ERROR.value: 1} for rule in catalog.rules},
    )


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
