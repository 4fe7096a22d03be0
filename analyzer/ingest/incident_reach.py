"""What logs say nothing of the time of the incident: their silence proves nothing then, and the verdicts say so.

A log that is busy has lines near any moment it covers; one that is seldom written (vobd.log of a quiet host) has none
for days. So a stretch without lines counts as silence while other logs of the node go on and it is not much longer than
what lies between two lines of that log at other times. Both numbers here are our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from analyzer.facts import Facts
from analyzer.ingest.coverage import seconds

USUAL = 20.0  # times the mean distance of two lines of a log that a stretch without lines may last
LEAST = 60.0  # seconds of such a stretch that never matter: a log goes on within them

Record = dict[str, Any]


def mind(facts: Facts, nodes: Sequence[Record], incident: str) -> None:
    """Note in `facts` which logs do not reach the incident: that they lack a line proves nothing of it.

    nodes     node records of the case document, with the stretches of time of their logs
    incident  ISO 8601 UTC
    """
    when = seconds(incident)
    for node in nodes:
        for table, why in silent(node, when):
            for name in (
                table,
                *(name for name, one in facts.tables.items() if table in one.declared.inside),
            ):
                facts.does_not_reach(node["id"], name, why)


def silent(node: Record, when: float) -> Iterator[tuple[str, str]]:
    """Yield each log of a node that says nothing of a time, and why."""
    parts = {log["table"]: _stretches(log) for log in node["logs"]}
    logging = any(first <= when < last + 1 for own in parts.values() for first, last in own)
    for log in node["logs"]:
        own = parts[log["table"]]
        if not own or any(first - LEAST <= when < last + LEAST for first, last in own):
            continue
        before = max((last for _, last in own if last < when), default=None)
        after = min((first for first, _ in own if first > when), default=None)
        stretch = min(abs(when - one) for one in (before, after) if one is not None)
        if logging and before is not None and stretch <= USUAL * _mean(log, own):
            continue
        yield log["table"], _said(log["table"], node["name"], before, after)


def _said(table: str, node: str, before: float | None, after: float | None) -> str:
    name = table.split(".", 1)[-1]
    if before is None:
        return f"the log {name} of {node} begins at {_stamp(after)}, after the incident: it does not cover it"
    if after is None:
        return f"the log {name} of {node} ends at {_stamp(before)}, before the incident: it does not cover it"
    return f"the log {name} of {node} has nothing from {_stamp(before)} to {_stamp(after)}, where the incident lies"


def _stretches(log: Record) -> list[tuple[float, float]]:
    return [(seconds(part["first"]), seconds(part["last"])) for part in log["parts"]]


def _mean(log: Record, parts: Sequence[tuple[float, float]]) -> float:
    return sum(last - first for first, last in parts) / max(1, int(log["lines"]) - 1)


def _stamp(when: float | None) -> str:
    return "" if when is None else f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S} UTC"
