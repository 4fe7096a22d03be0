"""Facts about the age of trouble: a machine's older logs, and where in the only log a line stands."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from analyzer.case.document import CHRONIC
from analyzer.signals.ages import LogFilePart, find_age


@dataclass(frozen=True)
class Day:
    """A log of one day."""

    number: int

    def part(
        self, lines: int = 1000, hits: int = 0, first: str = "00:30", last: str = ""
    ) -> LogFilePart:
        """Return the file of the day with so many hits between two times of it."""
        day = f"2026-09-{self.number:02d}T"
        begun = f"{day}{first}:00Z" if hits else ""
        ended = f"{day}{last or first}:00Z" if hits else ""
        return LogFilePart(lines, f"{day}00:00:00Z", f"{day}23:59:00Z", hits, begun, ended)


def test_what_older_logs_have_as_well_was_there_all_along() -> None:
    """It loses weight by the share of logs that have it, and is named as chronic."""
    some = [Day(1).part(hits=3), Day(2).part(), Day(3).part(hits=2)]
    age = find_age(some)
    assert age.word == "all along" in CHRONIC and age.gain == pytest.approx(-3.5)
    assert age.why == "in 1 of the 2 older logs"


def test_what_only_the_newest_log_has_is_new() -> None:
    """The order of the files does not matter."""
    parts = [Day(3).part(hits=1), Day(1).part(), Day(2).part()]
    assert find_age(parts) == find_age(parts[::-1])
    assert find_age(parts).word == "new" and find_age(parts).gain > 0


def test_what_grows_tenfold_is_no_chronic_trouble() -> None:
    """A line that was there once a day and now comes a hundred times counts as grown."""
    age = find_age([Day(1).part(hits=1), Day(2).part(hits=100)])
    assert age.word == "grown" not in CHRONIC and "100 times" in age.why


@pytest.mark.parametrize(
    ("hits", "first", "last", "word"),
    [
        (50, "00:10", "23:40", "steady"),
        (50, "12:00", "12:20", "burst"),
        (2, "22:00", "22:30", "new"),
        (2, "10:00", "12:00", ""),
    ],
)
def test_the_place_in_the_only_log_counts(hits: int, first: str, last: str, word: str) -> None:
    """All through it, in one burst, or only at its end."""
    assert find_age([Day(1).part(hits=hits, first=first, last=last)]).word == word


def test_without_times_nothing_is_said_of_the_age() -> None:
    """A log whose lines bear no time, or a short one, proves nothing."""
    assert find_age([LogFilePart(1000, "", "", 4, "", "")]).word == ""
    assert (
        find_age([LogFilePart(20, "2026-09-01T00:00:00Z", "2026-09-01T01:00:00Z", 4, "", "")]).word
        == ""
    )
