"""What a finding says: its values, evidence, remedy, and what could make it worse or was not seen."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.artefacts.tables import Value
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Finding, Fix, Reason, Verdict
from analyzer.judge import bounds, evidence
from analyzer.judge.causes import Cause
from analyzer.judge.choosing import Chooser, Chosen
from analyzer.judge.evidence import Series
from analyzer.judge.log_conditions import Logs
from analyzer.judge.log_hits import messages, stamp
from analyzer.judge.subjects import Subject
from analyzer.judge.trace import TraceContext
from analyzer.rules import Outcome, Step
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.command import fill_command
from analyzer.rules.language.template import Template


class FindingWriter:
    """Writes a finding of one rule over one case, without evidence, trace and charts where the chooser is lean.

    logs    gives the hits of the rule when evidence is collected
    charts  filled: a finding, the column drawn, its samples
    """

    def __init__(
        self, chooser: Chooser, logs: Callable[[], Logs], charts: list[tuple[Finding, str, Series]]
    ) -> None:
        self.chooser, self.rule, self.facts, self.lean = (
            chooser,
            chooser.rule,
            chooser.facts,
            chooser.lean,
        )
        self._logs, self.charts = logs, charts

    def write(self, one: Chosen, why: TraceContext, name: str, thing: str) -> Finding:
        """Return the finding on a subject that matches: `name` is the subject, `thing` what is affected."""
        rule, taken = self.rule, one.taken or 0
        outcome, lean = rule.outcomes[taken], self.lean or not one.full
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
            severity=self.chooser.severity(outcome, why),
            confidence=outcome.confidence,
            say=self._say(outcome, why),
            about=rule.about,
            evidence=[] if lean else evidence.collect(why, self._logs()),
            trace=None if lean else why.tree(Verdict.MATCH.value, name, taken),
            fix=[fix for step in rule.fix if (fix := remedy(step, why)) is not None],
            caution=rule.caution,
            not_this=list(rule.not_this),
            source=list(rule.source),
            values=bounds.values(outcome.say, why) if outcome.say is not None else {},
            magnitude=self.chooser.magnitude(why),
            excess=self.chooser.excess(outcome, why),
        )
        fill_from_row(finding, why)
        self._worse(finding, one.subject, why, taken)
        finding.also += [
            bounds.filled(note.say, why) for note in rule.notes if why.value(note.when) is True
        ]
        finding.also += totals(outcome, why)
        self._cut(finding, why)
        finding.first_seen = min(
            (item.taken for item in finding.evidence if item.taken), default=""
        )
        for node in rule.chart if one.charted and not lean else ():
            chart = evidence.series(node, why, name)
            if chart is not None:
                self.charts.append((finding, f"{node.name}.{node.column}", chart))
        return finding

    @staticmethod
    def _say(outcome: Outcome, why: TraceContext) -> str:
        template: Template | None = outcome.say
        return bounds.filled(template, why) if template is not None else why.rule.title

    def _worse(self, finding: Finding, subject: Subject, why: TraceContext, taken: int) -> None:
        """Say which answers above those taken could not be checked, and what they lacked."""
        skipped = [
            (outcome.when, outcome.severity, outcome.confidence)
            for outcome, answer in zip(self.rule.outcomes[:taken], subject.outcomes, strict=False)
            if answer is None
        ]
        if not self.rule.outcomes[taken].severity:
            for grade in self.rule.grades:
                answer = why.value(grade.when)
                if answer is True:
                    break
                skipped += (
                    [(grade.when, grade.severity, finding.confidence)] if answer is None else []
                )
        told: dict[str, tuple[Cause, str, bool]] = {}
        for node, severity, confidence in skipped:
            cause = why.cause(node)
            if cause is None:
                continue
            missing = cause.table.declared.name if cause.table is not None else cause.missing
            could, worse = _could(finding, severity, confidence)
            if missing not in told or (
                worse and not told[missing][2]
            ):  # what may be worse counts more
                told[missing] = cause, could, worse
        for missing, (cause, could, worse) in told.items():
            if worse:
                finding.maybe_worse.append(missing)
            ask = cause.ask(self.rule)
            asked = f" Ask for: {ask.rstrip('.')}." if ask else ""
            finding.also.append(f"Could not check: {cause.why}.{could}{asked}")

    def _cut(self, finding: Finding, why: TraceContext) -> None:
        """Say which sources ended early, so that values over many rows are those seen so far."""
        said: dict[str, None] = {}
        for name, alias in self.rule.aliases.items():
            if alias.table.lines_of is not None:
                cause = why.absent(name)
                if cause.table is alias.table and cause.reason in (
                    Reason.UNREADABLE,
                    Reason.UNPARSED,
                ):
                    said[f"There may be more such lines: {cause.why}."] = None
            elif (
                alias.many and self.facts.coverage(why.detail.node, alias.table.name).state == "cut"
            ):
                said[f"{alias.table.name} ended early; later rows were not seen."] = None
        told = {hit.log for hit in self.rule.hits}
        for name in needs_of(self.rule).asked:
            if why.answers[name].more and told.isdisjoint(self.rule.seen[name].logs):
                said[f"There may be more such lines: {why.answers[name].more}."] = None
        finding.also += said


def totals(outcome: Outcome, why: TraceContext) -> list[str]:
    """Return how many lines there are in all where the sentence counts those of one window."""
    shown = outcome.say.nodes() if outcome.say is not None else []
    counted_names = {
        node.name for node in shown if node.op == "seen_field" and node.column == "count"
    }
    found = []
    for name in sorted(counted_names):
        seen = why.rule.seen[name]
        log = seen.logs[0]
        answer, whole = why.answers.get(name), why.answers.get(log)
        if answer is None or answer.reached is None or whole is None or log in counted_names:
            continue
        number = whole.count or 0
        if not seen.within or number <= messages(answer.window) or why.rule.seen[log].within:
            continue
        times = [one.time for one in whole.hits if one.time is not None]
        first, last = (stamp(end)[:19] for end in (min(times), max(times)))
        bound = "at least " if whole.more else ""
        found.append(f"In all {bound}{number:,} such lines from {first} UTC to {last} UTC.")
    return found


def remedy(step: Step, why: TraceContext) -> Fix | None:
    """Return a step of the remedy as this subject needs it; None where it does not fit.

    Where it is unknown whether it fits, the rule's words for that stand before it; a rule that has
    none leaves the step out.
    """
    fits = why.value(step.when)
    if fits is False or (fits is None and not step.unsure):
        return None
    run = fill_command(step.run, why.value) if step.run is not None else ""
    do, note, caution = (
        why.fill(text)[0] if text is not None else "" for text in (step.do, step.note, step.caution)
    )
    if fits is None:
        do = f"{step.unsure}: {do}" if do else f"{step.unsure}:"
    return Fix(step.where, run, do, note, caution)


def _could(finding: Finding, severity: str, confidence: str) -> tuple[str, bool]:
    """Return what a finding may be if the answer above were known, and whether that is worse or surer."""
    if not severity:
        return "", True
    now, then = SEVERITIES.index(finding.severity), SEVERITIES.index(severity)
    if then != now:
        return f" Severity may {'rise' if then < now else 'drop'} to {severity}.", then < now
    if CONFIDENCES.index(confidence) < CONFIDENCES.index(finding.confidence):
        return f" Confidence may rise to {confidence}.", True
    return "", False


def fill_from_row(finding: Finding, why: TraceContext) -> None:
    """Put what the row behind `fact` says into a finding; without such a row it stays as the rule has it."""
    name = why.rule.fact
    row = why.detail.row(name) if name else None
    if row is None:
        return
    table = why.rule.aliases[name].table

    def cell(column: str) -> str:
        value: Value = why.facts.value(table.name, row, column)
        return "" if value is None else str(value)

    finding.id = " ".join(
        cell(column) for column in table.key
    )  # tells rows apart until the ids are made
    finding.title = cell("title") or finding.title
    finding.about = cell("text") or finding.about
    finding.kb = list(dict.fromkeys([*map(int, cell("kb").split()), *finding.kb]))
    finding.source = [
        f"{table.name}, {finding.id}: {cell('source')} ({cell('mark')})",
        *finding.source,
    ]
    finding.explained_by = cell(
        "explained_by"
    ).split()  # rules, until findings are related to one another
    finding.not_this = [*filter(None, [cell("not_this")]), *finding.not_this]
