"""Do the logs cover the incident? Of each log one answer, in words, as all reports tell it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from analyzer.report import crowds, wording
from analyzer.report.wording import Doc

WINDOW = 12 * 3600.0  # seconds before and after the incident that the strips of the time line show
A_MINUTE = 60.0  # seconds that the uptime and the first line of a boot may lie apart: vm-support takes its time


@dataclass(frozen=True, slots=True)
class IncidentCover:
    """Whether one log of a node covers the incident, and how it does not."""

    node: str
    log: str
    covers: bool
    said: str


def list_answers(doc: Doc) -> list[IncidentCover]:
    """Return one answer for each log of the case, those that do not cover the incident first."""
    when = wording.parse_time(doc["case"]["incident"])
    if when is None:
        return []
    found = [
        _answer_for_log(crowds.name_node(node), log, when)
        for node in doc["nodes"]
        for log in node["logs"]
    ]
    return sorted(found, key=lambda one: one.covers)


def _answer_for_log(node: str, log: Doc, when: float) -> IncidentCover:
    ends = [
        (wording.parse_time(part["first"]), wording.parse_time(part["last"]))
        for part in log["parts"]
    ]
    parts = [(first, last) for first, last in ends if first is not None and last is not None]
    table = str(log["table"])
    if not parts:
        return IncidentCover(
            node, table, covers=False, said="cannot tell: the times of its files are not known"
        )
    if any(first <= when < last + 1 for first, last in parts):
        return IncidentCover(node, table, covers=True, said="covers it")
    before = [last for _, last in parts if last < when]
    after = [first for first, _ in parts if first > when]
    if not before:
        said = f"begins {wording.format_duration(min(after) - when)} after it: its older files are missing"
    elif not after:
        said = f"ends {wording.format_duration(when - max(before))} before it"
    else:
        nothing = f"{wording.format_time(max(before))} to {wording.format_time(min(after))}"
        said = f"has nothing from {nothing}: a file may be missing, or the clock was set forward"
    return IncidentCover(node, table, covers=False, said=said)


def describe_boot(node: Doc, log: Doc) -> str:
    """Return which boot of the host the lines of a log belong to, as its uptime at the capture tells; "" if unknown."""
    captured, up = wording.parse_time(node["captured"]), node["uptime_s"]
    first, last = wording.parse_time(log["first"]), wording.parse_time(log["last"])
    if captured is None or not isinstance(up, int | float) or first is None or last is None:
        return ""
    booted = captured - up
    at = wording.format_time(booted)
    if first >= booted - A_MINUTE:
        return f"all since the boot of {at}"
    return (
        f"all before the boot of {at}"
        if last < booted - A_MINUTE
        else f"also before the boot of {at}"
    )


def describe_gaps(log: Doc) -> str:
    """Return between which times the files of a log leave something out, "" when they go on with one another."""
    parts = [(part["first"], part["last"]) for part in log["parts"]]
    between = [
        f"{wording.format_time(one[1])} to {wording.format_time(two[0])}"
        for one, two in pairwise(parts)
    ]
    more = f" and {len(between) - 3:,} more" if len(between) > 3 else ""
    return f"nothing from {', '.join(between[:3])}{more}" if between else ""


def list_boots(doc: Doc) -> list[str]:
    """Return for each node the last boot before the incident and the first after it."""
    when = wording.parse_time(doc["case"]["incident"])
    if when is None:
        return []
    names = crowds.name_nodes(doc)
    told = []
    for node in dict.fromkeys(event["node"] for event in doc["timeline"]):
        times = [
            time
            for event in doc["timeline"]
            if event["node"] == node and event["kind"] == "boot"
            if (time := wording.parse_time(event["time"])) is not None
        ]
        sides = [
            max((t for t in times if t <= when), default=None),
            min((t for t in times if t > when), default=None),
        ]
        words = [
            f"booted {wording.format_duration(abs(time - when))} {word} it ({wording.format_time(time)})"
            for time, word in zip(sides, ("before", "after"), strict=True)
            if time is not None
        ]
        if words:
            told.append(f"{names.get(node, node)} {' and '.join(words)}")
    return told


def summarize_incident(doc: Doc) -> str:
    """Return in one sentence how many logs cover the incident, and where it lies."""
    logs = list_answers(doc)
    covering = sum(one.covers for one in logs)
    verb = "covers" if covering == 1 else "cover"
    said = f"{covering:,} of {len(logs):,} logs {verb} it" if logs else "the case holds no log"
    return f"Incident at {wording.format_time(doc['case']['incident'])}: {said}"
