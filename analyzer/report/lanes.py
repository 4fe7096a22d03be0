"""The time line of a case: one strip of moments a machine over a common axis, the worst machine first."""

from __future__ import annotations

from typing import Any

from analyzer.case.ranking import rank_hosts
from analyzer.report import incident, wording
from analyzer.report.sparkline import strip
from analyzer.report.time_axis import TimeAxis, time_axis
from analyzer.runtime.text import natural_key

Doc = dict[str, Any]

SHOWN = 8  # strips that stand open
PROBLEMS = ("hit", "event")  # moments of a finding, and what a host calls a problem


def axis(doc: Doc) -> TimeAxis | None:
    """Return the axis of the moments of a case, around the incident where one is given; None without a moment."""
    times = [
        time for event in doc["timeline"] if (time := wording.epoch(event["time"])) is not None
    ]
    span = doc["case"]["span"]
    ends = [wording.epoch(span["first"]), wording.epoch(span["last"])] if span else []
    known = [end for end in ends if end is not None] or times
    if not times:
        return None
    centre = wording.epoch(doc["case"]["incident"])
    if centre is not None:
        return time_axis([*times, centre], centre - incident.WINDOW, centre + incident.WINDOW)
    return time_axis(times, min(known), max(*known, *times))


def lanes(doc: Doc, over: TimeAxis | None) -> list[Doc]:
    """Return one strip a machine, the worst first."""
    if over is None:
        return []
    timed = [
        (time, event)
        for event in doc["timeline"]
        if (time := wording.epoch(event["time"])) is not None
    ]
    centre = wording.epoch(doc["case"]["incident"])
    first, last = over.parts[0].first, over.parts[-1].last
    out = []
    for node in dict.fromkeys(event["node"] for _, event in timed if event["kind"] != "incident"):
        mine = [(time, event) for time, event in timed if event["node"] == node]
        moments = [
            (time, event["kind"], f"{wording.stamp(time)} {event['text'][:200]}")
            for time, event in mine
        ]
        moments += (
            []
            if centre is None
            else [(centre, "incident", f"{wording.stamp(centre)} the incident")]
        )
        out.append(
            {
                "node": node,
                "svg": strip(moments, over, f"{len(mine):,} moments of {node or 'the case'}"),
                "earlier": sum(time < first for time, _ in mine),
                "later": sum(time > last for time, _ in mine),
            }
        )
    places = rank_hosts(doc["findings"])
    return sorted(
        out, key=lambda lane: (places.get(lane["node"], len(places)), natural_key(lane["node"]))
    )


def moments(doc: Doc) -> tuple[list[Doc], list[Doc]]:
    """Return the problems among the moments, and the others: boots, captures, the incident.

    A line that a finding rests on is told as that alone, also where the host calls it a problem itself.
    """
    told = {
        (one["node"], one["address"], one["line"])
        for one in doc["timeline"]
        if one["kind"] == "hit"
    }
    some = [
        one
        for one in doc["timeline"]
        if one["kind"] != "event"
        or not one["address"]
        or (one["node"], one["address"], one["line"]) not in told
    ]
    return [one for one in some if one["kind"] in PROBLEMS], [
        one for one in some if one["kind"] not in PROBLEMS
    ]
