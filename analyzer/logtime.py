"""The time of a raw log line as UTC, for every line form of ESXi and NSX.

Forms (docs: esxi and nsx log formats): ISO stamps with `Z`, offset or `GMT+00:00`, with `T` or a
blank, with point or comma before the fraction; the same behind a syslog `<PRI>`, `<PRI>1 ` or
`[`; log4j without a zone; glog `D0525 13:46:07.185200` and syslog `Jan  8 04:35:00`, both
without a year. What a line does not say is assumed and named, never silently.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

_PREFIX = r"(?:<\d{1,3}>(?:1 )?|\[)?"
_ISO = re.compile(
    _PREFIX + r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?:\s?(?:GMT|UTC)(?P<gmt>[+-]\d\d:?\d\d)?|\s?(?P<zulu>Z)\b|(?P<off>[+-]\d\d(?::?\d\d)?)(?!\d)|)",
    re.ASCII,
)
_SYSLOG = re.compile(
    _PREFIX + r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) "
    r"(\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?(?!\d)",
    re.ASCII,
)
# `show control-cluster history` puts the name of the file, and with it the year, in front
_GLOG = re.compile(
    r"(?:\S{0,80}\.(?P<year>\d{4})\d{4}-\d{6}\.\d+:)?[DIWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)"
    r"(?:\.(\d{1,9}))?\s",
    re.ASCII,
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_STAMP = re.compile(
    rb"(?:<\d{1,3}>(?:1 )?|\[)?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
    rb"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d\d:\d\d:\d\d)"
    rb"|(?:\S{0,80}\.\d{8}-\d{6}\.\d+:)?[DIWEF]\d{4} \d\d:\d\d:\d\d[.\s]"
)


class LogTime(NamedTuple):
    """When a line was written.

    when     aware datetime in UTC, whole microseconds
    assumed  what the line itself does not say: "zone" (taken as UTC), "year" (the caller's)
    """

    when: datetime
    assumed: tuple[str, ...] = ()


def log_time(line: str | bytes, year: int | None = None) -> LogTime | None:
    """Return the time at the start of a log line, or None when there is none.

    `year` serves the forms that have none (take it from the file's name or the bundle);
    without it those give None. Impossible dates and times give None; nothing raises.
    """
    text = line[:200].decode("latin-1") if isinstance(line, bytes) else line[:200]
    text = text.lstrip("\0")
    try:
        if found := _ISO.match(text):
            return _iso(found)
        if found := _SYSLOG.match(text):
            month = _MONTHS.index(found[1]) + 1
            return _yearless(year, (month, *map(int, found.group(2, 3, 4, 5))), found[6])
        if found := _GLOG.match(text):
            own = int(found["year"]) if found["year"] else None
            parts = tuple(map(int, found.group(2, 3, 4, 5, 6)))
            return _yearless(own or year, parts, found[7], said=own is not None)
    except (ValueError, OverflowError):  # a 31st of February, an hour 24, a year 0
        return None
    return None


def iso(line: str | bytes, year: int | None = None) -> str:
    """Return the time of a raw log line as `2017-10-14T16:53:20Z`, "" when it has none."""
    found = log_time(line, year) if line else None
    return found.when.strftime("%Y-%m-%dT%H:%M:%SZ") if found else ""


def stamped(line: bytes) -> bool:
    """Tell whether a raw line begins with something that looks like a time stamp."""
    return bool(_STAMP.match(line))


def _iso(found: re.Match[str]) -> LogTime:
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    when = datetime(year, month, day, hour, minute, second, _micro(found[7]), UTC)
    offset = found["off"] or found["gmt"]
    if offset:
        return LogTime((when.replace(tzinfo=_zone(offset))).astimezone(UTC))
    said = found["zulu"] or found.group().endswith(("GMT", "UTC"))
    return LogTime(when, () if said else ("zone",))


def _zone(offset: str) -> timezone:
    digits = offset[1:].replace(":", "")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-span if offset[0] == "-" else span)


def _yearless(
    year: int | None, parts: tuple[int, ...], fraction: str | None, *, said: bool = False
) -> LogTime | None:
    if year is None:
        return None
    month, day, hour, minute, second = parts
    when = datetime(year, month, day, hour, minute, second, _micro(fraction), UTC)
    return LogTime(when, ("zone",) if said else ("year", "zone"))


def _micro(fraction: str | None) -> int:
    return int((fraction or "").ljust(6, "0")[:6])
