"""When the lines are wanted: a time that somebody typed, or the moment of a finding of a case."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from analyzer.artefacts import logtime
from analyzer.case.verdicts import Finding
from analyzer.merged_log.entry import TimeWindow
from analyzer.runtime.errors import UsageError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"(?:\d{1,6}[smhd])+")
_FORM = "Write it as 10m, 90s, 2h or 1h30m."
MOST = timedelta(days=3650)


def parse_span(text: str) -> timedelta:
    """Return a length of time such as `10m`, `90s` or `1h30m`; UsageError for another text."""
    if not _SPAN.fullmatch(text.strip()):
        raise UsageError(f"{text!r} is not a time span", do=_FORM)
    parts = re.findall(r"(\d+)([smhd])", text)
    found = timedelta(seconds=sum(int(number) * _UNITS[unit] for number, unit in parts))
    if not timedelta() < found <= MOST:
        raise UsageError(f"{text!r} is too long or zero", do=_FORM)
    return found


def center_window(moment: datetime, length: timedelta) -> TimeWindow:
    """Return the stretch of that length with a moment in its middle."""
    try:
        return TimeWindow(moment - length / 2, moment + length / 2)
    except OverflowError:
        do = "Write it as 2017-10-14T09:12:46Z."
        raise UsageError("the time is too far away", do=do) from None


def parse_time(text: str) -> datetime | None:
    """Return a time in any form that `--incident` takes, None for another text."""
    found = logtime.read_given_time(text)
    return datetime.fromisoformat(found) if found else None


def find_clock(text: str, newest: str) -> datetime | None:
    """Return the last moment at a time of day (`06:15`) of a case that ends at `newest`, None for another text."""
    clock = logtime.read_given_clock(text)
    return (
        datetime.fromisoformat(logtime.find_last_day(clock, newest)) if clock and newest else None
    )


def find_moment(finding: Finding) -> datetime:
    """Return the first time of the evidence of a finding; UsageError when none is known."""
    found = parse_time(finding.first_seen)
    if found is not None:
        return found
    raise UsageError(
        f"no evidence of finding {finding.id} has a time",
        why="it says what the host is, not when something happened",
        do="Give a time: --around 2017-10-14T09:12:46Z.",
    )
