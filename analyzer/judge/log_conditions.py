"""Conditions on a node's logs: counts, windows, sequences and silence, three-valued.

One line may be in several files (rotated copies, two archives of one host): of one text the
member that holds it most often counts. Windows slide. Without enough hits the answer is
"no" only when the log was read whole; a time that a line does not state is unknown, never
guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.logtime import log_time
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Column, Row, Table, Value, cell_of
from analyzer.case.verdicts import Evidence, Reason
from analyzer.facts import Facts
from analyzer.facts.database import fitting
from analyzer.judge.case_rows import parse_moment
from analyzer.judge.closures import Closures, Env, Fn
from analyzer.judge.log_answers import (
    EPOCH,
    SEVERAL,
    HitLines,
    LogAnswer,
    LogHit,
    accept_few,
    answer_count,
    answer_lasting,
    answer_sequence,
    count_messages,
    format_iso,
    format_stamp,
    get_order,
    is_plain,
    parse_seconds,
    split_by_subject,
)
from analyzer.judge.subjects import nodes_of
from analyzer.rules import LogDef, Rule, SeenDef
from analyzer.rules.column_usage import line_columns
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.own import Key, OwnColumn, OwnScope
from analyzer.scan.hits import Hit, LogScan

# Seconds between two lines of one event; when they have the same text, as an agent may be late. Our own limits.
CLOSE, SAME = 1.0, 60.0
PAUSE_S = 60  # between the last line of a rotated copy and the first of the next
# vmkernel.log, vmkernel.0.gz, vmkernel.log.1.gz, messages.2: stem and number of a rotated copy
_MEMBER = re.compile(
    r"(?P<stem>.+?)(?:\.(?P<dot>\d{1,4}))?(?:\.(?:log|all))?(?:\.(?P<end>\d{1,4}))?(?:\.(?:gz|bz2|xz|zst))?$"
)
_PARSING = Lock()  # parsers may keep a state; rules are judged in several threads


LINES_KNOWN = 12_000  # cells of messages that are kept: those of one storm, as all its rules see it
FEWEST_OF_A_LOG = 50  # lines of a log without a bundle; fewer are what somebody chose


def explain_unsearched(log: LogDef) -> str:
    """Return why nothing is known of a signature in a stored case, and what helps: the customer has nothing to send."""
    return f"the signature `{log.name}` was not searched when this case was stored; `backline batch --rescan` does"


def explain_missing_log(facts: Facts, node: str, log: Table) -> str:
    """Return that a log of a node, or of the case, is not there."""
    where = f" of {facts.name(node)}" if node else ""
    return f"{log.words}{where} is not in the case"


@dataclass(slots=True)
class Answers:
    """The answers of one `seen` name on one node.

    default  of the machine; in a rule whose subjects have lines of their own, of a subject without any
    keyed    of the subjects that have lines, by key
    unknown  of a subject whose key is not known
    """

    scope: OwnScope
    default: LogAnswer
    keyed: dict[Key, LogAnswer] = field(default_factory=dict)
    unknown: LogAnswer = field(default_factory=LogAnswer)

    def find_answer(self, key: Key) -> LogAnswer:
        """Return the answer for a subject."""
        if not self.scope.keys:
            return self.default
        if None in key:
            return self.unknown
        return self.keyed.get(key, self.default)

    def find_common(self) -> bool | None:
        """Return what the answer is for every subject, None where they differ or it is not known."""
        values = {self.default.value, *(answer.value for answer in self.keyed.values())}
        if self.scope.keys:
            values.add(self.unknown.value)
        return values.pop() if len(values) == 1 else None


def list_gates(rule: Rule) -> frozenset[str]:
    """Return the questions about several lines without which a rule says nothing.

    One that chooses between answers is none of them, as the rule has an answer for fewer lines; nor is one that is
    asked to be false.
    """
    if all(seen.at_least < SEVERAL for seen in rule.seen.values()):
        return frozenset()
    nodes = [*rule.when.walk()]
    if any(node.op == "not" for node in nodes):
        return frozenset()
    conditions = [one.when for one in rule.outcomes] + [one.when for one in rule.grades]
    choosing = {leaf.name for node in conditions for leaf in node.walk() if leaf.op == "seen"}
    asked = {leaf.name for leaf in nodes if leaf.op == "seen"} - choosing
    return frozenset(name for name in asked if rule.seen[name].at_least >= SEVERAL)


class Logs:
    """The hits of one rule in one case, node by node.

    parsed  name of a signature -> whether its lines are parsed; shared by the cases of one rule
    """

    def __init__(self, rule: Rule, facts: Facts, parsed: dict[str, bool] | None = None) -> None:
        self.rule = rule
        self.facts = facts
        self.scopes = nodes_of(rule).scopes
        self.gates = list_gates(rule)
        self._parsed = {} if parsed is None else parsed
        self._hits: dict[tuple[str, str], HitLines] = {}
        self._once: dict[tuple[str, str], HitLines] = {}
        self._gaps: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._own: dict[
            tuple[str, str, tuple[tuple[OwnColumn, str], ...]], tuple[dict[Key, HitLines], HitLines]
        ] = {}

    def answer_node(self, node: str) -> dict[str, Answers]:
        """Return the answers of every `seen` name for one node."""
        return {name: self.answer_seen(seen, node) for name, seen in self.rule.seen.items()}

    def collect_evidence(self, name: str, answer: LogAnswer) -> list[Evidence]:
        """Return the lines an answer rests on, as many as its signature keeps: the first, those by which it
        became true, and the last; that one says how many more there are.
        """
        keep = max(self.rule.logs[log].keep for log in self.rule.seen[name].logs)
        chosen = answer.choose_lines(keep)
        shown = []
        for line in chosen:
            label = f"{name} ({line.times:,} times in one line)" if line.times > 1 else name
            hit = line.hit
            taken = "" if line.time is None else format_iso(format_stamp(line.time))
            shown.append(
                Evidence(
                    label=label,
                    address=hit.address,
                    line=hit.line,
                    text=hit.text,
                    before=list(hit.before),
                    after=list(hit.after),
                    taken=taken,
                    node=self.facts.name(line.node),
                )
            )
        count = max(count_messages(answer.hits), answer.count or 0)
        left = count - count_messages(chosen)
        if left > 0 and shown:
            noun = "lines" if left > 1 else "line"
            shown[-1].label += f" ({left:,} more {noun} of it not shown)"
        return shown

    # -- answers

    def answer_seen(self, seen: SeenDef, node: str) -> Answers:
        """Answer a question for the machine, or for each subject that has lines of its own."""
        logs = [self.rule.logs[name] for name in seen.logs]
        scope = self.scopes.get(seen.name, OwnScope())
        whole = [self._find_counted(log, node) for log in logs]
        if not scope.keys:
            return Answers(scope, self._answer(seen, logs, node, whole))
        places = []  # of each signature: the places of a key that its columns fill
        groups = []
        empty = []
        for log in logs:
            places.append(sorted({place for place, _ in scope.of(log.name)}))
            own, rest = self._split(log, node, scope)
            groups.append(own)
            empty.append(rest)
        default = self._answer(seen, logs, node, empty)
        answers = Answers(scope, default)
        whole_key = list(range(len(scope.keys)))
        finest = groups[places.index(whole_key)]
        for key in finest:
            pools = []
            for filled, own, rest in zip(places, groups, empty, strict=True):
                part = tuple(key[place] for place in filled)
                pools.append(own.get(part, rest))
            answers.keyed[key] = self._answer(seen, logs, node, pools)
        answers.unknown = self._answer(seen, logs, node, whole)
        if answers.unknown.value is not default.value:  # the lines may be those of any subject
            names = ", ".join(key.mine.rpartition(".")[2] for key in scope.keys)
            lines = " and ".join(seen.logs)
            why = f"{names} is not known, so it is not known which lines of {lines} belong to it"
            answers.unknown = LogAnswer(reason=Reason.UNPARSED, missing=logs[0].table.name, why=why)
        return answers

    def _split(
        self, log: LogDef, node: str, scope: OwnScope
    ) -> tuple[dict[Key, HitLines], HitLines]:
        """Return the lines of a signature by the subject they belong to, and what a subject without any has."""
        columns = tuple((scope.keys[place], column) for place, column in scope.of(log.name))
        key = (log.name, node, columns)
        if key not in self._own:
            self._own[key] = split_by_subject(log, self._find_counted(log, node), scope)
        return self._own[key]

    def _answer(
        self, seen: SeenDef, logs: Sequence[LogDef], node: str, pools: Sequence[HitLines]
    ) -> LogAnswer:
        """Answer a question from the lines of its signatures, minding what was not seen."""
        if seen.silence:
            answer = self._answer_silence(seen, logs[0], node, pools[0])
            if answer.value is None:
                self._doubt(answer, logs, node)
            return answer
        if seen.sequence:
            answer = answer_sequence(seen, pools)
        elif seen.lasting:
            answer = answer_lasting(seen, pools, self._find_span(logs[1], node)[1])
            if answer.value is True:  # an end that was not read may have come in time
                self._doubt(answer, logs[1:], node)
        else:
            answer = answer_count(seen, pools[0])
            if seen.name in self.gates and self._is_excerpt(logs[0], node):
                accept_few(seen, answer)
        if answer.value is True:
            answer.more = self._explain_more(seen, logs, node, pools)
        else:
            self._doubt(answer, logs, node)
        return answer

    def _is_excerpt(self, log: LogDef, node: str) -> bool:
        """Say whether all that is there of a log are lines that somebody chose: of no bundle, and few or an excerpt."""
        scans = self.find_scans(log, node)
        if not all(self.facts.nodes[scan.node].loose for scan in scans):
            return False
        whole = sum(scan.lines for scan in scans if not scan.excerpt)
        return bool(scans) and whole < FEWEST_OF_A_LOG

    def _explain_more(
        self, seen: SeenDef, logs: Sequence[LogDef], node: str, pools: Sequence[HitLines]
    ) -> str:
        """Return why there may be more lines than an answer counts, "" when there are none."""
        # A plain count counts what was not kept as well.
        plain = is_plain(seen) and not seen.in_order
        unkept = max(pool.unkept or (0 if plain else pool.uncounted) for pool in pools)
        if unkept:
            return f"{unkept:,} lines of {' and '.join(seen.logs)} were not kept"
        for log in logs:
            signature = self.name_signature(log)
            if any(signature in scan.at_least for scan in self.find_scans(log, node)):
                return f"not every line of {log.name} was counted"
        return ""

    def _doubt(self, answer: LogAnswer, logs: Sequence[LogDef], node: str) -> None:
        """Turn "no" into "unknown" where a log was not read, or not whole."""
        for log in logs:
            gap = self._find_gap(log, node)
            if gap is None:
                continue
            answer.value = None
            answer.count = None
            answer.reason, answer.why = gap
            answer.missing = log.table.name
            answer.rescan = self.is_unsearched(log, self._list_nodes(log, node))
            return
        if answer.value is None and not answer.reason:
            table = logs[0].table.name
            answer.reason = Reason.UNPARSED
            answer.missing = table
            answer.why = (
                f"lines of {table} that matter here have no time or no value, or were not kept"
            )

    # -- silence

    def _answer_silence(self, seen: SeenDef, log: LogDef, node: str, pool: HitLines) -> LogAnswer:
        """Answer "none for 24h": the last stretch of the log, if the log reaches back so far without a hole."""
        table = log.table.name
        begin = float("-inf")
        inside = pool.sure
        doubtful = []
        first, last = self._find_span(log, node)
        if seen.within:
            if first is None or last is None:
                gap = self._find_gap(log, node)
                if gap is not None:
                    # No log, or only lines taken out of it, whose times are not its ends.
                    hits = [*pool.sure, *pool.maybe]
                    return LogAnswer(hits=hits, reason=gap[0], missing=table, why=gap[1])
                return LogAnswer(reason=Reason.OUTSIDE, missing=table, why=f"{table} has no times")
            begin = last - seen.within
            inside = [line for line in pool.sure if line.time is not None and line.time > begin]
            doubtful = [line for line in pool.sure if line.time is None]
        for line in [*pool.maybe, *pool.strays[-1:]]:
            if line.time is None or line.time > begin:
                doubtful.append(line)
        if inside:
            return LogAnswer(False, len(inside), inside)
        if doubtful:
            return LogAnswer(hits=doubtful)
        if pool.unkept:
            latest = max(
                (line.order[0] for line in self._find_counted(log, node).sure),
                default=float("-inf"),
            )
            if latest > begin:
                return LogAnswer()
        if first is not None and seen.within and first > begin:
            why = (
                f"{table} begins at {format_stamp(first)}, after the start of the time in question"
            )
            return LogAnswer(reason=Reason.OUTSIDE, missing=table, why=why)
        hole = find_hole(self.find_scans(log, node), begin)
        if hole:
            return LogAnswer(reason=Reason.OUTSIDE, missing=table, why=hole)
        known = self._find_gap(log, node) is None
        return LogAnswer(True if known else None, 0)

    def _find_span(self, log: LogDef, node: str) -> tuple[float | None, float | None]:
        """Return the times of the first and the last line of a log."""
        firsts = []
        lasts = []
        for scan in self.find_scans(log, node):
            if scan.excerpt:
                continue
            first = read_raw_time(scan.first_stamped)
            last = read_raw_time(scan.last_stamped)
            if first is not None:
                firsts.append(first)
            if last is not None:
                lasts.append(last)
        return min(firsts, default=None), max(lasts, default=None)

    # -- what was not seen

    def _find_gap(self, log: LogDef, node: str) -> tuple[str, str] | None:
        """Return why a signature may have lines that were not seen, None when it has not."""
        key = (log.name, node)
        if key not in self._gaps:
            self._gaps[key] = self._look_for_gap(log, node)
        return self._gaps[key]

    def _look_for_gap(self, log: LogDef, node: str) -> tuple[str, str] | None:
        """Return why lines may not have been seen: of the first node that says so."""
        nodes = self._list_nodes(log, node)
        words = log.table.words
        if not nodes:
            return Reason.MISSING, explain_missing_log(self.facts, node, log.table)
        if self.is_unsearched(log, nodes):
            return Reason.UNREADABLE, explain_unsearched(log)
        for key in nodes:
            name = self.facts.name(key)
            covered = self.facts.coverage(key, log.table.name)
            if covered.state == "excerpt":
                return Reason.OUTSIDE, covered.why
            if covered.state == "cut":
                return Reason.UNREADABLE, covered.why or f"{words} of {name} ended early"
            if covered.state == "unparsed":
                return Reason.UNPARSED, covered.why or f"lines of {words} were not understood"
            if not self.facts.nodes[key].complete:
                why = f"the archive of {name} ended early; nothing after that point was read"
                return Reason.UNREADABLE, why
        signature = self.name_signature(log)
        # A plain count minds lines that were not kept itself.
        minds_all = log.where is not None or any(
            seen.in_order and log.name in seen.logs for seen in self.rule.seen.values()
        )
        for scan in self.find_scans(log, node):
            stop = scan.stopped.get(signature)
            if stop is not None and stop.lines:
                why = f"the signature `{log.name}` took too long in {scan.address}: {stop}"
                return Reason.UNREADABLE, why
            if signature in scan.capped and minds_all:
                why = f"not every line of `{log.name}` in {scan.address} was kept"
                return Reason.UNREADABLE, why
        return None

    def is_unsearched(self, log: LogDef, nodes: Collection[str]) -> bool:
        """Say whether a log of some nodes was stored without a search for a signature."""
        signature = self.name_signature(log)
        scans = self.facts.scans_on(log.table.name, nodes)
        return any(signature in scan.unsearched for scan in scans)

    def find_scans(self, log: LogDef, node: str) -> list[LogScan]:
        """Return what was found in the log of a signature on a node."""
        return self.facts.scans_on(log.table.name, self._list_nodes(log, node))

    def name_signature(self, log: LogDef) -> str:
        """Return the name of a signature in a scan."""
        return f"{self.rule.id}/{log.name}"

    def _list_nodes(self, log: LogDef, node: str) -> list[str]:
        """Return the nodes whose log a signature is looked for in."""
        if log.any_node:
            return self.facts.nodes_with(log.table.name)
        return [node] if self.facts.is_with(log.table.name, node) else []

    # -- hits

    def _find_counted(self, log: LogDef, node: str) -> HitLines:
        """Return the hits of a signature that count: a line that two logs have counts once."""
        key = (log.name, "" if log.any_node else node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, self._list_nodes(log, node))
        if not log.table.once:
            return self._hits[key]
        if key not in self._once:
            self._once[key] = self._hits[key].drop_twins()
        return self._once[key]

    def find_hits(self, log: LogDef, node: str) -> HitLines:
        """Return the hits of a signature on one node."""
        key = (log.name, node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, [node])
        return self._hits[key]

    def _collect(self, log: LogDef, nodes: Collection[str]) -> HitLines:
        """Collect the hits of a signature on some nodes, of copies of a line one."""
        signature = self.name_signature(log)
        copies: defaultdict[tuple[str, str], dict[str, list[Hit]]] = defaultdict(dict)
        uncounted = 0
        for scan in self.facts.scans_on(log.table.name, nodes):
            own = scan.of(signature)
            uncounted += max(0, scan.counts.get(signature, len(own)) - len(own))
            for hit in own:
                copies[scan.node, hit.text].setdefault(hit.address, []).append(hit)
        parse = bool(copies) and (log.table.shares_files or self._wants_columns(log))
        found = []
        for (node, _), members in copies.items():
            for hit in max(members.values(), key=len):
                line = self._read_hit(log, node, hit, parse=parse)
                if line is not None:
                    found.append(line)
        found.sort(key=get_order)
        if log.table.once:
            mark_twins(log.table, found)
        if log.where is None:
            return HitLines(found, [], uncounted)
        if not found:
            return HitLines()
        sure, maybe = split_by_where(log, log.where, found)
        return HitLines(sure, maybe)

    def _read_hit(self, log: LogDef, node: str, hit: Hit, *, parse: bool) -> LogHit | None:
        """Return a hit with its values; None where the line is another log's that shares the file of this one."""
        values: dict[str, Any] = dict(hit.groups)
        for group, word in log.otherwise:
            if values.get(group) is None:
                values[group] = word
        message = find_message(hit)
        when = log_time(message[0])
        written = None if when is None else (when.when - EPOCH).total_seconds()
        if written is not None and not parse:
            return LogHit(hit, node, written, values)
        captured = self.facts.nodes[node].captured
        block = Block(message, hit.line - len(message) + 1, hit.address, taken=captured)
        parsed = self._parse_cells(log.table.name, block)
        if parsed is None and log.table.shares_files:
            return None
        cells: dict[str, Any] = dict(parsed or {})
        cells.update((name, value) for name, value in values.items() if value is not None)
        time = parse_seconds(str(cells["time"])) if cells.get("time") else None
        return LogHit(hit, node, written if time is None else time, cells)

    def _parse_cells(self, table: str, block: Block) -> Mapping[str, Value] | None:
        """Return the cells of a message, which the signatures of several rules may have found; None without a row."""
        known = self.facts.parsed_lines
        key = table, block.address, block.first_line, block.taken, *block.lines
        if key not in known:
            if len(known) >= LINES_KNOWN:
                known.clear()
            row = parse_message(table, block)
            known[key] = None if row is None else row.values
        return known[key]

    def _wants_columns(self, log: LogDef) -> bool:
        """Say whether the rule reads columns of the log; the time of a line is known without its parser.

        A `where` that reads nothing but named groups needs none of them.
        """
        if log.name not in self._parsed:
            wanted = line_columns(self.rule, log.name) - {"time"}
            if log.where is not None:
                wanted |= {leaf.column for leaf in log.where.walk() if leaf.op == "column"}
            self._parsed[log.name] = any(log.table.column(name) is not None for name in wanted)
        return self._parsed[log.name]


# -- one line


def find_message(hit: Hit) -> list[str]:
    """Return the lines of a message from its head to the hit: a line without a time belongs to the head above it."""
    if log_time(hit.text) is not None:
        return [hit.text]
    above = hit.before
    for place in range(len(above) - 1, -1, -1):
        if log_time(above[place]) is not None:
            return [*above[place:], hit.text]
    return [hit.text]


def parse_message(table: str, block: Block) -> Row | None:
    """Return the row that the parser of a log makes of the lines of one message; None when it makes none."""
    for parser in find_parsers(table):
        with _PARSING:
            items = list(parser.parse(block))
        for item in items:
            if isinstance(item, Row) and item.table.name == table:
                return item
    return None


@cache
def find_parsers(table: str) -> list[Parser]:
    """Return the parsers of a log: a storm of lines asks for them once."""
    return [
        parser
        for parser in parsing.registry().values()
        if parser.log and any(own.name == table for own in parser.tables)
    ]


def split_by_where(
    log: LogDef, where: ExprNode, lines: Iterable[LogHit]
) -> tuple[list[LogHit], list[LogHit]]:
    """Return the lines for which the `where` of their signature holds, and those for which that is unknown."""
    holds = Closures(LineValues(log), texts=True)(where)
    sure = []
    maybe = []
    for line in lines:
        answer = holds([line.values])
        if answer:
            sure.append(line)
        elif answer is None:
            maybe.append(line)
    return sure, maybe


class LineValues:
    """What the `where` of a signature asks of one line: its columns and named groups."""

    def __init__(self, log: LogDef) -> None:
        self.kinds = {column.name: column.kind for column in log.table.columns}

    def make_cell(self, _alias: str, column: str) -> Fn:
        """Return what gives a column of a line as its kind, or a named group as text."""
        kind = self.kinds.get(column, "str")

        def read_cell(env: Env) -> Any:
            value = env[0].get(column)
            if value is None:
                return None
            if kind in ("str", "version"):
                return str(value)
            if isinstance(value, str) and kind != "time":
                value = cell_of(Column(column, kind, ""), value)
            value = fitting(value, kind)
            return parse_moment(value) if kind == "time" and value is not None else value

        return read_cell

    def make_presence(self, _alias: str) -> Fn:
        """Return what tells whether there is a line."""
        return lambda _: True

    def make_doubt(self, _alias: str) -> Fn:
        """Return what tells whether the line may be missing."""
        return lambda _: False

    def make_seen(self, name: str, part: str) -> Fn:
        """Raise: a line asks nothing of other lines."""
        raise NotImplementedError(name, part)

    def make_parts(self, node: ExprNode) -> Fn:
        """Raise: a line has no rows of other tables."""
        raise NotImplementedError(node.text)

    def add_memo(self) -> int:
        """Raise: a line names no values."""
        raise NotImplementedError


# -- one event in two logs


def mark_twins(table: Table, lines: Sequence[LogHit]) -> None:
    """Set `again` of every line, in order of time, whose event a line of another log has too: one of them counts.

    Two lines are one event when different logs of one node hold them, they agree in the columns that the table names
    (`Table.once`) and in the named groups of the pattern, and were written within a second; or within a minute when
    their text is the same. Each line is the twin of one other at most, so that an event that comes again soon is
    never lost. Lines of the log that holds all events count before those of the others.
    """
    alike: defaultdict[Hashable, list[LogHit]] = defaultdict(list)
    for line in lines:
        groups = tuple(str(line.values.get(name)) for name in sorted(line.hit.groups))
        cells = tuple(line.values.get(name) for name in table.once)
        alike[line.node, cells, groups].append(line)
    whole = {name.partition(".")[2] for name in table.inside}
    for event in alike.values():
        by_log: defaultdict[str, list[LogHit]] = defaultdict(list)
        for line in event:
            by_log[str(line.values.get("log"))].append(line)
        logs = sorted(by_log, key=lambda log: (log not in whole, log))
        counted = by_log[logs[0]]
        for log in logs[1:]:
            own = by_log[log]
            free, left = pair_lines(counted, own, SAME, same_text=True)
            pair_lines(free, left, CLOSE, same_text=False)
            new = [line for line in own if not line.values["again"]]
            counted = sorted([*counted, *new], key=get_order)


def pair_lines(
    counted: Iterable[LogHit], own: Iterable[LogHit], within: float, *, same_text: bool
) -> tuple[list[LogHit], list[LogHit]]:
    """Set `again` of lines that have a partner so near, each with the earliest that is free; return what is left."""

    def read_text(line: LogHit) -> str:
        return str(line.values.get("message")) if same_text else ""

    waiting: defaultdict[str, deque[LogHit]] = defaultdict(deque)
    for line in counted:
        waiting[read_text(line)].append(line)
    passed: list[LogHit] = []
    left = []
    for line in own:
        time = line.order[0]
        free = waiting[read_text(line)]
        while free and time - free[0].order[0] > within:
            passed.append(free.popleft())
        # Lines without a time have an infinite one, whose difference is no number.
        if free and (free[0].order[0] == time or free[0].order[0] - time <= within):
            free.popleft()
            line.values["again"] = True
        else:
            left.append(line)
    for free in waiting.values():
        passed += free
    return sorted(passed, key=get_order), left


# -- the members of one log


def read_raw_time(line: bytes) -> float | None:
    """Return the seconds of the epoch at which a raw line was written, None when it has no time."""
    when = log_time(line)
    return (when.when - EPOCH).total_seconds() if when else None


def find_hole(scans: Iterable[LogScan], begin: float) -> str:
    """Return in words which copy between two others is missing, if lines after `begin` may have been in it.

    Copies are numbered from the newest on; the current file has no number. Whether counting starts with 0 or 1
    differs: there a pause between the times decides.
    """
    families: defaultdict[str, dict[int, LogScan]] = defaultdict(dict)
    for scan in scans:
        stem, number = read_copy_number(scan.address)
        families[stem].setdefault(number, scan)
    for _, copies in sorted(families.items()):
        for missing in list_missing_copies(copies, begin):
            return missing
    return ""


def read_copy_number(address: str) -> tuple[str, int]:
    """Return the path of a log without the number of the copy, and that number, -1 for the current file."""
    folder, slash, name = address.rpartition("/")
    match = _MEMBER.match(name)
    if match is None:
        return address, -1
    number = match["dot"] or match["end"]
    return f"{folder}{slash}{match['stem']}", int(number) if number else -1


def list_missing_copies(copies: dict[int, LogScan], begin: float) -> Iterator[str]:
    """Yield in words which numbers are missing between two copies of one log."""
    for newer, older in pairwise(sorted(copies)):
        gap = older - newer
        first = read_raw_time(copies[newer].first_stamped)
        last = read_raw_time(copies[older].last_stamped)
        if gap == 1 or (first is not None and first <= begin):
            continue
        paused = first is not None and last is not None and first - last > PAUSE_S
        if (newer, older) == (-1, 1) and not paused:
            continue
        which = f"{newer + 1}" if gap == 2 else f"{newer + 1} to {older - 1}"
        between = f"{copies[older].address} and {copies[newer].address}"
        yield f"the rotated copy {which} between {between} is not in the case"
