"""One event in two logs of a machine: both lines are kept, one of them counts.

Two lines are one event when they stand in different logs of one node, agree in the columns that the table names
(`Table.once`) and in the named groups of the pattern, and were written within a second; or within a minute when their
text is the same, as an agent may be late. Each line is the twin of one other at most, so that an event that comes
again soon is never lost. The limits are our own.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence

from analyzer.artefacts.tables import Table
from analyzer.judge.log_hits import LogHit

CLOSE, SAME = 1.0, 60.0  # seconds between two lines of one event; when they have the same text


def mark(table: Table, found: Sequence[LogHit]) -> None:
    """Set `again` of every line, in order of time, whose event a line of another log tells.

    Lines of the log that holds all events count before those of the others.
    """
    alike: defaultdict[Hashable, list[LogHit]] = defaultdict(list)
    for one in found:
        groups = tuple(str(one.values.get(name)) for name in sorted(one.hit.groups))
        alike[one.node, tuple(one.values.get(name) for name in table.once), groups].append(one)
    whole = {name.partition(".")[2] for name in table.inside}
    for lines in alike.values():
        logs = sorted({_log(one) for one in lines}, key=lambda log: (log not in whole, log))
        counted = [one for one in lines if _log(one) == logs[0]]
        for log in logs[1:]:
            own = [one for one in lines if _log(one) == log]
            _pair(counted, own)
            counted = sorted(
                (*counted, *(one for one in own if not one.values["again"])),
                key=lambda one: one.order,
            )


def _pair(counted: Iterable[LogHit], own: Iterable[LogHit]) -> None:
    """Pair lines of one log with those that count already: first those of one text, then those close in time."""
    free, left = _matched(counted, own, SAME, text=True)
    _matched(free, left, CLOSE, text=False)


def _matched(
    counted: Iterable[LogHit], own: Iterable[LogHit], within: float, *, text: bool
) -> tuple[list[LogHit], list[LogHit]]:
    """Set `again` of lines that have a partner so near, each with the earliest that is free; return what is left."""
    waiting: defaultdict[str, deque[LogHit]] = defaultdict(deque)
    for one in counted:
        waiting[_text(one) if text else ""].append(one)
    passed: list[LogHit] = []
    left = []
    for one in own:
        free = waiting[_text(one) if text else ""]
        while free and one.order[0] - free[0].order[0] > within:
            passed.append(free.popleft())
        if free and (free[0].order[0] == one.order[0] or free[0].order[0] - one.order[0] <= within):
            free.popleft()
            one.values["again"] = True
        else:
            left.append(one)
    rest = [*passed, *(one for free in waiting.values() for one in free)]
    return sorted(rest, key=lambda one: one.order), left


def _text(one: LogHit) -> str:
    return str(one.values.get("message"))


def _log(one: LogHit) -> str:
    return str(one.values.get("log"))
