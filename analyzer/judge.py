"""The judge: every rule over every subject of a case, three-valued, with its reasons.

Absence is never innocence: a subject that a missing or cut source may hold is judged as a
ghost with unknown values, and a «no» that rests on rows which may be missing becomes
«cannot tell».
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from analyzer import parsing
from analyzer.errors import BacklineError, RuleFileError
from analyzer.facts import PRODUCT_KINDS, Facts
from analyzer.judging import evidence
from analyzer.judging.evidence import Series
from analyzer.judging.query import SUBJECTS, Detail, Query, Subject
from analyzer.judging.relations import relate
from analyzer.judging.seen import Answer, Logs
from analyzer.judging.stages import Seen
from analyzer.judging.trace import Cause, Why, table_cause
from analyzer.language.logic import kleene
from analyzer.language.template import Template
from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError
from analyzer.rules import Catalog, Outcome, Rule
from analyzer.tables import Table
from analyzer.verdicts import CannotTell, Explained, Finding, Judgement, Reason, Verdict

CHARTED = 50  # findings of one rule whose samples are drawn


def judge(catalog: Catalog, facts: Facts, limits: Limits | None = None, explain: str | None = None) -> Judgement:
    """Return the verdicts of all rules; `explain` names a rule whose every verdict is traced.

    A rule that raises becomes a finding `error`; all others are judged.
    """
    limits = limits or Limits()
    judgement = Judgement()
    charts: list[tuple[Finding, str, Series]] = []
    for broken in catalog.broken:
        judgement.findings.append(_broken(broken))
    for rule in catalog.rules:
        one = _RuleJudge(rule, facts, limits, explain == rule.id)
        try:
            one.run()
        except Exception as error:  # noqa: BLE001 - whatever a rule does, the others are judged
            judgement.findings.append(_failed(rule, error))
            judgement.counts[rule.id] = {Verdict.ERROR.value: 1}
            continue
        judgement.findings += one.findings
        judgement.cannot_tell += one.unsure
        judgement.counts[rule.id] = {verdict.value: one.counts[verdict] for verdict in Verdict}
        judgement.explained += one.explained
        judgement.notes += one.notes
        charts += one.charts
    relate(judgement.findings, {rule.id: rule.explained_by for rule in catalog.rules})
    for finding, name, chart in charts:
        key = f"{finding.id}/{name}"
        judgement.series[key] = chart
        finding.chart.append(key)
    return judgement


@cache
def kinds_of(table: Table) -> tuple[str, ...]:
    """Return the kinds of node a table speaks of: those of its parsers, else those of its product."""
    parsers = parsing.registry().values()
    kinds = {parser.node for parser in parsers if parser.node and any(one.name == table.name for one in parser.tables)}
    return tuple(sorted(kinds)) or PRODUCT_KINDS.get(table.product, (table.product,))


@dataclass(slots=True)
class _RuleJudge:
    """Judges one rule over the facts of a case."""

    rule: Rule
    facts: Facts
    limits: Limits
    explains: bool
    findings: list[Finding] = field(default_factory=list)
    unsure: list[CannotTell] = field(default_factory=list)
    counts: Counter[Verdict] = field(default_factory=Counter)
    explained: list[Explained] = field(default_factory=list)
    charts: list[tuple[Finding, str, Series]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)

    def run(self) -> None:
        """Judge every row of `each`, and the ghosts of what was not seen."""
        table = self.rule.each.table
        domain = self._domain(table)
        ghosts = [key for key in domain if self._haunted(key, table)]
        if not self.facts.nodes_of_product(table.product):
            domain, ghosts = [], self._strangers()
            if not ghosts:
                self.counts[Verdict.NOT_APPLICABLE] += 1
                return
        elif not domain:
            ghosts = [""]
        population = self.rule.population
        empty = [key for key in domain if key not in ghosts and not self.facts.count(table.name, key)]
        if population is None:
            self.counts[Verdict.NO_MATCH] += len(empty)
        listed = self.facts.count(population.alias.table.name) if population else 0
        if not ghosts and not self.facts.count(table.name) and not listed:
            return
        if not (self.rule.seen or self.explains or any(self.facts.count(name) for name in self.rule.tables())):
            self._nothing_there(ghosts)
            return
        logs = Logs(self.rule, self.facts)
        self.answers = {key: logs.answers(key) for key in sorted({*domain, *ghosts})} if self.rule.seen else {}
        seen = {
            key: {name: value for one, answer in answers.items() for name, value in answer.fields(one).items()}
            for key, answers in self.answers.items()
        }
        if self.rule.seen and not self.explains and not listed and self._settled(seen):
            self.counts[Verdict.NO_MATCH] += self.facts.count(table.name) + len(ghosts)
            return
        query = Query(self.rule, self.facts, seen, ghosts)
        subjects = query.subjects()
        if len(subjects) > SUBJECTS:
            subjects = subjects[:SUBJECTS]
            self.notes.append(f"{self.rule.id}: {SUBJECTS} rows of {table.name} were judged, the rest was not")
        if population is not None:  # nothing listed there is of the kind the rule speaks of
            there = {subject.node for subject in subjects}
            self.counts[Verdict.NOT_APPLICABLE] += sum(1 for key in empty if key not in there)
        self._judge(query, subjects, logs)

    def _settled(self, seen: Seen) -> bool:
        """Tell whether the logs alone make the condition false everywhere: then no row needs a look."""
        return all(kleene(self.rule.when, values) is False for values in seen.values())

    def _nothing_there(self, ghosts: Sequence[str]) -> None:
        """Tell of each node that nothing the rule asks for is there; no query is needed."""
        for key in ghosts:
            cause = table_cause(self.facts, key or None, self.rule.each.table)
            self.counts[Verdict.CANNOT_TELL] += 1
            self._doubt(self.facts.name(key), "", cause)

    def _doubt(self, node: str, subject: str, cause: Cause) -> None:
        rule = self.rule
        ask = rule.ask_for(cause.table)
        reason = str(cause.reason)
        self.unsure.append(CannotTell(rule.id, rule.title, node, subject, reason, cause.missing, cause.why, ask))

    def _domain(self, table: Table) -> list[str]:
        """Return the nodes that may hold subjects."""
        there = self.facts.nodes_with(table.name)
        kinds = kinds_of(table)
        if len(kinds) > 1 and there:  # one of several places that print the same thing is enough
            return there
        return sorted({*there, *(node.key for node in self.facts.nodes.values() if node.kind in kinds)})

    def _strangers(self) -> list[str]:
        """Return what may be a node of any product: a cut archive of unknown kind, or a case without nodes."""
        nodes = self.facts.nodes.values()
        return [""] if not nodes else [one.key for one in nodes if one.kind in ("", "loose") and not one.complete]

    def _haunted(self, key: str, table: Table) -> bool:
        """Tell whether a node may hold subjects that were not seen."""
        state = self.facts.coverage(key, table.name).state
        complete = self.facts.nodes[key].complete
        listed = self.rule.population.alias.table.name if self.rule.population else ""
        if listed and self.facts.count(listed, key) and not self.facts.lossy(key, listed):
            return False  # every subject there should be is known by name
        if not self.facts.count(table.name, key):
            return state != "read" or not complete
        return state == "cut" or (not complete and bool(table.key))

    def _judge(self, query: Query, subjects: Sequence[Subject], logs: Logs) -> None:
        verdicts = [(subject, *self._verdict(subject)) for subject in subjects]
        self.counts.update(verdict for _, verdict, _ in verdicts)
        most = self.limits.findings_per_rule
        told: Counter[Verdict] = Counter()
        chosen = []
        for subject, verdict, taken in verdicts:
            told[verdict] += 1
            speaks = verdict in (Verdict.MATCH, Verdict.CANNOT_TELL)
            if (speaks or self.explains) and told[verdict] <= most:
                chosen.append((subject, verdict, taken))
        for verdict in (Verdict.MATCH, Verdict.CANNOT_TELL):
            if told[verdict] > most:
                left = f"{told[verdict]} subjects are {verdict.value}; the first {most} are kept"
                self.notes.append(f"{self.rule.id}: {left}. Raise it with --limit findings_per_rule=N.")
        if self.rule.chart and told[Verdict.MATCH] > CHARTED:
            self.notes.append(f"{self.rule.id}: samples are drawn for the first {CHARTED} subjects")
        details = query.details([subject.number for subject, _, _ in chosen])
        for subject, verdict, taken in chosen:
            self._report(subject, verdict, taken, details[subject.number], logs)

    def _verdict(self, subject: Subject) -> tuple[Verdict, int | None]:
        """Return the verdict and the number of the outcome taken.

        A gate that is unknown before a condition that is false asks for nothing: whatever it
        turns out to be, the subject is not ill.
        """
        if subject.safe_only is False:
            return Verdict.NOT_APPLICABLE, None
        if subject.safe_when is False:
            return Verdict.NO_MATCH, None
        if subject.only is not True or subject.when is not True:
            return Verdict.CANNOT_TELL, None
        if True in subject.outcomes:
            taken = subject.outcomes.index(True)
            return (Verdict.CANNOT_TELL, taken) if subject.ghost else (Verdict.MATCH, taken)
        sure = all(answer is False for answer in subject.safe_outcomes)
        return (Verdict.NO_MATCH if sure else Verdict.CANNOT_TELL), None

    def _report(self, subject: Subject, verdict: Verdict, taken: int | None, detail: Detail, logs: Logs) -> None:
        why = Why(self.rule, self.facts, detail, self.answers.get(subject.node, {}))
        name, thing = self._names(why, ghost=subject.ghost)
        reason = ""
        if verdict is Verdict.MATCH and taken is not None:
            self.findings.append(self._finding(subject, why, name, thing, taken, logs))
        elif verdict is Verdict.CANNOT_TELL:
            cause = self._cause(subject, why)
            reason = cause.why
            self._doubt(detail.name, name, cause)
        if self.explains:
            trace = why.tree(verdict.value, name, taken)
            self.explained.append(Explained(self.rule.id, detail.name, name, thing, verdict.value, reason, trace))

    def _names(self, why: Why, *, ghost: bool) -> tuple[str, str]:
        population = self.rule.population
        if ghost and (population is None or why.detail.rows.get(population.alias.name) is None):
            return "", ""
        template = population.subject if ghost and population is not None else self.rule.subject
        subject, _ = why.fill(template)
        if self.rule.object is None:
            return subject, subject
        thing, known = why.fill(self.rule.object)
        return subject, thing if known and thing else subject

    def _cause(self, subject: Subject, why: Why) -> Cause:
        """Return why a subject cannot be judged: the first unknown in the order of the rule."""
        rule = self.rule
        conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        for node in conditions:
            cause = why.cause(node) if node is not None else None
            if cause is not None:
                return cause
        if subject.ghost:
            return table_cause(self.facts, subject.node or None, rule.each.table)
        for join in rule.joins:  # a «no» that rests on rows which may be missing
            cause = why.absent(join.alias.name)
            if cause.reason in (Reason.UNREADABLE, Reason.UNPARSED):
                return cause
        return table_cause(self.facts, subject.node, rule.each.table)

    def _finding(
        self, subject: Subject, why: Why, name: str, thing: str, taken: int, logs: Logs
    ) -> Finding:
        rule, outcome = self.rule, self.rule.outcomes[taken]
        finding = Finding(
            id="",
            rule=rule.id,
            title=rule.title,
            kb=list(rule.kb),
            issues=list(rule.issues),
            status=rule.status,
            node=why.detail.name,
            subject=name,
            object=thing,
            verdict=Verdict.MATCH.value,
            severity=outcome.severity or self._grade(why),
            confidence=outcome.confidence,
            say=self._say(outcome, why),
            about=rule.about,
            evidence=evidence.collect(why, logs),
            trace=why.tree(Verdict.MATCH.value, name, taken),
            fix=list(rule.fix),
            caution=rule.caution,
            not_this=list(rule.not_this),
            source=list(rule.source),
        )
        self._worse(finding, subject, why, taken)
        finding.also += [why.fill(note.say)[0] for note in rule.notes if why.value(note.when) is True]
        self._cut(finding, why)
        finding.first_seen = min((item.taken for item in finding.evidence if item.taken), default="")
        for node in rule.chart if len(self.findings) < CHARTED else ():
            chart = evidence.series(node, why, f"{name}: {node.text}")
            if chart is not None:
                self.charts.append((finding, f"{node.name}.{node.column}", chart))
        return finding

    @staticmethod
    def _say(outcome: Outcome, why: Why) -> str:
        template: Template | None = outcome.say
        return why.fill(template)[0] if template is not None else why.rule.title

    def _grade(self, why: Why) -> str:
        """Return the severity of the first true grade; where none is known to be true, of the last."""
        grades = self.rule.grades
        return next((grade.severity for grade in grades if why.value(grade.when) is True), grades[-1].severity)

    def _worse(self, finding: Finding, subject: Subject, why: Why, taken: int) -> None:
        """Say which answers above those taken could not be checked, and what they lacked."""
        skipped = [
            (outcome.when, outcome.severity)
            for outcome, answer in zip(self.rule.outcomes[:taken], subject.outcomes, strict=False)
            if answer is None
        ]
        if not self.rule.outcomes[taken].severity:
            for grade in self.rule.grades:
                answer = why.value(grade.when)
                if answer is True:
                    break
                skipped += [(grade.when, grade.severity)] if answer is None else []
        for node, severity in skipped:
            cause = why.cause(node)
            if cause is None:
                continue
            missing = cause.table.name if cause.table is not None else cause.missing
            if missing not in finding.maybe_worse:
                finding.maybe_worse.append(missing)
                could = f" It may be {severity}." if severity else ""
                finding.also.append(f"Could not check: {cause.why}.{could}")

    def _cut(self, finding: Finding, why: Why) -> None:
        """Say which sources ended early, so that values over many rows are those seen so far."""
        for alias in self.rule.aliases.values():
            table = alias.table.name
            if alias.many and self.facts.coverage(why.detail.node, table).state == "cut":
                finding.also.append(f"{table} ended early; later rows were not seen.")


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
