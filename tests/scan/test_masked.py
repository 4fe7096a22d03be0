"""Patterns that take masked digits: what is widened, and what stays as its author wrote it."""

from __future__ import annotations

import re

import pytest

from analyzer.scan.masked import admit_masks


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        (r"(?P<nic>vmnic\d+): down", ["vmnic4: down", "vmnicX: down", "vmnic#: down", "vmnicN: down"]),
        (r"\b(?P<nic>vmnic\d{1,3})\b.{0,9}? down", ["a vmnic12 is down", "a vmnic* is down"]),
        (r"on (?P<device>naa\.[0-9a-f]{8,32}):\d+", ["on naa.60060160aa:1", "on naa.xxxxxxxxxx:1", "on naa.6006########:1"]),
        (r"peer (?P<ip>[\d.]{7,15})\b", ["peer 192.0.2.7", "peer 10.x.x.x", "peer *.*.*.*"]),
        (r"abort:\d{1,6}: \d{4}? pending", ["abort:7541: 3111 pending", "abort:####: #### pending"]),
        (r"port (?P<port>[\w.:]+) lost", ["port 50:06 lost", "port 50:## lost"]),
    ],
)  # fmt: skip
def test_masked_digits_are_found(pattern: str, lines: list[str]) -> None:
    """Numbers after a name, hexadecimal digits, addresses."""
    widened = re.compile(admit_masks(pattern))
    assert [line for line in lines if not widened.search(line)] == []


@pytest.mark.parametrize(
    "pattern",
    [r"\bdown\b", r"\\d+ and \[\d\]", r"[^\d]+ (?:a|b)", r"[A-Z]\w+", r"H:0x0 D:0x2", r"Failed (?P<why>\S+)\b"],
)  # fmt: skip
def test_what_names_no_number_stays(pattern: str) -> None:
    """Words, an escaped backslash, sets of what must not be there."""
    assert admit_masks(pattern) == pattern


def test_a_number_that_is_counted_with_stays_a_number() -> None:
    """Groups whose text is read as a number take digits alone; their neighbours take a mask."""
    pattern = r"vmnic\d+ (?P<seconds>(?:\d+)) s"
    widened = re.compile(admit_masks(pattern, frozenset({"seconds"})))
    assert widened.search("vmnicX 12 s")
    assert not widened.search("vmnicX ## s")


def test_a_lazy_repeat_is_not_optional() -> None:
    """The sign behind a count belongs to it."""
    assert not re.search(admit_masks(r"a\d{2,3}?b"), "ab")
