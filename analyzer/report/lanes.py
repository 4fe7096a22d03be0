"""The time line of a case: one strip of moments a machine over a common axis, the worst machine first."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from analyzer.case.document import CaseDocument, Event
from analyzer.case.ranking import rank_hosts
from analyzer.report import incident
from analyzer.report.sparkline import draw_strip
from analyzer.report.time_axis import TimeAxis, build_time_axis
from analyzer.report.wording import format_time, parse_time
from analyzer.runtime.text import natural_key

PROBLEMS = ("hit", "event")  # moments of a finding, and what a host calls a problem


@dataclass(slots=True)
class Lane:
    """The strip of one machine, and how many of its moments are earlier and later than the axis."""

    node: str
    svg: Markup
    earlier: int
    later: int


def build_axis(doc: CaseDocument) -> TimeAxis | None:
    """Return the axis of the moments of a case, around the incident where one is given; None without a moment."""
    times = [time for time, _ in _list_timed(doc)]
    if not times:
        return None
    centre = parse_time(doc.case.incident)
    if centre is not None:
        return build_time_axis([*times, centre], centre - incident.WINDOW, centre + incident.WINDOW)
    span = doc.case.span
    ends = []
    if span:
        ends = [parse_time(span.first), parse_time(span.last)]
    known = [end for end in ends if end is not None] or times
    return build_time_axis(times, min(known), max(*known, *times))


def _list_timed(doc: CaseDocument) -> list[tuple[float, Event]]:
    """Return the events that have a time, each with it."""
    timed = []
    for event in doc.timeline:
        time = parse_time(event.time)
        if time is not None:
            timed.append((time, event))
    return timed


def build_lanes(doc: CaseDocument, axis: TimeAxis | None) -> list[Lane]:
    """Return one strip a machine, the worst first."""
    if axis is None:
        return []
    first = axis.parts[0].first
    last = axis.parts[-1].last
    mark = []
    centre = parse_time(doc.case.incident)
    if centre is not None:
        mark = [(centre, "incident", f"{format_time(centre)} the incident")]
    timed = _list_timed(doc)
    lanes = []
    for node in dict.fromkeys(event.node for _, event in timed if event.kind != "incident"):
        moments = []
        for time, event in timed:
            if event.node == node:
                text = f"{format_time(time)} {event.text[:200]}"
                moments.append((time, event.kind, text))
        title = f"{len(moments):,} moments of {node or 'the case'}"
        lane = Lane(
            node,
            draw_strip([*moments, *mark], axis, title),
            earlier=sum(time < first for time, _, _ in moments),
            later=sum(time > last for time, _, _ in moments),
        )
        lanes.append(lane)
    places = rank_hosts(doc.findings)
    return sorted(
        lanes, key=lambda lane: (places.get(lane.node, len(places)), natural_key(lane.node))
    )


def split_moments(doc: CaseDocument) -> tuple[list[Event], list[Event]]:
    """Return the problems among the moments, and the others: boots, captures, the incident.

    A line that a finding rests on is only shown as that, also where the host calls it a problem itself.
    """
    cited = set()
    for event in doc.timeline:
        if event.kind == "hit":
            cited.add((event.node, event.address, event.line))
    problems, others = [], []
    for event in doc.timeline:
        if event.kind not in PROBLEMS:
            others.append(event)
            continue
        line = (event.node, event.address, event.line)
        if event.kind == "hit" or not event.address or line not in cited:
            problems.append(event)
    return problems, others
