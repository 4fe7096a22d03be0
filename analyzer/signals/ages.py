"""How old trouble is: whether a machine's own older logs say the same, and how steadily it says it.

The best background of a machine is its own past: what its rotated logs say as well was there before the trouble that the
case is about. It is not hidden for that: a chronic fault is one too, and is listed below what is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

NEW, GROWN, ALL_ALONG, STEADY, BURST = "new", "grown", "all along", "steady", "burst"

# Our own bars, as the gains below.
_LEAST_LINES = 300  # of a log whose times say something
_LATE = 0.8  # of the time of a log: what begins after that is new
_SPREAD = 0.7  # of the time of a log: what goes on so long is steady
_SHORT = 0.1
_GROWTH = 10.0
_MANY, _SOME, _FEW = 12, 5, 4


class LogFilePart(NamedTuple):
    """One file of a log of a machine: its lines, its times (ISO 8601, "" when unknown), and what one kind has there."""

    lines: int
    begin: str
    end: str
    hits: int
    first: str
    last: str


class Age(NamedTuple):
    """How old a kind of line is: a word for it, what its weight gains or loses by it, and the reason in words."""

    word: str
    gain: float
    why: str = ""


def find_age(parts: Sequence[LogFilePart]) -> Age:
    """Return how old a kind of line is, by all files of its log."""
    newest = max(parts, key=lambda part: (part.end, part.hits))
    older = [part for part in parts if part is not newest and part.lines]
    if older:
        return _compare_files(newest, older)
    return _place_in_file(newest)


def _compare_files(newest: LogFilePart, older: Sequence[LogFilePart]) -> Age:
    """Compare the newest file of a log with the rotated ones."""
    having = [part for part in older if part.hits]
    if not having:
        return Age(NEW, 0.5, f"not in the {_count_logs(len(older))}")
    before = sum(part.hits for part in older) / sum(part.lines for part in older)
    now = newest.hits / max(newest.lines, 1)
    if newest.hits >= _SOME and now >= _GROWTH * before:
        return Age(
            GROWN, 0.5, f"{now / before:.0f} times as frequent as in the {_count_logs(len(older))}"
        )
    share = len(having) / len(older)
    return Age(ALL_ALONG, -2.5 - 2 * share, f"in {len(having)} of the {_count_logs(len(older))}")


def _count_logs(number: int) -> str:
    return "older log" if number == 1 else f"{number} older logs"


def _place_in_file(part: LogFilePart) -> Age:
    """Say where in the time of the only file of a log a kind of line stands."""
    span = _measure_seconds(part.begin, part.end)
    if part.lines < _LEAST_LINES or not span or not part.first:
        return Age("", 0.0)
    lasted = _measure_seconds(part.first, part.last) / span
    if part.hits >= _MANY and lasted >= _SPREAD:
        return Age(STEADY, -1.2, "all through the log")
    if _measure_seconds(part.begin, part.first) / span >= _LATE:
        return Age(NEW, 0.5, "begins in the last fifth of the log")
    if part.hits >= _SOME and lasted <= _SHORT:
        return Age(BURST, 0.7, "in one burst")
    return Age("", 0.3 if part.hits <= _FEW else 0.0)


def _measure_seconds(first: str, last: str) -> float:
    """Return the seconds between two times, 0 when one is not known."""
    if not first or not last:
        return 0.0
    return max((datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds(), 0.0)
