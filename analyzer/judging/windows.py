"""Found lines counted, three-valued: in the whole log, in sliding windows, by value, one after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from analyzer.judging.found import Answer, Found
from analyzer.rules import SeenDef


def count(seen: SeenDef, sure: Sequence[Found], maybe: Sequence[Found], uncounted: int) -> Answer:
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


def sequence(seen: SeenDef, sure: Sequence[list[Found]], maybe: Sequence[list[Found]]) -> Answer:
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
