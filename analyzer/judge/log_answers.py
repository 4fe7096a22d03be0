"""Lines a rule found in logs, and the answers to questions about them, three-valued.

A question counts lines in the whole log, in sliding windows, by value or one after another. Each costs one pass over
its lines, once they are in order: lines of one subject, value or file are grouped first, never looked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from analyzer.artefacts.tables import Value
from analyzer.rules import LogDef, SeenDef
from analyzer.rules.own import Key, OwnScope
from analyzer.scan.hits import Hit

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SEVERAL = 2  # lines of an excerpt that show that something repeats
CHAINS = 50  # of a sequence that was seen more often only so many are kept, and the last
_FOLDED = "message repeated "
_TIMES = re.compile(r"message repeated (\d{1,6}) times: \[")
_AGAIN = re.compile(r"(?:<\d{1,3}>)?\S.{0,300}?\blast message repeated (\d{1,6}) times?\s*$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")

SortKey = tuple[float, str, int]  # time, address, line


@dataclass(slots=True)
class LogHit:
    """A hit with the columns of its log table, its named groups and its time (seconds, or None).

    times  how many messages the line counts for: rsyslog folds equal ones into `message repeated N times: [ … ]`,
           older daemons write `last message repeated N times` below the first of them
    """

    hit: Hit
    node: str
    time: float | None
    values: dict[str, Any] = field(default_factory=dict)
    times: int = 1

    def __post_init__(self) -> None:
        folded = _TIMES.search(self.hit.text) if _FOLDED in self.hit.text else None
        if folded is not None:
            self.times = max(1, int(folded[1]))
        elif self.hit.repeated_below:
            below = next((line for line in self.hit.after if line.strip()), "")
            again = _AGAIN.match(below)
            self.times = 1 + int(again[1]) if again else 1

    @property
    def order(self) -> SortKey:
        """Sort key: by time, then by place."""
        time = float("inf") if self.time is None else self.time
        return time, self.hit.address, self.hit.line


get_order = attrgetter("order")


def count_messages(lines: Iterable[LogHit]) -> int:
    """Return how many messages some lines count for."""
    return sum(line.times for line in lines)


@dataclass(slots=True)
class LogAnswer:
    """What a `seen` name is on one node; `value` None is unknown, for the reason given.

    more      why there may be more lines than were counted, "" when there are none
    deciding  the lines by which it became true: the one that reached a count, the ends of the fullest window, the
              first sequence
    reached   of a question about a window, one value or different values: the most it came to, in one window
    window    the lines of that window, or of that value
    short_of  the count that was asked for, where an excerpt holds fewer lines and these stand for more; else 0
    rescan    True when only another search of the case's own files helps: there is nothing to ask for
    """

    value: bool | None = None
    count: int | None = None
    hits: list[LogHit] = field(default_factory=list)
    reason: str = ""
    missing: str = ""
    why: str = ""
    rescan: bool = False
    more: str = ""
    deciding: list[LogHit] = field(default_factory=list)
    reached: int | None = None
    window: list[LogHit] = field(default_factory=list)
    short_of: int = 0

    @property
    def best(self) -> int:
        """The most it came to: in one window, of one value, or in all."""
        return (self.count or 0) if self.reached is None else self.reached

    def list_fields(self, name: str) -> dict[str, Any]:
        """Return the values behind `name`, `name.count`, `name.first`, `name.last`, `name.lines`.

        Those of a question about a window are of its fullest one: a sentence says how many lines came how close.
        """
        lines = self.hits
        count = self.count
        if self.reached is not None:
            lines = self.window
            count = self.count if self.value is None else self.reached
        times = [line.time for line in lines if line.time is not None]
        places = ", ".join(f"{line.hit.address}:{line.hit.line}" for line in lines[:3])
        return {
            name: self.value,
            f"{name}.count": count,
            f"{name}.first": format_stamp(min(times)) if times else None,
            f"{name}.last": format_stamp(max(times)) if times else None,
            f"{name}.lines": places or None,
        }

    def choose_lines(self, keep: int) -> list[LogHit]:
        """Return the lines that are shown: the first, those that decide and the last; then the next ones."""
        if len(self.hits) <= keep or keep < 2:
            return self.hits[:keep]
        wanted = {id(line): line for line in [self.hits[0], *self.deciding, self.hits[-1]]}
        for line in self.hits[:keep]:
            if len(wanted) < keep:
                wanted.setdefault(id(line), line)
        return sorted(wanted.values(), key=get_order)


def format_stamp(seconds: float) -> str:
    """Return seconds of the epoch as `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC."""
    when = EPOCH + timedelta(seconds=seconds)
    fraction = f".{when.microsecond:06d}" if when.microsecond else ""
    return f"{when.year:04d}-{when:%m-%d %H:%M:%S}{fraction}"


def format_iso(time: str) -> str:
    """Return a UTC time as the case document writes it, `YYYY-MM-DDThh:mm:ssZ`; what is no time stays."""
    if _TIME.match(time):
        return f"{time[:10]}T{time[11:19]}Z"
    return time


def parse_seconds(text: str) -> float | None:
    """Return the seconds of an ISO time in UTC, or None."""
    try:
        when = datetime.fromisoformat(text.rstrip("Z"))
    except ValueError:
        return None
    return (when.replace(tzinfo=UTC) - EPOCH).total_seconds()


@dataclass(slots=True)
class HitLines:
    """The lines of a signature that one answer is about, in order of time and place.

    sure, maybe  those that count, and those of which that is not known
    uncounted    lines that match and were not kept
    strays       lines that may belong here, as they do not name their owner, in their order
    unkept       lines that were not kept and may belong here
    """

    sure: list[LogHit] = field(default_factory=list)
    maybe: list[LogHit] = field(default_factory=list)
    uncounted: int = 0
    strays: Sequence[LogHit] = ()
    unkept: int = 0
    _timed: list[LogHit] | None = None
    _orders: list[SortKey] = field(default_factory=list)
    _groups: dict[str, dict[Any, HitLines]] = field(default_factory=dict)

    def drop_twins(self) -> HitLines:
        """Return these without the lines whose event another log has too (`Table.once`)."""
        sure = [line for line in self.sure if not line.values.get("again")]
        maybe = [line for line in self.maybe if not line.values.get("again")]
        return HitLines(sure, maybe, self.uncounted, self.strays, self.unkept)

    @property
    def doubtful(self) -> int:
        """Number of messages that may count, next to the sure ones; a line of unknown owner counts once."""
        return count_messages(self.maybe) + self.uncounted + len(self.strays) + self.unkept

    @property
    def has_doubts(self) -> bool:
        """Say whether a further line may belong to a sequence."""
        return bool(self.maybe or self.strays or self.unkept)

    def list_timed(self) -> tuple[list[LogHit], list[SortKey]]:
        """Return the lines that have a time, and their sort keys."""
        if self._timed is None:
            self._timed = [line for line in self.sure if line.time is not None]
            self._orders = [line.order for line in self._timed]
        return self._timed, self._orders

    def group_by(self, column: str) -> dict[Any, HitLines]:
        """Return the sure lines by the value of a column, in order of the values' text."""
        if column not in self._groups:
            groups: defaultdict[Any, list[LogHit]] = defaultdict(list)
            for line in self.sure:
                if line.values.get(column) is not None:
                    groups[line.values[column]].append(line)
            self._groups[column] = {key: HitLines(groups[key]) for key in sorted(groups, key=str)}
        return self._groups[column]

    def find_next(self, before: LogHit) -> LogHit | None:
        """Return the earliest line after another: by time, and at the same time in one file by line."""
        timed, orders = self.list_timed()
        time, address, line = before.order
        place = bisect_left(orders, (time, "", 0))
        if place < len(timed) and orders[place][:2] == (time, address):
            place = bisect_right(orders, (time, address, line))
        return timed[place] if place < len(timed) else None


# -- counts


@dataclass(slots=True)
class Windows:
    """What a count came to in the windows of some lines; without a window all of them are one.

    fulfilled  the lines of all windows that reach the count
    first      the line by which the first of them did
    most       what the fullest window came to: lines, or different values
    fullest    the lines of the fullest window, the earliest of several
    """

    fulfilled: list[LogHit] = field(default_factory=list)
    first: LogHit | None = None
    most: int = 0
    fullest: list[LogHit] = field(default_factory=list)


def is_plain(seen: SeenDef) -> bool:
    """Say whether a question counts the lines of a whole log, without a window or a column."""
    return not (seen.within or seen.per or seen.distinct)


def answer_count(seen: SeenDef, pool: HitLines) -> LogAnswer:
    """Answer a count, in the whole log or in a sliding window, plain, per value or of distinct values."""
    if seen.at_least < 1:  # no rule asks so; the tool that moves numbers does
        return LogAnswer(True, count_messages(pool.sure) + pool.uncounted, list(pool.sure))
    pools = pool.group_by(seen.per).values() if seen.per else [pool]
    slide = slide_window if seen.within else count_together
    parts = [slide(lines, seen) for lines in pools]
    answer = compare_count(seen, pool, parts)
    if not is_plain(seen):
        fullest = max(parts, key=lambda part: part.most, default=Windows())
        answer.reached = fullest.most
        answer.window = fullest.fullest
        if answer.value is True and seen.within:  # a sentence names the ends of the fullest window
            answer.deciding = [fullest.fullest[0], fullest.fullest[-1]]
    return answer


def accept_few(seen: SeenDef, answer: LogAnswer) -> None:
    """Let a count be reached by several lines that somebody chose: of a whole log there may be many more.

    One line repeats nothing, and lines that have no time came within no window.
    """
    lines = answer.window if seen.within else answer.hits
    if answer.value is not True and answer.best >= SEVERAL and lines:
        answer.value = True
        answer.short_of = seen.at_least
        answer.deciding = [lines[0], lines[-1]]


def compare_count(seen: SeenDef, pool: HitLines, parts: Sequence[Windows]) -> LogAnswer:
    """Return whether a count was reached, and with which lines."""
    sure = pool.sure
    uncounted = pool.uncounted
    count = count_messages(sure)
    plain = is_plain(seen)
    best = sorted((line for part in parts for line in part.fulfilled), key=get_order)
    if best:
        firsts = [part.first for part in parts if part.first is not None]
        reached = count_messages(best) + (uncounted if plain else 0)
        return LogAnswer(True, reached, best, deciding=[min(firsts, key=get_order)])
    if plain and count + uncounted >= seen.at_least:
        return LogAnswer(True, count + uncounted, list(sure))
    untimed = seen.within and any(line.time is None for line in sure)
    column = seen.per or seen.distinct
    nameless = column and any(line.values.get(column) is None for line in sure)
    doubtful = pool.doubtful
    if (doubtful or untimed or nameless) and count + doubtful >= seen.at_least:
        return LogAnswer(hits=list(sure))
    return LogAnswer(False, count + uncounted, list(sure))


def slide_window(pool: HitLines, seen: SeenDef) -> Windows:
    """Return what some lines come to in the windows that slide over them."""
    timed, _ = pool.list_timed()
    found = Windows()
    ends = (0, 0)
    done = start = total = 0
    inside: Counter[Any] = Counter()
    for stop, line in enumerate(timed, 1):
        inside[line.values.get(seen.distinct)] += 1
        total += line.times
        begin = (line.time or 0.0) - seen.within
        while (timed[start].time or 0.0) < begin:
            gone = timed[start]
            value = gone.values.get(seen.distinct)
            inside[value] -= 1
            if not inside[value]:
                del inside[value]
            total -= gone.times
            start += 1
        reached = len(inside) - (None in inside) if seen.distinct else total
        if reached > found.most:
            found.most = reached
            ends = start, stop
        if reached >= seen.at_least:
            found.first = found.first or line
            found.fulfilled += timed[max(start, done) : stop]
            done = stop
    found.fullest = timed[ends[0] : ends[1]]
    return found


def count_together(pool: HitLines, seen: SeenDef) -> Windows:
    """Return what some lines come to together: how many they are, or how many different values they have."""
    lines = pool.sure
    found = Windows(fullest=lines)
    values: set[Any] = set()
    for line in lines:
        if seen.distinct:
            values.add(line.values.get(seen.distinct))
            found.most = len(values) - (None in values)
        else:
            found.most += line.times
        if found.first is None and found.most >= seen.at_least:
            found.first = line
            if is_plain(seen):
                break  # nothing asks how many there are
    if found.first is not None:
        found.fulfilled = lines
    return found


# -- lines one after another


def answer_sequence(seen: SeenDef, pools: Sequence[HitLines]) -> LogAnswer:
    """Answer a sequence: a line of each signature in their order, from the first to the last within the span."""
    chains: list[list[LogHit]] = []
    last: list[LogHit] = []
    number = 0
    for group in group_pools(seen.per, pools):
        for chain in find_chains(group, seen.within or float("inf")):
            number += 1
            if len(chains) < CHAINS:
                chains.append(chain)
            if not last or chain[-1].order > last[-1].order:
                last = chain
    if number:
        lines = {id(line): line for chain in [*chains, last] for line in chain}
        first = min(chains, key=lambda chain: chain[0].order)
        hits = sorted(lines.values(), key=get_order)
        return LogAnswer(True, number, hits, deciding=first)
    every = all(pool.sure or pool.has_doubts for pool in pools)
    # Lines without a time come last.
    untimed = any(pool.sure and pool.sure[-1].time is None for pool in pools)
    if every and (untimed or any(pool.has_doubts for pool in pools)):
        return LogAnswer(hits=[line for pool in pools for line in pool.sure[:CHAINS]])
    return LogAnswer(False, 0)


def group_pools(per: str, pools: Sequence[HitLines]) -> Iterator[Sequence[HitLines]]:
    """Yield the lines of each signature for each value of a column, or as they are."""
    if not per:
        yield pools
        return
    none = HitLines()
    for value in pools[0].group_by(per):
        yield [pool.group_by(per).get(value, none) for pool in pools]


def find_chains(pools: Sequence[HitLines], within: float) -> Iterator[list[LogHit]]:
    """Yield, for each first line, the earliest lines that follow it in order."""
    if not all(pool.sure for pool in pools):
        return
    for first in pools[0].list_timed()[0]:
        chain = [first]
        for pool in pools[1:]:
            after = pool.find_next(chain[-1])
            if after is None:
                break
            chain.append(after)
        if len(chain) == len(pools) and (chain[-1].time or 0.0) - (first.time or 0.0) <= within:
            yield chain


def answer_lasting(seen: SeenDef, pools: Sequence[HitLines], reach: float | None) -> LogAnswer:
    """Answer whether something lasted longer than the span: from a line that begins it to the next that ends it.

    reach  when the log of the ends was last written, as far as that is known: what has no end goes on until then
    """
    begins, ends = pools
    found: list[list[LogHit]] = []
    opened: LogHit | None = None
    undecided = False
    lines = [(line.time or 0.0, 0, line) for line in begins.list_timed()[0]]
    lines += [(line.time or 0.0, 1, line) for line in ends.list_timed()[0]]
    for time, kind, line in sorted(lines, key=lambda item: item[:2]):
        if kind == 0:
            opened = opened or line
        elif opened is not None:
            if time - (opened.time or 0.0) > seen.within:
                found.append([opened, line])
            opened = None
    if opened is not None:
        if reach is not None and reach - (opened.time or 0.0) > seen.within:
            found.append([opened])
        else:
            undecided = True
    if found and not ends.doubtful:
        shown = [*found[:CHAINS], *found[CHAINS:][-1:]]
        hits = [line for pair in shown for line in pair]
        return LogAnswer(True, len(found), hits, deciding=found[0])
    untimed = any(line.time is None for pool in pools for line in pool.sure)
    if found or undecided or untimed or begins.doubtful:
        return LogAnswer(hits=begins.sure[:CHAINS])
    return LogAnswer(False, 0)


# -- lines of one subject


def split_by_subject(
    log: LogDef, pool: HitLines, scope: OwnScope
) -> tuple[dict[Key, HitLines], HitLines]:
    """Return the lines of a signature by key, and what a subject without lines has; one that names none has all."""
    columns = scope.of(log.name)
    if not columns:
        return {(): pool}, pool
    groups: dict[Key, HitLines] = {}
    strays: list[LogHit] = []
    for lines, certain in ((pool.sure, True), (pool.maybe, False)):
        for line in lines:
            key = read_key(log, line, scope, columns)
            if key is None:
                continue
            if None in key:
                strays.append(line)
                continue
            own = groups.get(key)
            if own is None:
                own = groups[key] = HitLines(strays=strays, unkept=pool.uncounted)
            (own.sure if certain else own.maybe).append(line)
    strays.sort(key=get_order)
    return groups, HitLines(strays=strays, unkept=pool.uncounted)


def read_key(
    log: LogDef, line: LogHit, scope: OwnScope, columns: Iterable[tuple[int, str]]
) -> Key | None:
    """Return the key of a line, None when its columns contradict each other."""
    cells: dict[int, Value] = {}
    for place, column in columns:
        value: Value = line.values.get(column)
        # A group of the name of a column of the log is never that column.
        if log.table.column(column) is not None and any(one.name == column for one in log.columns):
            value = line.hit.groups.get(column)
        cell = scope.keys[place].cell(value)
        if cells.setdefault(place, cell) != cell:
            return None
    return tuple(cells[place] for place in sorted(cells))
