"""When a line of a log was written, where the year has to be guessed as well."""

from __future__ import annotations

import re
from datetime import datetime

from analyzer.logtime import LogTime, log_time

_DATED = re.compile(r"(?<!\d)(20[0-3]\d)-?([01]\d)-?([0-3]\d)(?P<start>-\d{6}\.\d+)?")


def line_time(line: bytes, address: str) -> tuple[LogTime | None, str]:
    """Return the time of a line, and the year it was guessed to be of, "" when the line names one itself.

    Where a line has none, the date in the address tells: a controller names its logs by their start, all others
    carry the day they were put away, so that a line is of the year before when its day comes later.
    """
    if said := log_time(line):
        return said, ""
    dates = list(_DATED.finditer(address))
    if not dates:
        return None, ""
    year, month, day = map(int, dates[-1].group(1, 2, 3))
    for guess in (year - 1, year, year + 1):
        found = log_time(line, guess)
        if found is None:
            continue
        stamp = (found.when.month, found.when.day)
        fits = year + (stamp < (month, day)) if dates[-1]["start"] else year - (stamp > (month, day + 1))
        if fits == guess:
            return found, str(guess)
    return None, ""


def nearest_year(line: bytes, near: datetime) -> LogTime | None:
    """Return the time of a line that names no year, in the year that puts it nearest to a moment; None without one."""
    found = [one for year in (near.year - 1, near.year, near.year + 1) if (one := log_time(line, year))]
    return min(found, key=lambda one: abs(one.when - near), default=None)
