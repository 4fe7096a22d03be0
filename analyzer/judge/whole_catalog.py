"""Judges every rule over every subject of a case, or one rule over many cases, and relates the findings.

How one rule judges one case is in judge/rule_evaluation.py.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from analyzer.case.ranking import place_findings
from analyzer.case.verdicts import SEVERITIES, Finding, Judgement, Verdict
from analyzer.facts import Facts
from analyzer.facts.other_names import fold_name, map_other_names
from analyzer.judge.findings import Series
from analyzer.judge.rule_evaluation import OneCase
from analyzer.rules import Catalog, Rule
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.model import SAME_LINE
from analyzer.runtime.errors import BacklineError, RuleFileError
from analyzer.runtime.limits import Limits

# To ask an enumeration for each rule takes longer.
_VERDICTS = {verdict: verdict.value for verdict in Verdict}
KEPT = 1_000  # lines of one rule's signatures that stay in the facts, for a rule that is judged once more
_SLUG = re.compile(r"[^a-z0-9]+")

# Columns whose lines say what a machine runs: findings that rest on one of them may have nothing else in common.
RELEASE_COLUMNS = frozenset({"version", "build", "product_version"})
LONG_LINE = 1_000  # characters of a line that holds more than one thing
EvidencePlace = tuple[str, int, str]

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
        one = judge_rule(rule, facts, limits, explains=explain == rule.id)
        whole.add_rule(one)
        if one.failed or (one.asked_logs and needs_of(rule).reads_lines):
            # Many lines of a rule's signatures leave the facts again: no other rule looks at them.
            own = [hit.table.name for hit in rule.hits]
            if sum(facts.count(name) for name in own) > KEPT:
                for name in own:
                    facts.drop(name)
        if on_judged is not None:
            on_judged(rule, one.findings, len(one.unsure))
    return whole.build_judgement(map_other_names(facts))


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

    Each is judged as `judge` would judge that case; `lean` leaves out evidence, trace and charts,
    `explain` traces every verdict.
    """
    limits = limits or Limits()
    parsed: dict[str, bool] = {}
    found = {}
    for name in cases if only is None else only:
        facts = cases[name]
        facts.seconds = limits.rule_seconds
        whole = JudgementBuilder(Catalog([rule]))
        whole.add_rule(judge_rule(rule, facts, limits, explains=explain, lean=lean, parsed=parsed))
        facts.close()
        found[name] = whole.build_judgement()
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


def judge_rule(
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
        one.judge_all()
    except Exception as error:  # noqa: BLE001 - whatever a rule does, the others are judged
        words = str(error)
        if not isinstance(error, BacklineError):
            words = f"{type(error).__name__}: {words[:500]}"
        finding = make_error(rule.id, rule.title, f"The rule failed: {words}")
        finding.kb = list(rule.kb)
        finding.issues = list(rule.issues)
        finding.status = rule.status
        one = OneCase(rule, facts, limits, explains=False, failed=True)
        one.findings, one.counts[Verdict.ERROR] = [finding], 1
    return one


class JudgementBuilder:
    """The verdicts of a catalog on one case, rule by rule, and in the end related to each other."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        findings = [report_broken(error) for error in catalog.broken]
        self.judgement = Judgement(findings=findings)
        self.charts: list[tuple[Finding, str, Series]] = []
        self.rests_on: list[tuple[Finding, str]] = []

    def add_rule(self, one: OneCase) -> None:
        """Take what a rule says."""
        judgement = self.judgement
        judgement.findings += one.findings
        judgement.cannot_tell += one.unsure
        if one.failed:
            counts = {_VERDICTS[Verdict.ERROR]: 1}
        else:
            counts = {word: one.counts.get(verdict, 0) for verdict, word in _VERDICTS.items()}
        judgement.counts[one.rule.id] = counts
        judgement.explained += one.explained
        judgement.notes += one.notes
        judgement.cuts += one.chooser.cuts
        self.charts += one.charts
        self.rests_on += one.rests_on

    def build_judgement(self, names: Mapping[str, str] | None = None) -> Judgement:
        """Return all verdicts as one; `names` are those that mean one object."""
        judgement = self.judgement
        explained_by = {rule.id: rule.explained_by for rule in self.catalog.rules}
        relate_findings(judgement.findings, explained_by, self.rests_on, names)
        for finding, name, chart in self.charts:
            key = f"{finding.id}/{name}"
            judgement.series[key] = chart
            finding.chart.append(key)
        return judgement


def judge_nothing(catalog: Catalog) -> Judgement:
    """Return a judgement in which every rule is an error: when judging itself failed, nothing may look quiet."""
    say = "The rule was not judged: an internal error stopped the run before this rule."
    return Judgement(
        findings=[make_error(rule.id, rule.title, say) for rule in catalog.rules],
        counts={rule.id: {Verdict.ERROR.value: 1} for rule in catalog.rules},
    )


def report_broken(error: RuleFileError) -> Finding:
    """Return the finding on a rule file that cannot be used."""
    name = error.file if isinstance(error, BadRuleError) else error.where
    stem = name.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml") or "rule"
    return make_error(stem, "The rule file cannot be used", str(error))


def make_error(rule: str, title: str, say: str) -> Finding:
    """Return the finding on a rule that could not judge."""
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


# -- relations between findings


def relate_findings(
    findings: list[Finding],
    explained_by: Mapping[str, Sequence[str]],
    rests_on: Sequence[tuple[Finding, str]] = (),
    names: Mapping[str, str] | None = None,
) -> None:
    """Give ids, tie each sign to its cause, and sort as `analyzer.case.ranking` does.

    explained_by  rule -> rules whose finding on the same object explains it. `rule/row` is what a rule over known
                  problems says of a row of the catalog; a row of the rule itself is explained by what comes before it;
                  `*` stands for every finding that rests on one of the same lines
    rests_on      findings with a further object that each rests on: causes are looked for there as well
    names         name of an object -> the name it goes by, see `map_other_names`
    """
    rows = {id(finding): finding.id for finding in findings}
    give_ids(findings)
    FindingTies(findings, rests_on, names or {}, rows).tie_all(explained_by)
    findings[:] = place_findings(findings)


def make_slug(text: str) -> str:
    """Return a name as a part of an id: a-z, 0-9 and dashes."""
    return _SLUG.sub("-", text.lower()).strip("-")[:80].rstrip("-") or "case"


def give_ids(findings: list[Finding]) -> None:
    """Give each finding an id that is the same in every run: rule/object, with the node where two have one.

    Of a row of the catalog (its key is the id till now) it is rule/row/object.
    """
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        row = f"{make_slug(finding.id)}/" if finding.id else ""
        groups[f"{finding.rule}/{row}{make_slug(finding.object)}"].append(finding)
    for base, members in groups.items():
        nodes = {finding.node for finding in members}
        taken: Counter[str] = Counter()
        for finding in members:
            name = base if len(nodes) == 1 else f"{base}@{make_slug(finding.node)}"
            taken[name] += 1
            finding.id = name if taken[name] == 1 else f"{name}-{taken[name]}"


def list_places(finding: Finding) -> list[EvidencePlace]:
    """Return the lines that a finding rests on: address, number and what is shown of it, which of a sample is one value.

    Lines that name a release are left out, and those that hold far more than one thing (JSON without line ends).
    """
    found = []
    for item in finding.evidence:
        column = item.label.partition(" = ")[0].rpartition(".")[2]
        if item.line and column not in RELEASE_COLUMNS and len(item.text) <= LONG_LINE:
            found.append((item.address, item.line, item.text))
    return list(dict.fromkeys(found))


class FindingTies:
    """Finds the findings that explain others, by the objects they speak of and the lines they rest on.

    rows  id of a finding -> row of the catalog it comes from
    """

    def __init__(
        self,
        findings: Sequence[Finding],
        rests_on: Sequence[tuple[Finding, str]],
        names: Mapping[str, str],
        rows: Mapping[int, str],
    ) -> None:
        self.names = names
        self.matches = [finding for finding in findings if finding.verdict == Verdict.MATCH]
        self.by_id = {finding.id: finding for finding in self.matches}
        self.rows: dict[int, str] = {}  # the same as `rule/row`
        self.further: defaultdict[int, list[str]] = defaultdict(list)
        for finding, thing in rests_on:
            self.further[id(finding)].append(thing)
        self.causes: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
        self.beside: defaultdict[EvidencePlace, list[Finding]] = defaultdict(list)
        for finding in self.matches:
            row = rows.get(id(finding), "")
            if row:
                self.rows[id(finding)] = f"{finding.rule}/{row}"
            # A version alone explains nothing, nor does a mere hint.
            vague = finding.severity == "info" and finding.confidence == "possible"
            if finding.confidence == "exposed" or vague:
                continue
            for place in list_places(finding):
                self.beside[place].append(finding)
            thing = self.find_name(finding.object)
            self.causes[finding.rule, thing].append(finding)
            if row:
                self.causes[self.rows[id(finding)], thing].append(finding)

    def find_name(self, thing: str) -> str:
        """Return the name that an object goes by; a Manager has the domain of a host that its own files leave out."""
        name = fold_name(thing)
        first = name.partition(".")[0]
        return self.names.get(name, self.names.get(first, name))

    def tie_all(self, explained_by: Mapping[str, Sequence[str]]) -> None:
        """Write into each sign what explains it, and into each cause what it explains; the worse of a circle leads."""
        named = {}  # rules that a row of the catalog names
        for sign in self.matches:
            named[id(sign)] = sign.explained_by
            sign.explained_by = []
        mildest_first = sorted(
            self.matches, key=lambda sign: SEVERITIES.index(sign.severity), reverse=True
        )
        for sign in mildest_first:
            rules = list(explained_by.get(sign.rule, ()))
            own = self.rows.get(id(sign))
            if own in rules:  # a row that is among them is explained by those before it
                rules = rules[: rules.index(own)]
            objects = (sign.object, *self.further[id(sign)])
            things = dict.fromkeys(self.find_name(thing) for thing in objects)
            places = list_places(sign)
            for rule in (*rules, *named[id(sign)]):
                for thing in things:
                    self.tie_causes(sign, self.causes.get((rule, thing), ()))
                self.tie_causes(sign, self.find_beside(sign, places, rule))

    def find_beside(
        self, sign: Finding, places: Sequence[EvidencePlace], rule: str
    ) -> list[Finding]:
        """Return the findings of another rule, or of a row of it, that rest on a place of a sign, whatever their objects.

        SAME_LINE stands for every other rule.
        """
        found = {}
        for place in places:
            for cause in self.beside.get(place, ()):
                own_names = (cause.rule, self.rows.get(id(cause)), SAME_LINE)
                if cause.rule != sign.rule and rule in own_names:
                    found[cause.id] = cause
        return list(found.values())

    def tie_causes(self, sign: Finding, causes: Sequence[Finding]) -> None:
        """Tie a sign to findings of one rule, those on its own node before others."""
        near = [cause for cause in causes if cause.node == sign.node]
        for cause in near or causes:
            if cause.id not in sign.explained_by and not self.rests_on(cause, sign):
                sign.explained_by.append(cause.id)
                cause.explains.append(sign.id)

    def rests_on(self, finding: Finding, cause: Finding) -> bool:
        """Say whether a finding is another one, or is explained by it, over any number of others."""
        seen: set[str] = set()
        waiting = [finding.id]
        while waiting:
            at = waiting.pop()
            if at == cause.id:
                return True
            if at not in seen:
                seen.add(at)
                waiting += self.by_id[at].explained_by
        return False
