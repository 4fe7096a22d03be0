"""One rule over one case: its subjects, their verdicts, the findings and the open questions.

Absence is never innocence: a subject that a missing or cut source may hold is judged as a
row not seen, with unknown values, and a "no" that rests on rows which may be missing becomes
"cannot tell".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from analyzer.artefacts.tables import Value
from analyzer.case.verdicts import CannotTell, Explained, Finding, Reason, Trace, Verdict
from analyzer.facts import Facts, made
from analyzer.judge import holders, pairs, signature_tables
from analyzer.judge.causes import Cause, table_cause
from analyzer.judge.choosing import Chooser, Chosen, Look, no_answers
from analyzer.judge.evaluator import Evaluator
from analyzer.judge.evidence import Series
from analyzer.judge.findings import FindingWriter
from analyzer.judge.kinds import kinds_of
from analyzer.judge.log_conditions import Answers, Logs, log_missing
from analyzer.judge.log_hits import LogAnswer
from analyzer.judge.subjects import SUBJECTS, Detail, Subject
from analyzer.judge.trace import TraceContext
from analyzer.rules import Rule
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.logic import write_kleene
from analyzer.rules.model import RuleNeeds
from analyzer.rules.own import OwnScope
from analyzer.runtime.limits import Limits


def verdict_of(subject: Subject) -> tuple[Verdict, int | None]:
    """Return the verdict on a subject and the number of the outcome taken.

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
        return (Verdict.CANNOT_TELL, taken) if subject.unseen_row else (Verdict.MATCH, taken)
    sure = all(answer is False for answer in subject.safe_outcomes)
    return (Verdict.NO_MATCH if sure else Verdict.CANNOT_TELL), None


@dataclass(slots=True)
class OneCase:
    """Judges one rule over the facts of a case."""

    rule: Rule
    facts: Facts
    limits: Limits
    explains: bool
    lean: bool = False  # without evidence, trace and charts
    findings: list[Finding] = field(default_factory=list)
    unsure: list[CannotTell] = field(default_factory=list)
    counts: Counter[Verdict] = field(default_factory=Counter)
    explained: list[Explained] = field(default_factory=list)
    charts: list[tuple[Finding, str, Series]] = field(default_factory=list)
    rests_on: list[tuple[Finding, str]] = field(
        default_factory=list
    )  # further objects that findings rest on
    notes: list[str] = field(default_factory=list)
    answers: dict[str, dict[str, Answers]] = field(default_factory=dict)
    empty: list[str] = field(
        default_factory=list
    )  # nodes where the table was read and holds nothing
    failed: bool = False
    spent: tuple[float, float] = (
        0.0,
        0.0,
    )  # seconds: the verdicts of all subjects, what is told of them
    traced: dict[tuple[object, ...], Trace] = field(
        default_factory=dict
    )  # lines of the traces so far
    parsed: dict[str, bool] = field(
        default_factory=dict
    )  # of signatures, for all cases of a rule (see Logs)
    chooser: Chooser = field(init=False)
    _logs: Logs | None = None

    def __post_init__(self) -> None:
        self.chooser = Chooser(self.rule, self.facts, self.limits, self.lean)

    @property
    def asked_logs(self) -> bool:
        """Tell whether the logs were asked; else no line of a signature was made a row."""
        return self._logs is not None

    @property
    def logs(self) -> Logs:
        """The hits of the rule, looked for when they are asked for: of most rules nothing is there."""
        if self._logs is None:
            self._logs = Logs(self.rule, self.facts, self.parsed)
        return self._logs

    def run(self) -> None:
        """Judge every row of `each`, and the rows that stand for what was not seen."""
        unseen_nodes = self.prepare()
        if unseen_nodes is None:
            return
        start = perf_counter()
        evaluator = self.evaluator(unseen_nodes)
        try:
            chosen = self.choose(evaluator.subjects(), evaluator.detail)
            if evaluator.unmet:
                self.counts[Verdict.NOT_APPLICABLE] += evaluator.unmet
            judged = perf_counter()
            self.report(chosen, evaluator.detail)
            self.spent = judged - start, perf_counter() - judged
        finally:
            evaluator.release()
            self.chooser.answers_of = no_answers

    def evaluator(self, unseen_nodes: list[str]) -> Evaluator:
        """Return what judges the subjects, with the tables of the catalog that the rule joins beside the case."""
        for own in self.rule.fact_tables().values():
            self.facts.lend(own)
        return Evaluator(self.rule, self.facts, self.answers, unseen_nodes)

    def prepare(self) -> list[str] | None:
        """Ask the logs; return the nodes that may hold unseen subjects, None when no subject has to be judged.

        Until something of what the rule looks at is there, no more of the rule is used than what is known of it at
        once: the rest of a rule out of the cache would be read for nothing.
        """
        needs, table = needs_of(self.rule), self.rule.each.table
        unheard = not any(self.facts.nodes_with(name) for _, name, *_ in needs.signatures)
        if not unheard and not self._heard(needs):
            return None
        made.put(self.facts, needs.tables)
        domain = sorted(
            {*holders.of(table, self.facts, self.rule.product), *self._named_in_lines(needs)}
        )
        unseen_nodes = self._unseen(domain)
        if not domain and not unseen_nodes:
            self.counts[Verdict.NOT_APPLICABLE] += 1
            return None
        self.empty = [
            key
            for key in domain
            if key not in unseen_nodes and not self.facts.count(table.name, key)
        ]
        if not needs.listed:
            self.counts[Verdict.NO_MATCH] += len(self.empty)
        elif (
            table.lines_of is not None
        ):  # in a log that was read whole, nobody of the list has a line
            self.counts[Verdict.NO_MATCH] += sum(
                holders.read_whole(key, table, self.facts) for key in self.empty
            )
        listed = self.facts.count(needs.listed) if needs.listed else 0
        if not unseen_nodes and not self.facts.count(table.name) and not listed:
            return None
        if not (
            needs.asks_logs or self.explains or any(self.facts.count(name) for name in needs.tables)
        ):
            self._nothing_there(unseen_nodes)
            return None
        if needs.lacks and not self.explains and self._lack_all(needs, unseen_nodes):
            (self._log_missing if needs.lacks == "log" else self._nothing_there)(unseen_nodes)
            return None
        if needs.reads_lines and unheard:  # tables without a row, which a query names all the same
            signature_tables.put(self.rule, self.facts, self.logs, self.limits)
        self.answers = (
            {key: self.logs.answers(key) for key in sorted({*domain, *unseen_nodes})}
            if needs.asks_logs
            else {}
        )
        if needs.asks_logs and not self.explains and not listed and self._settled():
            self.counts[Verdict.NO_MATCH] += self.facts.count(table.name) + len(unseen_nodes)
            return None
        pairs.refuse(self.rule, self.facts)
        return unseen_nodes

    def _lack_all(self, needs: RuleNeeds, unseen_nodes: Sequence[str]) -> bool:
        """Tell whether the nodes with unseen subjects have nothing of what the rule looks at.

        Where it looks at one log alone and no line was found, each node is asked by itself: what another node has
        changes nothing for it.
        """
        if not any(self.facts.nodes_with(name) for name in needs.tables):
            return True
        each, nodes = self.rule.each.table, self.facts.nodes
        if needs.listed or needs.tables != {each.declared.name} or self.facts.count(each.name):
            return False
        there = {*self.facts.nodes_with(each.declared.name)}
        return all(
            key not in there and key in nodes and nodes[key].complete for key in unseen_nodes
        )

    def _unseen(self, domain: list[str]) -> list[str]:
        """Return the nodes that may hold subjects nobody saw; "" stands for any, where the case has none."""
        if domain:
            return [key for key in domain if holders.may_hold_unseen(key, self.rule, self.facts)]
        table = self.rule.each.table
        if not all(
            self.facts.nodes_of_product(one)
            for one in {table.product, self.rule.product or table.product}
        ):
            return holders.of_unknown_kind(self.facts)
        return [] if holders.not_known_of(table, self.facts) else [""]

    def _heard(self, needs: RuleNeeds) -> bool:
        """Make the lines of the rule's signatures tables; count the nodes and tell when there are none for sure."""
        nodes = 0 if needs.listed or self.explains else holders.silent(self.rule, self.facts)
        self.counts[Verdict.NO_MATCH] += nodes
        if nodes == 0 and needs.reads_lines:
            signature_tables.put(self.rule, self.facts, self.logs, self.limits)
        return nodes == 0

    def _settled(self) -> bool:
        """Tell whether the logs alone make the condition false everywhere: then no row needs a look."""
        rule = self.rule
        seen = {
            key: {name: one.common() for name, one in own.items()}
            for key, own in self.answers.items()
        }
        open_gate = (
            rule.only is None or write_kleene(rule.only, values) is True for values in seen.values()
        )
        return all(write_kleene(rule.when, values) is False for values in seen.values()) and all(
            open_gate
        )

    def _nothing_there(self, unseen_nodes: Sequence[str]) -> None:
        """Tell of each node that nothing the rule asks for is there; no query is needed."""
        for key in unseen_nodes:
            cause = table_cause(self.facts, key or None, self.rule.each.table)
            self.counts[Verdict.CANNOT_TELL] += 1
            self._doubt(self.facts.name(key), "", cause)

    def _log_missing(self, unseen_nodes: Sequence[str]) -> None:
        """Tell of each node that the log is missing which the condition asks first."""
        log = self.rule.each.table.declared
        for key in unseen_nodes:
            self.counts[Verdict.CANNOT_TELL] += 1
            cause = Cause(Reason.MISSING, log.name, log_missing(self.facts, key, log), log)
            self._doubt(self.facts.name(key), "", cause)

    def _doubt(self, node: str, subject: str, cause: Cause) -> None:
        rule = self.rule
        ask = cause.ask(rule)
        reason = str(cause.reason)
        self.unsure.append(
            CannotTell(rule.id, rule.title, node, subject, reason, cause.missing, cause.why, ask)
        )

    def choose(self, subjects: Sequence[Subject], look: Look) -> list[Chosen]:
        """Count the verdicts of all subjects; return those that are reported, in the order of the case.

        look  gives the values of subjects by their numbers; asked only when there are too many to tell all in full
        """
        if len(subjects) > SUBJECTS:
            subjects = subjects[:SUBJECTS]
            table = self.rule.each.table.spoken_name
            self.notes.append(
                f"{self.rule.id}: {SUBJECTS} rows of {table} were judged, the others were not"
            )
        population, lines_of = self.rule.population, self.rule.each.table.lines_of
        if (
            population is not None and lines_of is None
        ):  # nothing listed there is of the kind the rule speaks of
            there = {subject.node for subject in subjects}
            self.counts[Verdict.NOT_APPLICABLE] += sum(1 for key in self.empty if key not in there)
        verdicts = [(subject, *self._verdict_of(subject)) for subject in subjects]
        self.counts.update(verdict for _, verdict, _ in verdicts)
        self.chooser.answers_of = self._answers_of
        by_verdict: dict[Verdict, list[Chosen]] = {}
        for subject, verdict, taken in verdicts:
            if self.explains or verdict in (Verdict.MATCH, Verdict.CANNOT_TELL):
                by_verdict.setdefault(verdict, []).append(Chosen(subject, verdict, taken))
        found = [one for some in by_verdict.values() for one in self.chooser.reported(some, look)]
        place = {subject.number: at for at, subject in enumerate(subjects)}
        return sorted(found, key=lambda one: place[one.subject.number])

    def _verdict_of(self, subject: Subject) -> tuple[Verdict, int | None]:
        """Return the verdict on a subject: where the product does not run that a rule speaks of, nothing is open."""
        verdict, taken = verdict_of(subject)
        node = self.facts.nodes.get(subject.node)
        if verdict is not Verdict.CANNOT_TELL or not self.rule.product or node is None:
            return verdict, taken
        runs = node.kind not in kinds_of(self.rule.each.table) or bool(
            self.facts.users_of(self.rule.product, [node])
        )
        runs = runs or subject.node in self._named_in_lines(needs_of(self.rule))
        return (verdict, taken) if runs else (Verdict.NOT_APPLICABLE, None)

    def _named_in_lines(self, needs: RuleNeeds) -> set[str]:
        """Return the nodes in whose logs the rule of a product found a line: they run it, whatever else is there."""
        lines = (
            [hit.table.name for hit in self.rule.hits]
            if self.rule.product and needs.reads_lines
            else []
        )
        return {
            key
            for name in lines
            for key in self.facts.nodes_with(name)
            if self.facts.count(name, key)
        }

    def report(self, chosen: Iterable[Chosen], look: Look) -> None:
        """Write the findings and the doubts about the chosen subjects."""
        for one in chosen:
            self._report(one, look(one.subject.number))

    def _report(self, one: Chosen, detail: Detail) -> None:
        subject, verdict, taken = one.subject, one.verdict, one.taken
        why = TraceContext(
            self.rule,
            self.facts,
            detail,
            self._answers_of(subject, detail),
            brief=not self.explains,
        )
        why.same = None if self.explains else self.traced
        name, thing = self._names(why, unseen_row=subject.unseen_row)
        reason = ""
        if verdict is Verdict.MATCH and taken is not None:
            writer = FindingWriter(self.chooser, lambda: self.logs, self.charts)
            self.findings.append(writer.write(one, why, name, thing))
            further = (why.fill(template) for template in self.rule.rests_on)
            self.rests_on += [
                (self.findings[-1], text) for text, known in further if known and text
            ]
        elif verdict is Verdict.CANNOT_TELL:
            cause = self._cause(subject, why)
            reason = cause.why
            self._doubt(detail.name, name, cause)
        if self.explains:
            from analyzer.judge.near_miss import explained  # noqa: PLC0415 - of one rule at most, when it is asked for

            self.explained.append(explained(why, verdict.value, name, thing, reason, taken))

    def _answers_of(self, subject: Subject, detail: Detail) -> dict[str, LogAnswer]:
        """Return what the logs say of one subject."""
        own = self.answers.get(subject.node, {})
        return {name: one.of(tuple(self._key(detail, one.scope))) for name, one in own.items()}

    def _key(self, detail: Detail, scope: OwnScope) -> Iterator[Value]:
        """Yield the values by which the lines of a subject are told; None where one is not known."""
        population = self.rule.population
        for key in scope.keys:
            alias, _, column = key.mine.rpartition(".")
            row = detail.row(alias)
            if row is None and population is not None and alias == self.rule.each.name:
                alias, column = population.alias.name, dict(population.by).get(column, column)
                row = detail.row(alias)
            owner = self.rule.aliases[alias]
            known = row is not None and owner.column(column) is not None
            yield (
                key.cell(self.facts.value(owner.table.name, row, column))
                if known and row is not None
                else None
            )

    def _names(self, why: TraceContext, *, unseen_row: bool) -> tuple[str, str]:
        population = self.rule.population
        if unseen_row and (population is None or why.detail.row(population.alias.name) is None):
            return "", ""
        template = (
            population.subject if unseen_row and population is not None else self.rule.subject
        )
        subject, _ = why.fill(template)
        if self.rule.object is None:
            return subject, subject
        thing, known = why.fill(self.rule.object)
        return subject, thing if known and thing else subject

    def _cause(self, subject: Subject, why: TraceContext) -> Cause:
        """Return why a subject cannot be judged: the first unknown in the order of the rule."""
        rule = self.rule
        conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        for node in conditions:
            cause = why.cause(node) if node is not None else None
            if cause is not None:
                return cause
        if subject.unseen_row:
            return table_cause(self.facts, subject.node or None, rule.each.table)
        for join in rule.joins:  # a "no" that rests on rows which may be missing
            cause = why.absent(join.alias.name)
            if cause.reason in (Reason.UNREADABLE, Reason.UNPARSED):
                return cause
        return table_cause(self.facts, subject.node, rule.each.table)
