"""The axis of the time line: real times, no empty years, nothing on top of anything."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from analyzer.case.ranking import rank_hosts
from analyzer.report import lanes
from analyzer.report.time_axis import LABEL, SHORT, WIDTH, build_time_axis
from tests.kit.case_factory import rich_case

DAY = 86400.0
YEAR = 365 * DAY


def test_empty_years_are_cut_out_and_told() -> None:
    """Two days of events with four years between them take nearly the whole axis; the gap is told with its ends."""
    early = [hour * 3600.0 for hour in range(0, 24, 2)]
    late = [4 * YEAR + time for time in early]
    axis = build_time_axis([*early, *late], early[0], late[-1])
    assert len(axis.parts) == 2
    assert sum(part.right - part.left for part in axis.parts) > 0.9 * WIDTH
    assert axis.list_breaks() == ["1970-01-01 22:00 to 1973-12-31 00:00 (1459 d)"]
    assert axis.find_place(2 * YEAR) is None


def test_an_even_week_stays_whole() -> None:
    """Nothing is cut out of a span in which things happen all the time; a place is proportional to its time."""
    times = [hour * 3600.0 for hour in range(0, 7 * 24, 3)]
    axis = build_time_axis(times, times[0], times[-1])
    assert len(axis.parts) == 1
    assert axis.list_breaks() == []
    assert axis.find_place((times[0] + times[-1]) / 2) == WIDTH / 2
    assert [mark.text for mark in axis.list_labels()][1:-1] == ["1970-01-03", "1970-01-05"]


@given(st.lists(st.floats(0, 50 * YEAR), min_size=1, max_size=30))
def test_every_moment_has_a_place_in_its_order(times: list[float]) -> None:
    """Whatever the times: each is on the axis, later ones never left of earlier ones, labels never overlap."""
    axis = build_time_axis(times, min(times), max(times))
    places = [axis.find_place(time) for time in sorted(times)]
    assert all(place is not None and 0 <= place <= WIDTH + 1e-6 for place in places)
    assert all(
        one is not None and two is not None and one <= two + 1e-6 for one, two in pairwise(places)
    )
    marks = axis.list_labels()
    ends = [
        mark.at if mark.last else mark.at + (LABEL if len(mark.text) > 10 else SHORT)
        for mark in marks
    ]
    starts = [mark.at - LABEL if mark.last else mark.at for mark in marks]
    assert all(end <= start + 1e-6 for end, start in zip(ends, starts[1:], strict=False))


def test_problems_come_first_and_a_line_once() -> None:
    """Moments with a problem are apart from boots and captures; a line that a finding rests on is told once."""
    doc = rich_case()
    hit = next(one for one in doc.timeline if one.kind == "hit")
    doc.timeline.append(structs.replace(hit, kind="event", rule=""))
    trouble, others = lanes.split_moments(doc)
    assert {one.kind for one in trouble} <= {"hit", "event"}
    assert not {one.kind for one in others} & {"hit", "event"}
    assert len(trouble) + len(others) == len(doc.timeline) - 1


def test_the_worst_host_has_the_first_strip() -> None:
    """Of several machines the one with the worst finding comes first, however much another one logs."""
    doc = rich_case()
    worst = min(rank_hosts(doc.findings).items(), key=lambda item: item[1])[0]
    moment = next(one for one in doc.timeline if one.kind == "hit")
    doc.timeline += [structs.replace(moment, node="zzz", line=number) for number in range(50)]
    assert lanes.build_lanes(doc, lanes.build_axis(doc))[0].node == worst != "zzz"
