"""The axis of the time line: real times without the empty years between them.

A stretch in which nothing happens, longer than a quarter of what is left of the axis, is cut out and drawn as a break
with its length. A place on the axis is a number from 0 to `WIDTH`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from analyzer.report import wording

WIDTH = 1000.0
BREAK = 22.0  # room of a break
LEAST = 60.0  # room of a stretch, however short
SHORTEST = 3600.0  # seconds of a stretch worth cutting out
SHARE = 0.25  # of what is left: an empty stretch that takes more is cut out
CUTS = 5
LABELS = 6  # round times on the whole axis
LABEL, SHORT = 150.0, 95.0  # room of a date with its minute, and of one of them
_STEPS = (
    1,
    5,
    15,
    60,
    300,
    900,
    3600,
    3 * 3600,
    6 * 3600,
    12 * 3600,
    86400,
    2 * 86400,
    7 * 86400,
    30 * 86400,
    365 * 86400,
)


@dataclass(frozen=True, slots=True)
class AxisPart:
    """A stretch of time that is drawn: seconds since 1970, and its places."""

    first: float
    last: float
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class AxisMark:
    """A label at a place of the axis.

    spare  a narrow screen has no room for it
    last   it ends at its place instead of starting there
    """

    at: float
    text: str
    spare: bool = False
    last: bool = False


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Stretches of time from left to right, with a break between each two."""

    parts: list[AxisPart]

    def find_place(self, time: float) -> float | None:
        """Return where a time lies; None outside the axis and within a break."""
        at = bisect_right([part.first for part in self.parts], time) - 1
        if at < 0 or time > self.parts[at].last:
            return None
        part = self.parts[at]
        length = part.last - part.first
        share = (time - part.first) / length if length else 0.5
        return part.left + share * (part.right - part.left)

    def list_breaks(self) -> list[str]:
        """Return what is cut out, from when to when and how long."""
        ends = [(one.last, two.first) for one, two in pairwise(self.parts)]
        return [
            f"{_format_label(a, whole=True)} to {_format_label(b, whole=True)} ({wording.format_duration(b - a)})"
            for a, b in ends
        ]

    def list_labels(self) -> list[AxisMark]:
        """Return the times to write below: both ends, and what fits between: starts of stretches, round times."""
        first, last = self.parts[0].first, self.parts[-1].last
        marks = [AxisMark(0.0, _format_label(first, whole=True))]
        free, end = LABEL, WIDTH - (LABEL if last > first else 0.0)
        for part in self.parts:
            for number, time in enumerate([part.first, *self._round_times(part)]):
                at, room = self.find_place(time), SHORT if number else LABEL
                if at is not None and free <= at and at + room <= end:
                    marks.append(AxisMark(at, _format_label(time, whole=not number), spare=True))
                    free = at + room
        return (
            [*marks, AxisMark(WIDTH, _format_label(last, whole=True), last=True)]
            if last > first
            else marks
        )

    def _round_times(self, part: AxisPart) -> list[float]:
        length, room = part.last - part.first, part.right - part.left
        most = int(LABELS * room / WIDTH)
        step = next((step for step in _STEPS if most and length / step <= most), 0)
        if not step:
            return []
        start = (part.first // step + 1) * step
        return [start + number * step for number in range(int((part.last - start) // step) + 1)]

    def write_spans(self) -> str:
        """Return the stretches as numbers, for whoever draws a window with the pointer."""
        return ";".join(
            f"{p.left:.1f},{p.right:.1f},{p.first:.0f},{p.last:.0f}" for p in self.parts
        )


def build_time_axis(times: Sequence[float], first: float, last: float) -> TimeAxis:
    """Return the axis for moments between two times."""
    inside = sorted({time for time in times if first <= time <= last} | {first, last})
    pieces = [inside]
    for _ in range(CUTS):
        total = sum(piece[-1] - piece[0] for piece in pieces)
        gaps = [
            (b - a, number, place)
            for number, piece in enumerate(pieces)
            for place, (a, b) in enumerate(pairwise(piece))
        ]
        longest = max(gaps, default=(0.0, 0, 0))
        if longest[0] <= max(SHORTEST, SHARE * total):
            break
        _, number, place = longest
        pieces[number : number + 1] = [pieces[number][: place + 1], pieces[number][place + 1 :]]
    return TimeAxis(_place_parts(pieces))


def _place_parts(pieces: list[list[float]]) -> list[AxisPart]:
    """Return the stretches with their room: the least for each, the rest by length."""
    total = sum(piece[-1] - piece[0] for piece in pieces)
    free = WIDTH - BREAK * (len(pieces) - 1) - LEAST * len(pieces)
    parts, left = [], 0.0
    for piece in pieces:
        share = (piece[-1] - piece[0]) / total if total else 1 / len(pieces)
        right = left + LEAST + free * share
        parts.append(AxisPart(piece[0], piece[-1], left, right))
        left = right + BREAK
    return parts


def _format_label(time: float, *, whole: bool) -> str:
    """Return a time as short as its place in the row of labels allows: the day and minute, or what differs."""
    moment = datetime.fromtimestamp(time, UTC)
    if whole:
        return moment.strftime("%Y-%m-%d %H:%M")
    return moment.strftime("%Y-%m-%d" if not time % 86400 else "%H:%M")
