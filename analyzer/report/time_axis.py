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

from analyzer.report.wording import format_duration

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
        share = 0.5
        if length:
            share = (time - part.first) / length
        return part.left + share * (part.right - part.left)

    def list_breaks(self) -> list[str]:
        """Return what is cut out, from when to when and how long."""
        breaks = []
        for part, after in pairwise(self.parts):
            first, last = part.last, after.first
            length = format_duration(last - first)
            breaks.append(f"{_format_minute(first)} to {_format_minute(last)} ({length})")
        return breaks

    def list_labels(self) -> list[AxisMark]:
        """Return the times to write below: both ends, and what fits between: starts of stretches, round times."""
        first = self.parts[0].first
        last = self.parts[-1].last
        has_length = last > first
        marks = [AxisMark(0.0, _format_minute(first))]
        free = LABEL
        if has_length:
            end = WIDTH - LABEL
        else:
            end = WIDTH
        for part in self.parts:
            labels = [(part.first, LABEL, _format_minute(part.first))]
            for time in _list_round_times(part):
                # what differs from the label before: the day, or the minute of it
                layout = "%Y-%m-%d"
                if time % 86400:
                    layout = "%H:%M"
                labels.append((time, SHORT, datetime.fromtimestamp(time, UTC).strftime(layout)))
            for time, room, text in labels:
                place = self.find_place(time)
                if place is not None and free <= place and place + room <= end:
                    marks.append(AxisMark(place, text, spare=True))
                    free = place + room
        if has_length:
            marks.append(AxisMark(WIDTH, _format_minute(last), last=True))
        return marks

    def write_spans(self) -> str:
        """Return the stretches as numbers, for the script that draws a window with the pointer."""
        spans = []
        for part in self.parts:
            spans.append(f"{part.left:.1f},{part.right:.1f},{part.first:.0f},{part.last:.0f}")
        return ";".join(spans)


def build_time_axis(times: Sequence[float], first: float, last: float) -> TimeAxis:
    """Return the axis for moments between two times."""
    pieces = [sorted({time for time in times if first <= time <= last} | {first, last})]
    for _ in range(CUTS):
        longest, cut_piece, cut_place = 0.0, 0, 0
        for number, piece in enumerate(pieces):
            for place, (start, end) in enumerate(pairwise(piece)):
                longest, cut_piece, cut_place = max(
                    (longest, cut_piece, cut_place), (end - start, number, place)
                )
        if longest <= max(SHORTEST, SHARE * _measure(pieces)):
            break
        piece = pieces[cut_piece]
        pieces[cut_piece : cut_piece + 1] = [piece[: cut_place + 1], piece[cut_place + 1 :]]
    # each stretch gets the least room, the rest goes by length
    total = _measure(pieces)
    free = WIDTH - BREAK * (len(pieces) - 1) - LEAST * len(pieces)
    parts, left = [], 0.0
    for piece in pieces:
        if total:
            share = (piece[-1] - piece[0]) / total
        else:
            share = 1 / len(pieces)
        right = left + LEAST + free * share
        parts.append(AxisPart(piece[0], piece[-1], left, right))
        left = right + BREAK
    return TimeAxis(parts)


def _measure(pieces: list[list[float]]) -> float:
    return sum(piece[-1] - piece[0] for piece in pieces)


def _list_round_times(part: AxisPart) -> list[float]:
    """Return the round times within a stretch, as many as it has room for."""
    length = part.last - part.first
    room = part.right - part.left
    most = int(LABELS * room / WIDTH)
    if not most:
        return []
    step = next((step for step in _STEPS if length / step <= most), 0)
    if not step:
        return []
    start = (part.first // step + 1) * step
    round_times = []
    for number in range(int((part.last - start) // step) + 1):
        round_times.append(start + number * step)
    return round_times


def _format_minute(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
