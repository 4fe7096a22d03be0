"""Counts lines, three-valued: in the whole log, in sliding windows, by value, one after another.

Each question costs one pass over its lines, once they are in order: lines of one subject, value or file are
grouped first, never looked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.judge.log_hits import LogAnswer, LogHit, messages
from analyzer.rules import SeenDef

CHAINS = 50  # of a sequence that was seen more often only so many are kept, and the last


@dataclass(slots=True)
class HitLines:
    """The lines of a signature that one answer is about, in order of time and place.

    sure, maybe  those that count, and those of which that is not known
    uncounted    lines that match and were not kept
    strays       lines that may belong here, as they do not tell whose they are, in their order
    unkept       lines that were not kept and may belong here
    """

    sure: list[LogHit] = field(default_factory=list)
    maybe: list[LogHit] = field(default_factory=list)
    uncounted: int = 0
    strays: Sequence[LogHit] = ()
    unkept: int = 0
    _timed: list[LogHit] | None = None
    _orders: list[tuple[float, str, int]] = field(default_factory=list)
    _by: dict[str, dict[Any, HitLines]] = field(default_factory=dict)

    def counting(self) -> HitLines:
        """Return these without the lines whose event another log tells (`Table.once`)."""
        sure, maybe = (
            [one for one in own if not one.values.get("again")] for own in (self.sure, self.maybe)
        )
        return HitLines(sure, maybe, self.uncounted, self.strays, self.unkept)

    @property
    def doubtful(self) -> int:
        """Number of messages that may count, beside the sure ones; a line of unknown owner counts once."""
        return messages(self.maybe) + self.uncounted + len(self.strays) + self.unkept

    def timed(self) -> tuple[list[LogHit], list[tuple[float, str, int]]]:
        """Return the lines that have a time, and their sort keys."""
        if self._timed is None:
            self._timed = [one for one in self.sure if one.time is not None]
            self._orders = [one.order for one in self._timed]
        return self._timed, self._orders

    def by(self, column: str) -> dict[Any, HitLines]:
        """Return the sure lines by the value of a column, in order of the values' text."""
        if column not in self._by:
            groups: defaultdict[Any, list[LogHit]] = defaultdict(list)
            for one in self.sure:
                if one.values.get(column) is not None:
                    groups[one.values[column]].append(one)
            self._by[column] = {key: HitLines(groups[key]) for key in sorted(groups, key=str)}
        return self._by[column]


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


def count(seen: SeenDef, pool: HitLines) -> LogAnswer:
    """Answer a count, in the whole log or in a sliding window, plain, per value or of distinct values."""
    sure, more = pool.sure, pool.uncounted
    said = messages(sure)
    plain = not (seen.within or seen.per or seen.distinct)
    if seen.at_least < 1:  # no rule asks so; the tool that moves numbers does
        return LogAnswer(True, said + more, list(sure))
    parts = [_windows(one, seen) for one in (pool.by(seen.per).values() if seen.per else [pool])]
    answer = _answer_count(seen, pool, parts)
    if not plain:
        fullest = max(parts, key=lambda one: one.most, default=Windows())
        answer.reached, answer.window = fullest.most, fullest.fullest
        if answer.value is True and seen.within:  # a sentence names the ends of the fullest window
            answer.deciding = [fullest.fullest[0], fullest.fullest[-1]]
    return answer


def _answer_count(seen: SeenDef, pool: HitLines, parts: Sequence[Windows]) -> LogAnswer:
    """Return whether a count was reached, and with which lines."""
    sure, more = pool.sure, pool.uncounted
    said = messages(sure)
    plain = not (seen.within or seen.per or seen.distinct)
    best = sorted((one for part in parts for one in part.fulfilled), key=lambda one: one.order)
    if best:
        first = min(
            (part.first for part in parts if part.first is not None), key=lambda one: one.order
        )
        return LogAnswer(True, messages(best) + (more if plain else 0), best, deciding=[first])
    if plain and said + more >= seen.at_least:
        return LogAnswer(True, said + more, list(sure))
    untimed = seen.within and any(one.time is None for one in sure)
    told = seen.per or seen.distinct
    nameless = told and any(one.values.get(told) is None for one in sure)
    if (pool.doubtful or untimed or nameless) and said + pool.doubtful >= seen.at_least:
        return LogAnswer(hits=list(sure))
    return LogAnswer(False, said + more, list(sure))


def _windows(pool: HitLines, seen: SeenDef) -> Windows:
    """Return what some lines come to in the windows that slide over them."""
    if not seen.within:
        return _whole(pool.sure, seen)
    timed, _ = pool.timed()
    found = Windows()
    ends = (0, 0)
    done = start = total = 0
    inside: Counter[Any] = Counter()
    for stop, one in enumerate(timed, 1):
        inside[one.values.get(seen.distinct)] += 1
        total += one.times
        while (timed[start].time or 0.0) < (one.time or 0.0) - seen.within:
            gone = timed[start].values.get(seen.distinct)
            inside[gone] -= 1
            total -= timed[start].times
            if not inside[gone]:
                del inside[gone]
            start += 1
        reached = len(inside) - (None in inside) if seen.distinct else total
        if reached > found.most:
            found.most, ends = reached, (start, stop)
        if reached >= seen.at_least:
            found.first = found.first or one
            found.fulfilled += timed[max(start, done) : stop]
            done = stop
    found.fullest = timed[ends[0] : ends[1]]
    return found


def _whole(lines: list[LogHit], seen: SeenDef) -> Windows:
    """Return what some lines come to together: how many they are, or how many different values they have."""
    found = Windows(fullest=lines)
    values: set[Any] = set()
    for one in lines:
        values.add(one.values.get(seen.distinct))
        found.most = len(values) - (None in values) if seen.distinct else found.most + one.times
        if found.first is None and found.most >= seen.at_least:
            found.first = one
            if not (seen.distinct or seen.per):
                break  # nothing asks how many there are
    if found.first is not None:
        found.fulfilled = lines
    return found


def sequence(seen: SeenDef, pools: Sequence[HitLines]) -> LogAnswer:
    """Answer a sequence: a line of each signature in their order, from the first to the last within the span."""
    chains: list[list[LogHit]] = []
    last: list[LogHit] = []
    number = 0
    for some in _parted(seen.per, pools):
        for chain in _chains(some, seen.within or float("inf")):
            number += 1
            if len(chains) < CHAINS:
                chains.append(chain)
            last = max(
                last, chain, key=lambda one: one[-1].order if one else (float("-inf"), "", 0)
            )
    if number:
        hits = {id(one): one for chain in [*chains, last] for one in chain}
        first = min(chains, key=lambda one: one[0].order)
        return LogAnswer(
            True, number, sorted(hits.values(), key=lambda one: one.order), deciding=first
        )
    untimed = any(
        pool.sure and pool.sure[-1].time is None for pool in pools
    )  # they stand at the end
    each = all(pool.sure or pool.maybe or pool.strays or pool.unkept for pool in pools)
    if each and (untimed or any(pool.maybe or pool.strays or pool.unkept for pool in pools)):
        return LogAnswer(hits=[one for pool in pools for one in pool.sure[:CHAINS]])
    return LogAnswer(False, 0)


def lasting(seen: SeenDef, pools: Sequence[HitLines], reach: float | None) -> LogAnswer:
    """Answer whether something lasted longer than the span: from a line that begins it to the next that ends it.

    reach  when the log of the ends was last written, as far as that is known: what has no end goes on until then
    """
    begins, ends = pools
    found: list[list[LogHit]] = []
    open_: LogHit | None = None
    undecided = False
    lines = [(one.order, 0, one) for one in begins.timed()[0]] + [
        (one.order, 1, one) for one in ends.timed()[0]
    ]
    for _, kind, one in sorted(lines, key=lambda line: (line[0][0], line[1])):
        if kind == 0:
            open_ = open_ or one
        elif open_ is not None:
            if (one.time or 0.0) - (open_.time or 0.0) > seen.within:
                found.append([open_, one])
            open_ = None
    if open_ is not None:
        if reach is not None and reach - (open_.time or 0.0) > seen.within:
            found.append([open_])
        else:
            undecided = True
    if found and not ends.doubtful:
        hits = [one for pair in [*found[:CHAINS], *found[CHAINS:][-1:]] for one in pair]
        return LogAnswer(True, len(found), hits, deciding=found[0])
    untimed = any(one.time is None for pool in pools for one in pool.sure)
    if found or undecided or untimed or begins.doubtful:
        return LogAnswer(hits=begins.sure[:CHAINS])
    return LogAnswer(False, 0)


def _parted(per: str, pools: Sequence[HitLines]) -> Iterable[Sequence[HitLines]]:
    """Yield the lines of each signature for each value of a column, or as they are."""
    if not per:
        yield pools
        return
    none = HitLines()
    for value in pools[0].by(per):
        yield [pool.by(per).get(value, none) for pool in pools]


def _chains(pools: Sequence[HitLines], within: float) -> Iterator[list[LogHit]]:
    """Yield, for each first line, the earliest lines that follow it in order."""
    if not all(pool.sure for pool in pools):
        return
    for first in pools[0].timed()[0]:
        chain = [first]
        for pool in pools[1:]:
            after = _after(pool, chain[-1])
            if after is None:
                break
            chain.append(after)
        if len(chain) == len(pools) and (chain[-1].time or 0.0) - (first.time or 0.0) <= within:
            yield chain


def _after(pool: HitLines, before: LogHit) -> LogHit | None:
    """Return the earliest line after another: by time, and at the same time in one file by line."""
    timed, orders = pool.timed()
    time, address, line = before.order
    place = bisect_left(orders, (time, "", 0))
    if place < len(timed) and orders[place][:2] == (time, address):
        place = bisect_right(orders, (time, address, line))
    return timed[place] if place < len(timed) else None
