"""Do the logs cover the incident? Of each log one answer, in words, as all reports give it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from analyzer.case.document import CaseDocument, CaseNode, NodeLog
from analyzer.report import machines
from analyzer.report.wording import format_duration, format_time, parse_time

WINDOW = 12 * 3600.0  # seconds before and after the incident that the strips of the time line show
A_MINUTE = 60.0  # seconds that the uptime and the first line of a boot may lie apart: vm-support takes its time


@dataclass(frozen=True, slots=True)
class IncidentCover:
    """Whether one log of a node covers the incident, and how it does not."""

    node: str
    log: str
    covers: bool
    text: str


def list_answers(doc: CaseDocument) -> list[IncidentCover]:
    """Return one answer for each log of the case, those that do not cover the incident first."""
    when = parse_time(doc.case.incident)
    if when is None:
        return []
    answers = []
    for node in doc.nodes:
        for log in node.logs:
            covers, text = check_log(log, when)
            answers.append(IncidentCover(machines.name_node(node), str(log.table), covers, text))
    return sorted(answers, key=lambda one: one.covers)


def check_log(log: NodeLog, when: float) -> tuple[bool, str]:
    """Return whether a log covers a time, and how in words."""
    before, after = [], []
    for part in log.parts:
        first = parse_time(part.first)
        last = parse_time(part.last)
        if first is None or last is None:
            continue
        if first <= when < last + 1:
            return True, "covers it"
        if last < when:
            before.append(last)
        if first > when:
            after.append(first)
    if not before and not after:
        return False, "cannot tell: the times of its files are not known"
    if not before:
        late = format_duration(min(after) - when)
        return False, f"begins {late} after it: its older files are missing"
    if not after:
        return False, f"ends {format_duration(when - max(before))} before it"
    begin = format_time(max(before))
    end = format_time(min(after))
    gap = f"{begin} to {end}"
    return False, f"has nothing from {gap}: a file may be missing, or the clock was set forward"


def describe_boot(node: CaseNode, log: NodeLog) -> str:
    """Return which boot of the host the lines of a log belong to, by its uptime at the capture; "" if unknown."""
    captured = parse_time(node.captured)
    uptime = node.uptime_s
    first = parse_time(log.first)
    last = parse_time(log.last)
    if captured is None or not isinstance(uptime, int | float) or first is None or last is None:
        return ""
    booted = captured - uptime
    boot = f"the boot of {format_time(booted)}"
    if first >= booted - A_MINUTE:
        return f"all since {boot}"
    if last < booted - A_MINUTE:
        return f"all before {boot}"
    return f"also before {boot}"


def describe_gaps(log: NodeLog) -> str:
    """Return between which times the files of a log leave something out, "" when they go on with one another."""
    gaps = []
    for earlier, later in pairwise(log.parts):
        end = format_time(earlier.last)
        start = format_time(later.first)
        gaps.append(f"{end} to {start}")
    if not gaps:
        return ""
    more = ""
    if len(gaps) > 3:
        more = f" and {len(gaps) - 3:,} more"
    return f"nothing from {', '.join(gaps[:3])}{more}"


def list_boots(doc: CaseDocument) -> list[str]:
    """Return for each node the last boot before the incident and the first after it."""
    when = parse_time(doc.case.incident)
    if when is None:
        return []
    boots: dict[str, list[float]] = {}
    for event in doc.timeline:
        times = boots.setdefault(event.node, [])
        time = None
        if event.kind == "boot":
            time = parse_time(event.time)
        if time is not None:
            times.append(time)
    names = machines.name_nodes(doc)
    sentences = []
    for node, times in boots.items():
        before = max((time for time in times if time <= when), default=None)
        after = min((time for time in times if time > when), default=None)
        words = []
        for time, word in ((before, "before"), (after, "after")):
            if time is not None:
                length = format_duration(abs(time - when))
                words.append(f"booted {length} {word} it ({format_time(time)})")
        if words:
            name = names.get(node, node)
            sentences.append(f"{name} {' and '.join(words)}")
    return sentences


def summarize_incident(doc: CaseDocument) -> str:
    """Return in one sentence how many logs cover the incident, and where it lies."""
    answers = list_answers(doc)
    covering = sum(answer.covers for answer in answers)
    verb = "cover"
    if covering == 1:
        verb = "covers"
    text = "the case holds no log"
    if answers:
        text = f"{covering:,} of {len(answers):,} logs {verb} it"
    return f"Incident at {format_time(doc.case.incident)}: {text}"
