"""One rule over one case: its subjects, their verdicts, the findings and the open questions.

Absence is never innocence: a subject that a missing or cut source may hold is judged as a
row not seen, with unknown values, and a "no" that rests on rows which may be missing becomes
"cannot tell".
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from analyzer.artefacts.tables import Block, Column, Row, Table, Value, cell_of
from analyzer.case.verdicts import CannotTell, Explained, Finding, Reason, Trace, Verdict
from analyzer.facts import Facts, made
from analyzer.facts.records import Coverage
from analyzer.judge.choosing import Chooser, Chosen, ShowDetail, find_no_answers
from analyzer.judge.evaluator import Evaluator
from analyzer.judge.findings import FindingWriter, Series
from analyzer.judge.log_answers import LogAnswer, LogHit, format_stamp
from analyzer.judge.log_conditions import Answers, Logs, explain_missing_log, explain_unsearched
from analyzer.judge.node_coverage import (
    count_silent_nodes,
    find_holders,
    find_unknown_nodes,
    is_read_whole,
    is_unheard_of,
    kinds_of,
    may_hold_unseen,
)
from analyzer.judge.subjects import SUBJECTS, Detail, Subject
from analyzer.judge.trace import Cause, TraceContext, explain_table
from analyzer.rules import HitTable, Join, LogDef, Rule
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.logic import write_kleene
from analyzer.rules.model import RuleNeeds
from analyzer.rules.own import OwnScope
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits

MOST_PAIRS = 30_000_000  # of lines; a query over so many takes a few seconds
_INSTEAD = (
    "Judge each device instead of each line: `each: dev in SIGNATURE per COLUMN`, and ask under `seen` for a rate"
    " (`at_least`, `within`) or a pair (`sequence`, `within`); that costs one pass."
)


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
    """Judges one rule over the facts of a case.

    lean      without evidence, trace and charts
    rests_on  further objects that findings rest on
    empty     nodes where the table was read and holds nothing
    spent     seconds: the verdicts of all subjects, what is written about them
    traced    lines of the traces so far
    parsed    of signatures, for all cases of a rule (see Logs)
    """

    rule: Rule
    facts: Facts
    limits: Limits
    explains: bool
    lean: bool = False
    findings: list[Finding] = field(default_factory=list)
    unsure: list[CannotTell] = field(default_factory=list)
    counts: Counter[Verdict] = field(default_factory=Counter)
    explained: list[Explained] = field(default_factory=list)
    charts: list[tuple[Finding, str, Series]] = field(default_factory=list)
    rests_on: list[tuple[Finding, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: dict[str, dict[str, Answers]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    failed: bool = False
    spent: tuple[float, float] = (0.0, 0.0)
    traced: dict[tuple[object, ...], Trace] = field(default_factory=dict)
    parsed: dict[str, bool] = field(default_factory=dict)
    chooser: Chooser = field(init=False)
    _logs: Logs | None = None

    def __post_init__(self) -> None:
        self.chooser = Chooser(self.rule, self.facts, self.limits, self.lean)

    @property
    def asked_logs(self) -> bool:
        """Say whether the logs were asked; else no line of a signature was made a row."""
        return self._logs is not None

    @property
    def logs(self) -> Logs:
        """The hits of the rule, looked for when they are asked for: of most rules nothing is there."""
        if self._logs is None:
            self._logs = Logs(self.rule, self.facts, self.parsed)
        return self._logs

    def judge_all(self) -> None:
        """Judge every row of `each`, and the rows in the place of what was not seen."""
        unseen_nodes = self.prepare_nodes()
        if unseen_nodes is None:
            return
        start = perf_counter()
        evaluator = self.make_evaluator(unseen_nodes)
        try:
            chosen = self.choose_subjects(evaluator.list_subjects(), evaluator.show_detail)
            if evaluator.unmet:
                self.counts[Verdict.NOT_APPLICABLE] += evaluator.unmet
            judged = perf_counter()
            self.report_chosen(chosen, evaluator.show_detail)
            self.spent = judged - start, perf_counter() - judged
        finally:
            evaluator.release()
            self.chooser.find_answers = find_no_answers

    def make_evaluator(self, unseen_nodes: list[str]) -> Evaluator:
        """Return what judges the subjects, with the tables of the catalog that the rule joins to the case."""
        for own in self.rule.fact_tables().values():
            self.facts.lend(own)
        return Evaluator(self.rule, self.facts, self.answers, unseen_nodes)

    # -- before a row is looked at

    def prepare_nodes(self) -> list[str] | None:
        """Ask the logs; return the nodes that may hold unseen subjects, None when no subject has to be judged.

        Until something of what the rule looks at is there, no more of the rule is used than what is known of it at
        once: the rest of a rule out of the cache would be read for nothing.
        """
        rule = self.rule
        facts = self.facts
        needs = needs_of(rule)
        table = rule.each.table
        has_log = any(facts.nodes_with(name) for _, name, *_ in needs.signatures)
        if has_log:
            # The log may be read whole on every node, without a line that the rule looks at.
            nodes = 0 if needs.listed or self.explains else count_silent_nodes(rule, facts)
            self.counts[Verdict.NO_MATCH] += nodes
            if nodes:
                return None
            if needs.reads_lines:
                put_tables(rule, facts, self.logs, self.limits)
        made.put_tables(facts, needs.tables)
        holders = find_holders(table, facts, rule.product)
        if needs.unasked:
            there = set(facts.nodes_with(table.declared_table.name))
            holders = [key for key in holders if key in there]
        domain = sorted({*holders, *self._list_named_nodes(needs)})
        unseen_nodes = [] if needs.unasked and not domain else self._list_unseen_nodes(domain)
        if not domain and not unseen_nodes:
            self.counts[Verdict.NOT_APPLICABLE] += 1
            return None
        unseen = set(unseen_nodes)
        self._count_empty([key for key in domain if key not in unseen], needs)
        listed = facts.count(needs.listed) if needs.listed else 0
        if not unseen_nodes and not facts.count(table.name) and not listed:
            return None
        if self._lack_all(needs, unseen_nodes):
            return None
        if (
            needs.reads_lines and not has_log
        ):  # tables without a row, which a query names all the same
            put_tables(rule, facts, self.logs, self.limits)
        self.answers = {}
        if needs.asks_logs:
            for key in sorted({*domain, *unseen_nodes}):
                self.answers[key] = self.logs.answer_node(key)
            if not self.explains and not listed and self._is_settled():
                self.counts[Verdict.NO_MATCH] += facts.count(table.name) + len(unseen_nodes)
                return None
        refuse_pairs(rule, facts)
        return unseen_nodes

    def _count_empty(self, nodes: Sequence[str], needs: RuleNeeds) -> None:
        """Count the nodes on which the table of the subjects was read and holds nothing."""
        table = self.rule.each.table
        facts = self.facts
        self.empty = [key for key in nodes if not facts.count(table.name, key)]
        if not needs.listed:
            self.counts[Verdict.NO_MATCH] += len(self.empty)
        elif table.lines_of is not None:
            # In a log that was read whole, no one of the list has a line.
            whole = [key for key in self.empty if is_read_whole(key, table, facts)]
            self.counts[Verdict.NO_MATCH] += len(whole)

    def _list_named_nodes(self, needs: RuleNeeds) -> set[str]:
        """Return the nodes in whose logs the rule of a product found a line: they run it, whatever else is there."""
        found: set[str] = set()
        if self.rule.product and needs.reads_lines:
            for hit in self.rule.hits:
                name = hit.table.name
                found.update(
                    key for key in self.facts.nodes_with(name) if self.facts.count(name, key)
                )
        return found

    def _list_unseen_nodes(self, domain: list[str]) -> list[str]:
        """Return the nodes that may hold subjects no one saw; "" means any, where the case has none."""
        if domain:
            return [key for key in domain if may_hold_unseen(key, self.rule, self.facts)]
        table = self.rule.each.table
        for product in {table.product, self.rule.product or table.product}:
            if not self.facts.nodes_of_product(product):
                return find_unknown_nodes(self.facts)
        return [] if is_unheard_of(table, self.facts) else [""]

    def _lack_all(self, needs: RuleNeeds, unseen_nodes: Sequence[str]) -> bool:
        """Say whether the nodes with unseen subjects have nothing of what the rule looks at; then say so of each.

        Where it looks at one log alone and no line was found, each node is asked by itself: what another node has
        changes nothing for it.
        """
        rule = self.rule
        facts = self.facts
        if self.explains:
            return False
        has_rows = any(facts.count(name) for name in needs.tables)
        by_log = False
        if needs.asks_logs or has_rows:
            if not needs.lacks:
                return False
            by_log = needs.lacks == "log"
            if any(facts.nodes_with(name) for name in needs.tables):
                each = rule.each.table
                if (
                    needs.listed
                    or needs.tables != (each.declared_table.name,)
                    or facts.count(each.name)
                ):
                    return False
                there = set(facts.nodes_with(each.declared_table.name))
                for key in unseen_nodes:
                    node = facts.nodes.get(key)
                    if key in there or node is None or not node.complete:
                        return False
        log = rule.each.table.declared_table
        for key in unseen_nodes:
            self.counts[Verdict.CANNOT_TELL] += 1
            if by_log:  # the log is missing which the condition asks first
                cause = Cause(Reason.MISSING, log.name, explain_missing_log(facts, key, log), log)
            else:
                cause = explain_table(facts, key or None, rule.each.table)
            self._note_doubt(facts.name(key), "", cause)
        return True

    def _is_settled(self) -> bool:
        """Say whether the logs alone make the condition false everywhere: then no row needs a look."""
        rule = self.rule
        for own in self.answers.values():
            values = {name: answers.find_common() for name, answers in own.items()}
            if write_kleene(rule.when, values) is not False:
                return False
            if rule.only is not None and write_kleene(rule.only, values) is not True:
                return False
        return True

    def _note_doubt(self, node: str, subject: str, cause: Cause) -> None:
        """Note that a subject cannot be judged, and what would settle it."""
        rule = self.rule
        ask = cause.find_ask(rule)
        # Hundreds of rules say the same of each of thousands of nodes
        reason = sys.intern(str(cause.reason))
        why = sys.intern(cause.why)
        self.unsure.append(
            CannotTell(rule.id, rule.title, node, subject, reason, cause.missing, why, ask)
        )

    # -- verdicts

    def choose_subjects(self, subjects: Sequence[Subject], show: ShowDetail) -> list[Chosen]:
        """Count the verdicts of all subjects; return those that are reported, in the order of the case.

        show  gives the values of subjects by their numbers; asked only when there are too many to report all in full
        """
        table = self.rule.each.table
        if len(subjects) > SUBJECTS:
            subjects = subjects[:SUBJECTS]
            rows = f"{SUBJECTS} rows of {table.spoken_name}"
            self.notes.append(f"{self.rule.id}: {rows} were judged, the others were not")
        if self.rule.population is not None and table.lines_of is None:
            # Nothing listed there is of the kind the rule speaks of.
            there = {subject.node for subject in subjects}
            absent = [key for key in self.empty if key not in there]
            self.counts[Verdict.NOT_APPLICABLE] += len(absent)
        self.chooser.find_answers = self._find_answers
        by_verdict: dict[Verdict, list[Chosen]] = {}
        for subject in subjects:
            verdict, taken = self._judge_subject(subject)
            self.counts[verdict] += 1
            if self.explains or verdict in (Verdict.MATCH, Verdict.CANNOT_TELL):
                by_verdict.setdefault(verdict, []).append(Chosen(subject, verdict, taken))
        found: list[Chosen] = []
        for alike in by_verdict.values():
            found += self.chooser.choose_reported(alike, show)
        place = {subject.number: at for at, subject in enumerate(subjects)}
        return sorted(found, key=lambda one: place[one.subject.number])

    def _judge_subject(self, subject: Subject) -> tuple[Verdict, int | None]:
        """Return the verdict on a subject: where the product does not run that a rule speaks of, nothing is open."""
        verdict, taken = verdict_of(subject)
        node = self.facts.nodes.get(subject.node)
        if verdict is not Verdict.CANNOT_TELL or not self.rule.product or node is None:
            return verdict, taken
        runs = (
            node.kind not in kinds_of(self.rule.each.table)
            or bool(self.facts.users_of(self.rule.product, [node]))
            or subject.node in self._list_named_nodes(needs_of(self.rule))
        )
        return (verdict, taken) if runs else (Verdict.NOT_APPLICABLE, None)

    def report_chosen(self, chosen: Iterable[Chosen], show: ShowDetail) -> None:
        """Write the findings and the doubts about the chosen subjects."""
        writer = FindingWriter(self.chooser, lambda: self.logs, self.charts)
        lossy: dict[str, bool] = {}
        for one in chosen:
            detail = show(one.subject.number)
            subject = one.subject
            verdict = one.verdict
            taken = one.taken
            answers = self._find_answers(subject, detail)
            why = TraceContext(self.rule, self.facts, detail, answers, brief=not self.explains)
            why.same = None if self.explains else self.traced
            why.lossy = lossy
            name, thing = self._name_subject(why, unseen_row=subject.unseen_row)
            reason = ""
            if verdict is Verdict.MATCH and taken is not None:
                finding = writer.write_finding(one, why, name, thing)
                self.findings.append(finding)
                for template in self.rule.rests_on:
                    further, known = why.fill_template(template)
                    if known and further:
                        self.rests_on.append((finding, further))
            elif verdict is Verdict.CANNOT_TELL:
                cause = self._find_cause(subject, why)
                reason = cause.why
                self._note_doubt(detail.name, name, cause)
            if self.explains:
                from analyzer.judge.near_miss import explain_verdict  # noqa: PLC0415 - of one rule at most, when it is asked for

                self.explained.append(
                    explain_verdict(why, verdict.value, name, thing, reason, taken)
                )

    def _find_answers(self, subject: Subject, detail: Detail) -> dict[str, LogAnswer]:
        """Return what the logs answer about one subject."""
        found = {}
        for name, own in self.answers.get(subject.node, {}).items():
            found[name] = own.find_answer(self._read_key(detail, own.scope))
        return found

    def _read_key(self, detail: Detail, scope: OwnScope) -> tuple[Value, ...]:
        """Return the values by which the lines of a subject are found; None where one is not known."""
        population = self.rule.population
        cells: list[Value] = []
        for key in scope.keys:
            alias, _, column = key.mine.rpartition(".")
            row = detail.find_row(alias)
            if row is None and population is not None and alias == self.rule.each.name:
                alias = population.alias.name
                column = dict(population.by).get(column, column)
                row = detail.find_row(alias)
            owner = self.rule.aliases[alias]
            value: Value = None
            if row is not None and owner.column(column) is not None:
                value = key.cell(self.facts.value(owner.table.name, row, column))
            cells.append(value)
        return tuple(cells)

    def _name_subject(self, why: TraceContext, *, unseen_row: bool) -> tuple[str, str]:
        """Return the name of a subject, and of what is affected."""
        template = self.rule.subject
        if unseen_row:
            population = self.rule.population
            if population is None or why.detail.find_row(population.alias.name) is None:
                return "", ""
            template = population.subject
        subject, _ = why.fill_template(template)
        if self.rule.object is None:
            return subject, subject
        thing, known = why.fill_template(self.rule.object)
        return subject, thing if known and thing else subject

    def _find_cause(self, subject: Subject, why: TraceContext) -> Cause:
        """Return why a subject cannot be judged: the first unknown in the order of the rule."""
        rule = self.rule
        conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        for node in conditions:
            cause = why.find_cause(node) if node is not None else None
            if cause is not None:
                return cause
        if not subject.unseen_row:
            for join in rule.joins:  # a "no" that rests on rows which may be missing
                cause = why.explain_absent(join.alias.name)
                if cause.reason in (Reason.UNREADABLE, Reason.UNPARSED):
                    return cause
            return explain_table(self.facts, subject.node, rule.each.table)
        return explain_table(self.facts, subject.node or None, rule.each.table)


# -- pairs of lines


def refuse_pairs(rule: Rule, facts: Facts) -> None:
    """Raise BacklineError when lines of a rule's logs meet in more pairs than may be looked at.

    A rule whose subjects are the lines of one signature, with the lines of another (or the same) joined to each, looks
    at every pair that a join's `by` allows. That is the square of a storm: ten thousand lines of one device are a
    hundred million pairs. Counting them first takes one pass over the lines.
    """
    logs = {hit.table.name: hit.log for hit in rule.hits}
    own = rule.each.table.name
    if own not in logs:
        return
    for join in rule.joins:
        theirs = join.alias.table.name
        if theirs not in logs or facts.count(own) * facts.count(theirs) <= MOST_PAIRS:
            continue
        count = count_pairs(rule, join, facts)
        if count > MOST_PAIRS:
            mine = f"each of {facts.count(own):,} lines of `{logs[own]}`"
            joined = f"joined as `{join.alias.name}`"
            what = (
                f"{mine} would be paired with lines of `{logs[theirs]}`, {joined}: {count:,} pairs"
            )
            why = f"{MOST_PAIRS:,} pairs are the most that a rule may look at"
            raise BacklineError(what, why=why, do=_INSTEAD)


def count_pairs(rule: Rule, join: Join, facts: Facts) -> int:
    """Return how many pairs the keys of a join allow; 0 where keys are not those of the two lines."""
    columns = []
    for mine, _ in join.by:
        owner, _, column = mine.rpartition(".")
        if owner != rule.each.name or column == "node":
            return 0
        columns.append(column)
    own = count_keys(facts.store(rule.each.table.name).rows, columns, join)
    their_rows = facts.store(join.alias.table.name).rows
    others = count_keys(their_rows, [name for _, name in join.by], join)
    return sum(count * others[key] for key, count in own.items())


def count_keys(rows: Iterable[Row], columns: list[str], join: Join) -> Counter[tuple[Value, ...]]:
    """Count lines by the values that a join goes by, on each node or in the whole case; an unknown value meets none."""
    found: Counter[tuple[Value, ...]] = Counter()
    for row in rows:
        cells = [row.values.get(name) for name in columns]
        if None not in cells:
            folded = [cell.lower() if isinstance(cell, str) else cell for cell in cells]
            found["" if join.any_node else row.block.node, *folded] += 1
    return found


# --- tables of signatures ---
#
# Signatures as tables: their lines as rows, and how sure it is that there are no more.
#
# The rows are the hits that a rule's questions to its logs see as well (judge/log_conditions.py): once over rotated
# copies, and only those for which `where` holds. What may hide further lines makes the table "cut" on its node:
# the log ended early, not every hit was kept, a line could not be tried, or `where` is unknown for some. A line
# whose value is unknown in a column that a join goes by makes it "unparsed": it belongs to one of the rows there.


@dataclass(slots=True)
class NodeLines:
    """The lines of a signature on one node, in order of their times, and why there may be more.

    rescan  True when the log was stored without a search for the signature
    """

    found: Sequence[LogHit]
    doubts: list[str]
    rescan: bool = False


def put_tables(rule: Rule, facts: Facts, logs: Logs, limits: Limits) -> set[str]:
    """Put the lines of signatures that a rule uses as tables into the facts.

    Returns the names of the tables whose rows are not those they had before.
    """
    changed: set[str] = set()
    made: dict[str, tuple[dict[str, NodeLines], LineRows]] = {}
    for hit in rule.hits:
        log = rule.logs[hit.log]
        if hit.log not in made:
            own = collect_lines(log, facts, logs, limits.hits_per_signature)
            found: list[LogHit] = []
            for on_node in own.values():
                found += on_node.found
            made[hit.log] = own, LineRows(hit.table, log, found)
        lines, line_rows = made[hit.log]
        rows = list(line_rows.list_rows(hit))
        if facts.derive(hit.table, rows, judge_coverage(rule, hit, lines, rows)):
            changed.add(hit.table.name)
    return changed


# -- lines


def collect_lines(log: LogDef, facts: Facts, logs: Logs, most: int) -> dict[str, NodeLines]:
    """Return the lines of a signature by node: at most so many in all, shared among the nodes."""
    nodes = facts.nodes_with(log.table.name)
    hits = {key: logs.find_hits(log, key) for key in nodes}
    shares = share_places({key: len(found.sure) for key, found in hits.items()}, most)
    lines = {}
    for key, found in hits.items():
        sure = found.sure
        maybe = found.maybe
        kept = sure[: shares[key]]
        rescan = logs.is_unsearched(log, [key])
        doubts = list_doubts(log, facts, logs.name_signature(log), key)
        if rescan:
            doubts.insert(0, explain_unsearched(log))
        if len(kept) < len(sure):
            doubts.append(f"{len(kept):,} of {len(sure):,} lines of `{log.name}` were kept")
        if maybe and log.where is not None:
            count = "1 line" if len(maybe) == 1 else f"{len(maybe):,} lines"
            doubts.append(f"for {count} of `{log.name}` it is not known whether {log.where.text}")
        lines[key] = NodeLines(kept, doubts, rescan)
    return lines


def share_places(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return how many lines of each node are kept, so that a storm on one leaves room for the others."""
    shares = {}
    left = len(counts)
    for key in sorted(counts, key=lambda key: (counts[key], key)):
        shares[key] = min(counts[key], most // left)
        most -= shares[key]
        left -= 1
    return shares


def list_doubts(log: LogDef, facts: Facts, signature: str, node: str) -> list[str]:
    """Return why the log of a node may hold more lines than were seen, or its search passed lines over."""
    doubts = []
    where = f"{log.table.words} of {facts.name(node)}"
    covered = facts.coverage(node, log.table.name)
    if covered.state in ("cut", "excerpt"):
        doubts.append(covered.why or f"{where} ended early")
    elif covered.state == "unparsed":
        doubts.append(covered.why or f"lines of {where} were not understood")
    kept = counted = 0
    least = ""
    for scan in facts.scans_on(log.table.name, [node]):
        own = len(scan.of(signature))
        kept += own
        counted += max(own, scan.counts.get(signature, own))
        stop = scan.stopped.get(signature)
        if stop is not None and stop.lines:
            doubts.append(f"the signature `{log.name}` took too long in {scan.address}: {stop}")
        elif signature in scan.at_least:
            least = "at least "
    if counted > kept or least:
        doubts.append(f"{kept:,} of {least}{counted:,} lines of `{log.name}` were kept")
    return doubts


# -- rows


class LineRows:
    """Lines of a signature as rows, each made when a table shows it: of a storm `per` leaves one in thousands."""

    def __init__(self, table: Table, log: LogDef, found: Sequence[LogHit]) -> None:
        self.table = table
        self.found = found
        # A group of the name of a column of the log is never that column.
        own = [column.name for column in log.columns]
        self.shadowed = [name for name in own if log.table.column(name) is not None]
        self.made: dict[int, Row] = {}

    def list_rows(self, hit: HitTable) -> Iterator[Row]:
        """Yield the rows of one table: all lines, or of each value of `per` the earliest on its node."""
        per = [column for column in map(self.table.column, hit.per) if column is not None]
        seen: set[tuple[Value, ...]] = set()
        for number, line in enumerate(self.found):
            if hit.per:
                key = (line.node, *(self.read_cell(line, column) for column in per))
                if key in seen:
                    continue
                seen.add(key)
            if number not in self.made:
                self.made[number] = self.make_row(number, line)
            row = self.made[number]
            yield Row(hit.table, row.values, row.block, row.line)

    def make_row(self, number: int, line: LogHit) -> Row:
        """Return a line as a row; its block holds the neighbouring lines, and counts up in the order of the lines."""
        hit = line.hit
        before, after = hit.around
        taken = "" if line.time is None else format_stamp(line.time)
        first = hit.line - len(before)
        text = [*before, hit.text, *after]
        block = Block(text, first, hit.address, taken=taken, order=number)
        block.assign_node(line.node)
        cells: dict[str, Value] = {}
        for column in self.table.columns:
            cell = self.read_cell(line, column)
            if cell is not None:
                cells[column.name] = cell
        return Row(self.table, cells, block, hit.line)

    def read_cell(self, line: LogHit, column: Column) -> Value:
        """Return what a line says in a column."""
        value: Value
        if column.name in self.shadowed:
            value = line.hit.groups.get(column.name)
        elif column.name == "time":
            value = None if line.time is None else format_stamp(line.time)
        else:
            value = line.values.get(column.name)
        return cell_of(column, value)


def judge_coverage(
    rule: Rule, hit: HitTable, lines: Mapping[str, NodeLines], rows: Sequence[Row]
) -> dict[str, Coverage]:
    """Return by node how well the table is known."""
    keys: set[str] = set()
    for join in rule.joins:
        if join.alias.table.name == hit.table.name:
            keys.update(theirs for _, theirs in join.by)
    own_keys = [name for name in sorted(keys) if hit.table.column(name) is not None]
    nameless: dict[str, list[Row]] = {key: [] for key in lines}
    for row in rows:
        if any(row.values.get(name) is None for name in own_keys):
            nameless[row.block.node].append(row)
    covers = {}
    for key, own in lines.items():
        state, why = "read", ""
        if own.doubts:
            state = "cut"
            why = "; ".join(own.doubts)
        elif nameless[key]:
            first = nameless[key][0]
            count = len(nameless[key])
            missing = next(name for name in sorted(keys) if first.values.get(name) is None)
            at = f"{first.block.address}:{first.line}"
            state = "unparsed"
            why = f"1 line of `{hit.log}` ({at}) does not state {missing}"
            if count > 1:
                why = f"{count:,} lines of `{hit.log}` (first: {at}) do not state {missing}"
        covers[key] = Coverage(state, why, rescan=own.rescan)
    return covers
