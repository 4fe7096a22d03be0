"""The time of a log line, in every form the references name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.logtime import log_time, stamped

CASES = [
    ("2021-03-08T14:49:25.123Z cpu1:2097465)x", None, "2021-03-08T14:49:25.123000", ()),
    ("2021-03-08T14:49:25Z shell[1]: x", None, "2021-03-08T14:49:25", ()),
    ("2021-03-08T14:49:25.123456+02:00| vmx| x", None, "2021-03-08T12:49:25.123456", ()),
    ("2021-03-08T14:49:25.1-0530 x", None, "2021-03-08T20:19:25.100000", ()),
    ("2016-05-23 23:36:34.736 GMT+00:00  WARN x", None, "2016-05-23T23:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 GMT-08:00  WARN x", None, "2016-05-24T07:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 UTC INFO x", None, "2016-05-23T23:36:34.736000", ()),
    ("2016-05-23 23:36:34.736 PDT INFO x", None, "2016-05-23T23:36:34.736000", ("zone",)),
    ("2015-05-30 13:25:07,382 47956539 [SyncThread:1] WARN x", None, "2015-05-30T13:25:07.382000", ("zone",)),
    ("2015-05-30 13:25:07 -17 is no offset here", None, "2015-05-30T13:25:07", ("zone",)),
    ("[2011-04-01 15:14:34.203 F5A5AB90 info 'vm:x'] y", None, "2011-04-01T15:14:34.203000", ("zone",)),
    ("<166>2022-11-04T15:01:58.230Z HOST Hostd: x", None, "2022-11-04T15:01:58.230000", ()),
    ("<14>1 2021-03-08T14:49:25.1+00:00 vc vpxd 5 - -  x", None, "2021-03-08T14:49:25.100000", ()),
    (
        "D0525 13:46:07.185200 31975 rpc-broker.cc:369] x",
        2015,
        "2015-05-25T13:46:07.185200",
        ("year", "zone"),
    ),
    (
        "INFO.20150530-000550.1774:D0530 13:25:29.452639 1983 z.cc:774] x",
        None,
        "2015-05-30T13:25:29.452639",
        ("zone",),
    ),
    ("Jan  8 04:35:00 NSXMGR x", 2017, "2017-01-08T04:35:00", ("year", "zone")),
    ("Feb 29 00:00:00 h vmkernel: x", 2016, "2016-02-29T00:00:00", ("year", "zone")),
    ("Mar 08 14:49:25.123: vmx| x", 2021, "2021-03-08T14:49:25.123000", ("year", "zone")),
    ("\x00\x002021-03-08T14:49:25Z after a hole", None, "2021-03-08T14:49:25", ()),
]


@pytest.mark.parametrize(("line", "year", "when", "assumed"), CASES, ids=lambda value: str(value)[:40])
def test_each_form_gives_its_time(line: str, year: int | None, when: str, assumed: tuple[str, ...]) -> None:
    """Text and bytes give the same time in UTC, and what was assumed is named."""
    wanted = datetime.fromisoformat(when).replace(tzinfo=UTC)
    for one in (line, line.encode()):
        time = log_time(one, year)
        assert time is not None
        assert (time.when, time.assumed) == (wanted, assumed)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--> continued",
        "0000-01-01T00:00:00Z x",
        "2021-02-30T00:00:00Z x",
        "2021-01-01T24:60:00Z x",
        "2021-01-01T23:59:60Z x",
        "9999-12-31T23:59:59-14:00 x",
        "0001-01-01T00:00:00+14:00 x",
        "2021-01-01T00:00:00+99:99 x",
        "Feb 30 00:00:00 x",
        "Jan 99 00:00:00 x",
        "E1345 99:00:00.0 x",
        "TSC: 12345 cpu0:1)x",
        "0:00:00:05.123 cpu0:1)x",
    ],
)
def test_what_is_no_time_gives_none(line: str) -> None:
    """Impossible dates, overflow by a zone, and lines without a stamp give None and never raise."""
    assert log_time(line, 2021) is None


def test_forms_without_a_year_need_one() -> None:
    """Nothing is guessed: without a year from the caller there is no time."""
    assert log_time("Jan  8 04:35:00 NSXMGR x") is None
    assert log_time("D0525 13:46:07.185200 31975 x") is None


@given(
    st.text(max_size=60) | st.text("0123456789-T:.Z+ DIWE<>[]", max_size=40),
    st.integers(-5, 20_000) | st.none(),
)
@settings(max_examples=300, deadline=None)
def test_no_text_raises(line: str, year: int | None) -> None:
    """Any text and any year give a time in UTC or None."""
    time = log_time(line, year)
    assert time is None or time.when.tzinfo is UTC


@pytest.mark.parametrize(("line", "year", "_when", "_assumed"), CASES[:-1], ids=lambda value: str(value)[:40])
def test_a_line_with_a_time_is_stamped(
    line: str, year: int | None, _when: str, _assumed: tuple[str, ...]
) -> None:
    """The quick look for a stamp, used for the span of a log, knows every form."""
    assert stamped(line.encode())
    assert not stamped(b"--> " + line.encode())
