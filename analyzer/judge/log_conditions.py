"""Conditions on a node's logs: counts, windows, sequences and silence, three-valued.

A line stands in several files (rotated copies, two archives of one host): of one text the
member that holds it most often counts. Windows slide. Without enough hits the answer is
"no" only when the log was read whole; times that a line does not tell are unknown, never
guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts.logtime import log_time
from analyzer.artefacts.tables import Block, Table
from analyzer.case.verdicts import Evidence, Reason
from analyzer.facts import Facts
from analyzer.judge import twins
from analyzer.judge.line_conditions import message_lines, parsed_line, parted_by_where
from analyzer.judge.log_hits import EPOCH, LogAnswer, LogHit, iso, messages, seconds, stamp
from analyzer.judge.own_lines import by_subject, chosen, of_nobody, ordered, places
from analyzer.judge.rotated import hole, raw_time
from analyzer.judge.subjects import nodes_of
from analyzer.judge.windows import HitLines, count, lasting, sequence
from analyzer.rules import LogDef, Rule, SeenDef
from analyzer.rules.column_usage import line_columns
from analyzer.rules.own import Key, OwnColumn, OwnScope
from analyzer.scan.hits import Hit, LogScan


def not_searched(log: LogDef) -> str:
    """Return why nothing is known of a signature in a stored case, and what helps: the customer has nothing to send."""
    return f"the signature `{log.name}` was not searched when this case was stored; `backline batch --rescan` does"


def log_missing(facts: Facts, node: str, log: Table) -> str:
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

    def of(self, key: Key) -> LogAnswer:
        """Return the answer for a subject."""
        if not self.scope.keys:
            return self.default
        return self.unknown if None in key else self.keyed.get(key, self.default)

    def common(self) -> bool | None:
        """Return what the answer is for every subject, None where they differ or it is not known."""
        values = {self.default.value, *(answer.value for answer in self.keyed.values())}
        values |= {self.unknown.value} if self.scope.keys else set()
        return values.pop() if len(values) == 1 else None


class Logs:
    """The hits of one rule in one case, node by node.

    parsed  name of a signature -> whether its lines are parsed; shared by the cases of one rule
    """

    def __init__(self, rule: Rule, facts: Facts, parsed: dict[str, bool] | None = None) -> None:
        self.rule, self.facts = rule, facts
        self.scopes = nodes_of(rule).scopes
        self._parsed = {} if parsed is None else parsed
        self._hits: dict[tuple[str, str], HitLines] = {}
        self._once: dict[tuple[str, str], HitLines] = {}
        self._gaps: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._own: dict[
            tuple[str, str, tuple[tuple[OwnColumn, str], ...]], tuple[dict[Key, HitLines], HitLines]
        ] = {}

    def answers(self, node: str) -> dict[str, Answers]:
        """Return the answers of every `seen` name for one node."""
        return {name: self._answers(seen, node) for name, seen in self.rule.seen.items()}

    def evidence(self, name: str, answer: LogAnswer) -> list[Evidence]:
        """Return the lines an answer rests on, as many as its signature keeps: the first, those by which it
        became true, and the last; that one says how many more there are.
        """
        keep = max(self.rule.logs[log].keep for log in self.rule.seen[name].logs)
        some = chosen(answer, keep)
        left = max(messages(answer.hits), answer.count or 0) - messages(some)
        shown = [self._evidence(name, found) for found in some]
        if left > 0 and shown:
            shown[-1].label += f" ({left:,} more {'lines' if left > 1 else 'line'} of it not shown)"
        return shown

    def _evidence(self, name: str, found: LogHit) -> Evidence:
        return Evidence(
            label=f"{name} ({found.times:,} times in one line)" if found.times > 1 else name,
            address=found.hit.address,
            line=found.hit.line,
            text=found.hit.text,
            before=list(found.hit.before),
            after=list(found.hit.after),
            taken=iso(stamp(found.time)) if found.time is not None else "",
            node=self.facts.name(found.node),
        )

    def _answers(self, seen: SeenDef, node: str) -> Answers:
        """Answer a question for the machine, or for each subject that has lines of its own."""
        logs = [self.rule.logs[name] for name in seen.logs]
        scope = self.scopes.get(seen.name, OwnScope())
        whole = [self._of(log, node) for log in logs]
        if not scope.keys:
            return Answers(scope, self._answer(seen, logs, node, whole))
        parts = [(scope.of(log.name), *self._parted(log, node, scope)) for log in logs]
        finest = next(
            groups
            for columns, groups, _ in parts
            if {place for place, _ in columns} == places(scope)
        )
        none = HitLines()

        def answer(key: Key) -> LogAnswer:
            pools = [
                groups.get(tuple(key[place] for place in ordered(columns)), empty)
                if columns
                else groups.get((), none)
                for columns, groups, empty in parts
            ]
            return self._answer(seen, logs, node, pools)

        default = self._answer(seen, logs, node, [empty for _, _, empty in parts])
        answers = Answers(scope, default, {key: answer(key) for key in finest})
        answers.unknown = self._answer(seen, logs, node, whole)
        if answers.unknown.value is not default.value:  # the lines may be those of any subject
            answers.unknown = of_nobody(seen, logs[0], scope)
        return answers

    def _parted(
        self, log: LogDef, node: str, scope: OwnScope
    ) -> tuple[dict[Key, HitLines], HitLines]:
        """Return the lines of a signature by the subject they belong to, and what a subject without any has."""
        columns = tuple((scope.keys[place], column) for place, column in scope.of(log.name))
        key = (log.name, node, columns)
        if key not in self._own:
            self._own[key] = by_subject(log, self._of(log, node), scope)
        return self._own[key]

    def _answer(
        self, seen: SeenDef, logs: Sequence[LogDef], node: str, pools: Sequence[HitLines]
    ) -> LogAnswer:
        if seen.silence:
            answer = self._silence(seen, logs[0], node, pools[0])
        elif seen.sequence:
            answer = sequence(seen, pools)
        elif seen.lasting:
            answer = lasting(seen, pools, self._span(logs[1], node)[1])
            if answer.value is True:  # an end that was not read may have come in time
                self._doubt(answer, logs[1:], node)
        else:
            answer = count(seen, pools[0])
        if answer.value is True and not seen.silence:
            answer.more = self._more(seen, logs, node, pools)
        if answer.value is not True and not (seen.silence and answer.value is False):
            self._doubt(answer, logs, node)
        return answer

    def _more(
        self, seen: SeenDef, logs: Sequence[LogDef], node: str, pools: Sequence[HitLines]
    ) -> str:
        """Return why there may be more lines than an answer counts, "" when there are none."""
        plain = not (
            seen.in_order or seen.within or seen.per or seen.distinct
        )  # counts what was not kept as well
        unkept = max(pool.unkept or (0 if plain else pool.uncounted) for pool in pools)
        if unkept:
            return f"{unkept:,} lines of {' and '.join(seen.logs)} were not kept"
        for log in logs:
            nodes = self._nodes(log, node)
            if any(self._name(log) in scan.at_least for scan in self._scans(log, nodes)):
                return f"not every line of {log.name} was counted"
        return ""

    def _doubt(self, answer: LogAnswer, logs: Sequence[LogDef], node: str) -> None:
        """Turn "no" into "unknown" where a log was not read, or not whole."""
        for log in logs:
            gap = self._gap(log, node)
            if gap is None:
                continue
            answer.value, answer.count = None, None
            answer.reason, answer.why = gap
            answer.missing = log.table.name
            answer.rescan = self.unsearched(log, self._nodes(log, node))
            return
        if answer.value is None and not answer.reason:
            answer.reason, answer.missing = Reason.UNPARSED, logs[0].table.name
            answer.why = f"lines of {logs[0].table.name} that matter here have no time or no value, or were not kept"

    def _gap(self, log: LogDef, node: str) -> tuple[str, str] | None:
        """Return why a signature may have lines that were not seen, None when it has not."""
        key = (log.name, node)
        if key not in self._gaps:
            self._gaps[key] = self._gap_of(log, node)
        return self._gaps[key]

    def _gap_of(self, log: LogDef, node: str) -> tuple[str, str] | None:
        table = log.table.name
        nodes = self._nodes(log, node)
        if not nodes:
            return Reason.MISSING, log_missing(self.facts, node, log.table)
        if self.unsearched(log, nodes):
            return Reason.UNREADABLE, not_searched(log)
        for key in nodes:
            covered = self.facts.coverage(key, table)
            if covered.state == "excerpt":
                return Reason.OUTSIDE, covered.why
            if covered.state == "cut":
                return (
                    Reason.UNREADABLE,
                    covered.why or f"{log.table.words} of {self.facts.name(key)} ended early",
                )
            if covered.state == "unparsed":
                return (
                    Reason.UNPARSED,
                    covered.why or f"lines of {log.table.words} were not understood",
                )
            if not self.facts.nodes[key].complete:
                return (
                    Reason.UNREADABLE,
                    f"the archive of {self.facts.name(key)} ended early; nothing after that point was read",
                )
        passed = (self._passed_over(log, scan) for scan in self._scans(log, nodes))
        why = next(filter(None, passed), "")
        return (Reason.UNREADABLE, why) if why else None

    def _passed_over(self, log: LogDef, scan: LogScan) -> str:
        """Return why the search of a log may have passed lines over that matter, "" when it has not."""
        name = self._name(log)
        stop = scan.stopped.get(name)
        if stop is not None and stop.lines:
            return f"the signature `{log.name}` took too long in {scan.address}: {stop}"
        in_order = any(seen.in_order and log.name in seen.logs for seen in self.rule.seen.values())
        if name in scan.capped and (
            log.where is not None or in_order
        ):  # a plain count minds them itself
            return f"not every line of `{log.name}` in {scan.address} was kept"
        return ""

    def unsearched(self, log: LogDef, nodes: Collection[str]) -> bool:
        """Tell whether a log of some nodes was stored without a search for a signature."""
        return any(self._name(log) in scan.unsearched for scan in self._scans(log, nodes))

    def _scans(self, log: LogDef, nodes: Collection[str]) -> Iterator[LogScan]:
        """Yield what was found in the log of a signature on some nodes."""
        return (scan for scan in self.facts.scans_of(log.table.name) if scan.node in nodes)

    def _name(self, log: LogDef) -> str:
        return f"{self.rule.id}/{log.name}"

    def _nodes(self, log: LogDef, node: str) -> list[str]:
        nodes = self.facts.nodes_with(log.table.name)
        return nodes if log.any_node else [key for key in nodes if key == node]

    def _of(self, log: LogDef, node: str) -> HitLines:
        """Return the hits of a signature that count: a line that two logs have counts once."""
        key = (log.name, "" if log.any_node else node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, set(self._nodes(log, node)))
        if not log.table.once:
            return self._hits[key]
        if key not in self._once:
            self._once[key] = self._hits[key].counting()
        return self._once[key]

    def on(self, log: LogDef, node: str) -> tuple[list[LogHit], list[LogHit]]:
        """Return the hits of a signature on one node: those that count, and those that may."""
        key = (log.name, node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, {node})
        return self._hits[key].sure, self._hits[key].maybe

    def _collect(self, log: LogDef, nodes: set[str]) -> HitLines:
        name = f"{self.rule.id}/{log.name}"
        copies: defaultdict[tuple[str, str], dict[str, list[Hit]]] = defaultdict(dict)
        uncounted = 0
        for scan in self._scans(log, nodes):
            own = scan.of(name)
            uncounted += max(0, scan.counts.get(name, len(own)) - len(own))
            for hit in own:
                copies[scan.node, hit.text].setdefault(hit.address, []).append(hit)
        parse = bool(copies) and (log.table.shares_files or self._wants_columns(log))
        made = (
            self._found(log, key, hit, parse=parse)
            for (key, _), members in copies.items()
            for hit in max(members.values(), key=len)
        )
        found = [one for one in made if one is not None]
        found.sort(key=lambda one: one.order)
        if log.table.once:
            twins.mark(log.table, found)
        sure, maybe = parted_by_where(log, found)
        return HitLines(sure, maybe, uncounted if log.where is None else 0)

    def _found(self, log: LogDef, node: str, hit: Hit, *, parse: bool) -> LogHit | None:
        """Return a hit with its values; None where the line is another log's, in whose file those of this one stand."""
        values: dict[str, Any] = dict(hit.groups)
        values |= {group: word for group, word in log.otherwise if values.get(group) is None}
        message = message_lines(hit)
        when = log_time(message[0])
        if when is not None and not parse:
            return LogHit(hit, node, (when.when - EPOCH).total_seconds(), values)
        captured = self.facts.nodes[node].captured
        block = Block(message, hit.line - len(message) + 1, hit.address, taken=captured)
        row = parsed_line(log.table.name, block)
        if row is None and log.table.shares_files:
            return None
        values = {
            **(row.values if row else {}),
            **{k: v for k, v in values.items() if v is not None},
        }
        time = seconds(str(values["time"])) if values.get("time") else None
        if time is None and when is not None:
            time = (when.when - EPOCH).total_seconds()
        return LogHit(hit, node, time, values)

    def _wants_columns(self, log: LogDef) -> bool:
        """Tell whether the rule reads columns of the log; the time of a line is known without its parser.

        A `where` that reads nothing but named groups needs none of them.
        """
        if log.name not in self._parsed:
            wanted = line_columns(self.rule, log.name) - {"time"}
            if log.where is not None:
                wanted |= {leaf.column for leaf in log.where.walk() if leaf.op == "column"}
            self._parsed[log.name] = any(log.table.column(name) is not None for name in wanted)
        return self._parsed[log.name]

    def _silence(self, seen: SeenDef, log: LogDef, node: str, pool: HitLines) -> LogAnswer:
        """Answer "none for 24h": the last stretch of the log, if the log reaches back so far without a hole."""
        first, last = self._span(log, node)
        begin = float("-inf")
        if seen.within:
            if first is None or last is None:
                gap = self._gap(log, node)
                if (
                    gap is not None
                ):  # no log, or only lines taken out of it, whose times are not its ends
                    return LogAnswer(
                        hits=[*pool.sure, *pool.maybe],
                        reason=gap[0],
                        missing=log.table.name,
                        why=gap[1],
                    )
                return LogAnswer(
                    reason=Reason.OUTSIDE,
                    missing=log.table.name,
                    why=f"{log.table.name} has no times",
                )
            begin = last - seen.within
        inside = [found for found in pool.sure if found.time is not None and found.time > begin]
        doubtful = [found for found in pool.sure if found.time is None and seen.within]
        doubtful += [
            found
            for found in [*pool.maybe, *pool.strays[-1:]]
            if found.time is None or found.time > begin
        ]
        if not seen.within:
            inside = pool.sure
        if inside:
            return LogAnswer(False, len(inside), inside)
        if doubtful:
            return LogAnswer(hits=doubtful)
        if pool.unkept and self._latest(log, node) > begin:
            return LogAnswer()
        if first is not None and seen.within and first > begin:
            why = f"{log.table.name} begins at {stamp(first)}, after the start of the time in question"
            return LogAnswer(reason=Reason.OUTSIDE, missing=log.table.name, why=why)
        hole = self._hole(log, node, begin)
        if hole:
            return LogAnswer(reason=Reason.OUTSIDE, missing=log.table.name, why=hole)
        answer = LogAnswer(True, 0)
        self._doubt_silence(answer, log, node)
        return answer

    def _hole(self, log: LogDef, node: str, begin: float) -> str:
        """Return which rotated copy is missing after a time, "" when none is: silence is not heard in a hole."""
        nodes = set(self._nodes(log, node))
        return hole([*self._scans(log, nodes)], begin)

    def _latest(self, log: LogDef, node: str) -> float:
        """Return when the last line of a signature was written, as far as that is known; endless when it is not."""
        return max((one.order[0] for one in self._of(log, node).sure), default=float("-inf"))

    def _doubt_silence(self, answer: LogAnswer, log: LogDef, node: str) -> None:
        if self._gap(log, node) is not None:
            answer.value = None

    def _span(self, log: LogDef, node: str) -> tuple[float | None, float | None]:
        nodes = set(self._nodes(log, node))
        scans = [scan for scan in self._scans(log, nodes) if not scan.excerpt]
        firsts = [time for scan in scans if (time := raw_time(scan.first_stamped)) is not None]
        lasts = [time for scan in scans if (time := raw_time(scan.last_stamped)) is not None]
        return min(firsts, default=None), max(lasts, default=None)
