"""What the logs of a node say to a rule: counts, windows, sequences and silence, three-valued.

A line stands in several files (rotated copies, two archives of one host): of one text the
member that holds it most often counts. Windows slide. Without enough hits the answer is
«no» only when the log was read whole; times that a line does not tell are unknown, never
guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from analyzer import parsing
from analyzer.database import KEY, borrow, give_back, quoted, version_key
from analyzer.facts import Facts
from analyzer.judging.wanted import line_columns
from analyzer.language.logic import Writer
from analyzer.logtime import log_time
from analyzer.rules import LogDef, Rule, SeenDef
from analyzer.scan.hits import Hit, LogScan
from analyzer.tables import SQL_TYPES, Block, Row
from analyzer.verdicts import Evidence, Reason

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_PARSING = Lock()  # parsers may keep a state; rules are judged in several threads
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Found:
    """A hit with the columns of its log table, its named groups and its time (seconds, or None)."""

    hit: Hit
    node: str
    time: float | None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> tuple[float, str, int]:
        """Sort key: by time, then by place."""
        return (float("inf") if self.time is None else self.time, self.hit.address, self.hit.line)


@dataclass(slots=True)
class Answer:
    """What a `seen` name is on one node; `value` None is unknown, for the reason given.

    rescan  True when only another search of the case's own files helps: there is nothing to ask for
    """

    value: bool | None = None
    count: int | None = None
    hits: list[Found] = field(default_factory=list)
    reason: str = ""
    missing: str = ""
    why: str = ""
    rescan: bool = False

    def fields(self, name: str) -> dict[str, Any]:
        """Return the values behind `name`, `name.count`, `name.first`, `name.last`, `name.lines`."""
        times = [found.time for found in self.hits if found.time is not None]
        lines = ", ".join(f"{found.hit.address}:{found.hit.line}" for found in self.hits[:3])
        return {
            name: self.value,
            f"{name}.count": self.count,
            f"{name}.first": stamp(min(times)) if times else None,
            f"{name}.last": stamp(max(times)) if times else None,
            f"{name}.lines": lines or None,
        }


def stamp(seconds: float) -> str:
    """Return seconds of the epoch as `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC."""
    when = _EPOCH + timedelta(seconds=seconds)
    return f"{when.year:04d}-{when:%m-%d %H:%M:%S}" + (f".{when.microsecond:06d}" if when.microsecond else "")


def iso(time: str) -> str:
    """Return a UTC time as the case document writes it, `YYYY-MM-DDThh:mm:ssZ`; what is no time stays."""
    return f"{time[:10]}T{time[11:19]}Z" if _TIME.match(time) else time


def seconds(text: str) -> float | None:
    """Return the seconds of an ISO time in UTC, or None."""
    try:
        return (datetime.fromisoformat(text.rstrip("Z")).replace(tzinfo=UTC) - _EPOCH).total_seconds()
    except ValueError:
        return None


def not_searched(log: LogDef) -> str:
    """Return why nothing is known of a signature in a stored case, and what helps: the customer has nothing to send."""
    return f"the signature `{log.name}` was not searched when this case was stored; `backline batch --rescan` does"


class Logs:
    """The hits of one rule in one case, node by node.

    parsed  name of a signature -> whether its lines are parsed; shared by the cases of one rule
    """

    def __init__(self, rule: Rule, facts: Facts, parsed: dict[str, bool] | None = None) -> None:
        self.rule, self.facts = rule, facts
        self._parsed = {} if parsed is None else parsed
        self._hits: dict[tuple[str, str], tuple[list[Found], list[Found], int]] = {}

    def answers(self, node: str) -> dict[str, Answer]:
        """Return the answer of every `seen` name for one node."""
        return {name: self._answer(seen, node) for name, seen in self.rule.seen.items()}

    def evidence(self, name: str, answer: Answer) -> list[Evidence]:
        """Return the first lines of an answer, as many as its signature keeps."""
        keep = max(self.rule.logs[log].keep for log in self.rule.seen[name].logs)
        return [
            Evidence(
                label=name,
                address=found.hit.address,
                line=found.hit.line,
                text=found.hit.text,
                before=list(found.hit.before),
                after=list(found.hit.after),
                taken=iso(stamp(found.time)) if found.time is not None else "",
                node=self.facts.name(found.node),
            )
            for found in answer.hits[:keep]
        ]

    def _answer(self, seen: SeenDef, node: str) -> Answer:
        logs = [self.rule.logs[name] for name in seen.logs]
        sure, maybe, uncounted = zip(*(self._of(log, node) for log in logs), strict=True)
        if seen.silence:
            answer = self._silence(seen, logs[0], node, sure[0], maybe[0])
        elif seen.sequence:
            answer = _sequence(seen, sure, maybe)
        else:
            answer = _count(seen, sure[0], maybe[0], uncounted[0])
        if answer.value is not True and not (seen.silence and answer.value is False):
            self._doubt(answer, logs, node)
        return answer

    def _doubt(self, answer: Answer, logs: Sequence[LogDef], node: str) -> None:
        """Turn «no» into «unknown» where a log was not read, or not whole."""
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
            answer.why = f"lines of {logs[0].table.name} that matter show no time or no value"

    def _gap(self, log: LogDef, node: str) -> tuple[str, str] | None:
        table = log.table.name
        nodes = self._nodes(log, node)
        if not nodes:
            where = f" of {self.facts.name(node)}" if node else ""
            return Reason.MISSING, f"{log.table.words}{where} is not in the case"
        if self.unsearched(log, nodes):
            return Reason.UNREADABLE, not_searched(log)
        for key in nodes:
            covered = self.facts.coverage(key, table)
            if covered.state == "cut":
                return Reason.UNREADABLE, covered.why or f"{table} of {self.facts.name(key)} ended early"
            if covered.state == "unparsed":
                return Reason.UNPARSED, covered.why or f"lines of {table} were not understood"
            if not self.facts.nodes[key].complete:
                return Reason.UNREADABLE, f"the archive of {self.facts.name(key)} ended early; {table} may go on"
        passed = (self._passed_over(log, scan) for scan in self.facts.scans if scan.node in nodes)
        why = next(filter(None, passed), "")
        return (Reason.UNREADABLE, why) if why else None

    def _passed_over(self, log: LogDef, scan: LogScan) -> str:
        """Return why the search of a log may have passed lines over that matter, "" when it has not."""
        name = self._name(log)
        stop = scan.stopped.get(name)
        if stop is not None and stop.lines:
            return f"the signature `{log.name}` took too long in {scan.address}: {stop}"
        in_order = any(seen.sequence and log.name in seen.logs for seen in self.rule.seen.values())
        if name in scan.capped and (log.where is not None or in_order):  # a plain count minds them itself
            return f"not every line of `{log.name}` in {scan.address} was kept"
        return ""

    def unsearched(self, log: LogDef, nodes: Collection[str]) -> bool:
        """Tell whether a log of some nodes was stored without a search for a signature."""
        return any(self._name(log) in scan.unsearched for scan in self.facts.scans if scan.node in nodes)

    def _name(self, log: LogDef) -> str:
        return f"{self.rule.id}/{log.name}"

    def _nodes(self, log: LogDef, node: str) -> list[str]:
        nodes = self.facts.nodes_with(log.table.name)
        return nodes if log.any_node else [key for key in nodes if key == node]

    def _of(self, log: LogDef, node: str) -> tuple[list[Found], list[Found], int]:
        """Return the hits of a signature: those that count, those that may, and how many were not kept."""
        key = (log.name, "" if log.any_node else node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, set(self._nodes(log, node)))
        return self._hits[key]

    def on(self, log: LogDef, node: str) -> tuple[list[Found], list[Found]]:
        """Return the hits of a signature on one node: those that count, and those that may."""
        key = (log.name, node)
        if key not in self._hits:
            self._hits[key] = self._collect(log, {node})
        return self._hits[key][:2]

    def _collect(self, log: LogDef, nodes: set[str]) -> tuple[list[Found], list[Found], int]:
        name = f"{self.rule.id}/{log.name}"
        copies: defaultdict[tuple[str, str], dict[str, list[Hit]]] = defaultdict(dict)
        uncounted = 0
        for scan in self.facts.scans:
            if scan.table != log.table.name or scan.node not in nodes:
                continue
            own = _hits_of(scan, name)
            uncounted += max(0, scan.counts.get(name, len(own)) - len(own))
            for hit in own:
                copies[scan.node, hit.text].setdefault(hit.address, []).append(hit)
        parse = bool(copies) and (log.where is not None or self._wants_columns(log))
        found = [
            self._found(log, key, hit, parse=parse)
            for (key, _), members in copies.items()
            for hit in max(members.values(), key=len)
        ]
        found.sort(key=lambda one: one.order)
        sure, maybe = _where(log, found)
        return sure, maybe, uncounted if log.where is None else 0

    def _found(self, log: LogDef, node: str, hit: Hit, *, parse: bool) -> Found:
        values: dict[str, Any] = dict(hit.groups)
        when = log_time(hit.text)
        if when is not None and not parse:
            return Found(hit, node, (when.when - _EPOCH).total_seconds(), values)
        captured = self.facts.nodes[node].captured
        block = Block([hit.text], hit.line, hit.address, node, taken=captured)
        row = _parsed(log.table.name, block)
        values = {**(row.values if row else {}), **{k: v for k, v in values.items() if v is not None}}
        time = seconds(str(values["time"])) if values.get("time") else None
        if time is None and when is not None:
            time = (when.when - _EPOCH).total_seconds()
        return Found(hit, node, time, values)

    def _wants_columns(self, log: LogDef) -> bool:
        """Tell whether the rule reads columns of the log; the time of a line is known without its parser."""
        if log.name not in self._parsed:
            wanted = line_columns(self.rule, log.name) - {"time"}
            self._parsed[log.name] = any(log.table.column(name) is not None for name in wanted)
        return self._parsed[log.name]

    def _silence(self, seen: SeenDef, log: LogDef, node: str, sure: list[Found], maybe: list[Found]) -> Answer:
        """Answer «none for 24h»: the last stretch of the log, if the log reaches back so far."""
        first, last = self._span(log, node)
        begin = float("-inf")
        if seen.within:
            if first is None or last is None:
                return Answer(reason=Reason.OUTSIDE, missing=log.table.name, why=f"{log.table.name} shows no times")
            begin = last - seen.within
        inside = [found for found in sure if found.time is not None and found.time > begin]
        doubtful = [found for found in sure if found.time is None and seen.within]
        doubtful += [found for found in maybe if found.time is None or found.time > begin]
        if not seen.within:
            inside = sure
        if inside:
            return Answer(False, len(inside), inside)
        if doubtful:
            return Answer(hits=doubtful)
        if first is not None and seen.within and first > begin:
            why = f"{log.table.name} begins at {stamp(first)}, later than the time asked"
            return Answer(reason=Reason.OUTSIDE, missing=log.table.name, why=why)
        answer = Answer(True, 0)
        self._doubt_silence(answer, log, node)
        return answer

    def _doubt_silence(self, answer: Answer, log: LogDef, node: str) -> None:
        if self._gap(log, node) is not None:
            answer.value = None

    def _span(self, log: LogDef, node: str) -> tuple[float | None, float | None]:
        nodes = set(self._nodes(log, node))
        scans = [scan for scan in self.facts.scans if scan.table == log.table.name and scan.node in nodes]
        firsts = [time for scan in scans if (time := _raw_time(scan.first_stamped)) is not None]
        lasts = [time for scan in scans if (time := _raw_time(scan.last_stamped)) is not None]
        return min(firsts, default=None), max(lasts, default=None)


def _raw_time(line: bytes) -> float | None:
    when = log_time(line)
    return (when.when - _EPOCH).total_seconds() if when else None


def _hits_of(scan: LogScan, name: str) -> list[Hit]:
    own = [hit for hit in scan.hits if hit.signature == name]
    last = scan.last_hits.get(name)
    return [*own, last] if last is not None else own


def _parsed(table: str, block: Block) -> Row | None:
    for parser in parsing.registry().values():
        if parser.log and any(one.name == table for one in parser.tables):
            with _PARSING:
                rows = [item for item in parser.parse(block) if isinstance(item, Row) and item.table.name == table]
            if rows:
                return rows[0]
    return None


def _where(log: LogDef, found: list[Found]) -> tuple[list[Found], list[Found]]:
    """Part hits by the `where` of their signature: those for which it holds, and those for which it is unknown."""
    if log.where is None or not found:
        return found, []
    columns: dict[str, str] = {column.name: SQL_TYPES[column.kind] for column in log.table.columns}
    columns |= dict.fromkeys(log.alias.groups, "VARCHAR")
    data: dict[str, list[Any]] = {name: [one.values.get(name) for one in found] for name in columns}
    for column in log.table.columns:
        if column.kind == "version":
            columns[column.name + KEY] = "VARCHAR"
            data[column.name + KEY] = [version_key(one.values.get(column.name)) for one in found]
    con = borrow()
    try:
        cells = ", ".join(
            f"try_cast(unnest(${number}::VARCHAR[]) AS {kind}) AS {quoted(name)}"
            for number, (name, kind) in enumerate(columns.items(), 1)
        )
        condition = Writer(lambda _, name: quoted(name), texts=True).sql(log.where)
        texts = [[None if cell is None else str(cell) for cell in data[name]] for name in columns]
        answers = [row[0] for row in con.execute(f"SELECT {condition} FROM (SELECT {cells})", texts).fetchall()]
    finally:
        give_back(con, ())
    pairs = list(zip(found, answers, strict=True))
    return [one for one, answer in pairs if answer], [one for one, answer in pairs if answer is None]


def _count(seen: SeenDef, sure: Sequence[Found], maybe: Sequence[Found], uncounted: int) -> Answer:
    """Answer a count, in the whole log or in a sliding window, plain, per value or of distinct values."""
    if seen.at_least < 1:  # no rule asks so; the tool that moves numbers does
        return Answer(True, len(sure) + uncounted, list(sure))
    best: list[Found] = []
    reached = False
    for members in _grouped(seen.per, sure):
        fulfilled = _windows(members, seen)
        if fulfilled:
            reached = True
            best += fulfilled
    if reached:
        more = uncounted if not (seen.within or seen.per or seen.distinct) else 0
        return Answer(True, len(best) + more, sorted(best, key=lambda one: one.order))
    if not (seen.per or seen.distinct or seen.within) and len(sure) + uncounted >= seen.at_least:
        return Answer(True, len(sure) + uncounted, list(sure))
    untimed = [found for found in sure if found.time is None] if seen.within else []
    nameless = [found for found in sure if found.values.get(seen.per or seen.distinct) is None]
    doubtful = bool(maybe or untimed or uncounted or (nameless if seen.per or seen.distinct else ()))
    if doubtful and len(sure) + len(maybe) + uncounted >= seen.at_least:
        return Answer(hits=list(sure))
    return Answer(False, len(sure) + uncounted, list(sure))


def _grouped(column: str, found: Sequence[Found]) -> Iterable[list[Found]]:
    if not column:
        return [list(found)]
    groups: defaultdict[Any, list[Found]] = defaultdict(list)
    for one in found:
        if one.values.get(column) is not None:
            groups[one.values[column]].append(one)
    return [groups[key] for key in sorted(groups, key=str)]


def _windows(found: list[Found], seen: SeenDef) -> list[Found]:
    """Return the hits that lie in some window that fulfils the count."""
    if not seen.within:
        values = {one.values.get(seen.distinct) for one in found} - {None} if seen.distinct else found
        return found if len(values) >= seen.at_least else []
    timed = sorted((one for one in found if one.time is not None), key=lambda one: one.order)
    times = [one.time or 0.0 for one in timed]
    kept: list[Found] = []
    done = start = 0
    inside: Counter[Any] = Counter()
    for stop, time in enumerate(times, 1):
        inside[timed[stop - 1].values.get(seen.distinct)] += 1
        while times[start] < time - seen.within:
            gone = timed[start].values.get(seen.distinct)
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            start += 1
        reached = len(inside) - (None in inside) if seen.distinct else stop - start
        if reached >= seen.at_least:
            kept += timed[max(start, done) : stop]
            done = stop
    return kept


def _sequence(seen: SeenDef, sure: Sequence[list[Found]], maybe: Sequence[list[Found]]) -> Answer:
    """Answer a sequence: a hit of each signature in their order, from the first to the last within the span."""
    hits: list[Found] = []
    count = 0
    values = {one.values.get(seen.per) for one in sure[0]} - {None} if seen.per else {None}
    for value in sorted(values, key=str):
        chains = [[one for one in found if not seen.per or one.values.get(seen.per) == value] for found in sure]
        for chain in _chains(chains, seen.within or float("inf")):
            count += 1
            hits += [one for one in chain if one not in hits] if count <= 50 else []
    if count:
        return Answer(True, count, sorted(hits, key=lambda one: one.order))
    untimed = any(one.time is None for found in sure for one in found)
    each = all(one or two for one, two in zip(sure, maybe, strict=True))
    if each and (untimed or any(maybe)):
        return Answer(hits=[one for found in sure for one in found])
    return Answer(False, 0)


def _chains(logs: Sequence[list[Found]], within: float) -> Iterator[list[Found]]:
    """Yield, for each first hit, the earliest hits that follow it in order."""
    timed = [sorted((one for one in found if one.time is not None), key=lambda one: one.order) for found in logs]
    times = [[one.time or 0.0 for one in found] for found in timed]
    for first in timed[0]:
        chain = [first]
        for found, stamps in zip(timed[1:], times[1:], strict=True):
            place = bisect_left(stamps, chain[-1].time or 0.0)
            while place < len(found) and not _follows(found[place], chain[-1]):
                place += 1
            if place == len(found):
                break
            chain.append(found[place])
        if len(chain) == len(timed) and (chain[-1].time or 0.0) - (first.time or 0.0) <= within:
            yield chain


def _follows(one: Found, before: Found) -> bool:
    """Tell whether a hit comes after another: by time, and at the same time in one file by line."""
    if one.time != before.time or one.hit.address != before.hit.address:
        return True
    return one.hit.line > before.hit.line
