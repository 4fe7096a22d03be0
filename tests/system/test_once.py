"""What is counted once reads as people say it: `once, at T`, not `1 time, the first at T, the last at T`."""

from __future__ import annotations

import pytest

from analyzer.runtime.text import once

A, B = "2020-04-30 07:26:00 UTC", "2020-04-30 07:27:00 UTC"


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            f"Logged 1 time, first at {A}, last at {A}. No later event ends it.",
            f"Logged once, at {A}. No later event ends it.",
        ),
        (f"1 time, the first at {A}, the last at {A}.", f"Once, at {A}."),
        ("It went down 1 time. 1 time is enough.", "It went down once. Once is enough."),
        (
            f"It was dead 1 time, the last time at {A}; it is on again.",
            f"It was dead once, at {A}; it is on again.",
        ),
        (f"It hung 1 time from {A} to {A}: why?", f"It hung once at {A}: why?"),
        (f"1 slow write, the first at {A}, the last at {A}.", f"1 slow write, at {A}."),
        (
            f"Refused 1 time (limit 5), the first at {A}, the last at {A}.",
            f"Refused once (limit 5), at {A}.",
        ),
        (
            "Dumped 1 time, the first at an unknown time, the last at an unknown time.",
            "Dumped once, at an unknown time.",
        ),
        (f"Logged 3 times, first at {A}, last at {A}.", f"Logged 3 times, all at {A}."),
        (
            "3 times, the first at an unknown time, the last at an unknown time.",
            "3 times, at unknown times.",
        ),
    ],
)
def test_one_event_has_one_time(printed: str, said: str) -> None:
    """A count of one is `once`, and its first and last time are one time."""
    assert once(printed) == said


@pytest.mark.parametrize(
    "text",
    [
        f"Logged 21 times, first at {A}, last at {B}.",
        f"Seen 3 times from {A} to {B}, at least once from {A} to {A} or later.",
        f"Logged 3 times, first at {A}, last at {B}.",
        f"Logged at least once, first at {A} or earlier, last at {A} or later.",
        f"Written at least once, the first at {A}, the last at {A}.",
        f"1.1 times, 1 timeout, 1,001 times, the first at {A}.",
        f"5 lines of 1 host in 3 logs, the first at {A}.",
    ],
)
def test_more_than_one_event_keeps_both_times(text: str) -> None:
    """Of more events, and of an event of which there may be more, both times stay."""
    assert once(text) == text
