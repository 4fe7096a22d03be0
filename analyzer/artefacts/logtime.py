"""Printed times as UTC: at the start of a raw log line, and as a value that stands by itself.

Forms (docs: esxi and nsx log formats): ISO stamps with `Z`, offset or `GMT+00:00`, with `T` or a
blank, with point or comma before the fraction; the same behind a syslog `<PRI>`, `<PRI>1 ` or
`[`; log4j without a zone; glog `D0525 13:46:07.185200` and syslog `Jan  8 04:35:00`, both
without a year. What a line does not say is assumed and named, never silently.

By themselves (`read`) stand also the forms of certificates (`Jan  5 12:00:00 2024 GMT`, openssl), of `date`
(`Fri Jan  5 12:00:00 UTC 2024`), of Go programs (`2024-01-05 12:00:00 +0000 UTC`) and of HTTP heads.

A clock that was never set, a counter read as a time or damage print years that no log is of. Every time passes
`check_range`: one outside 1970-2100 is read as no time. All that is read can be moved by days and written as ISO.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

_MON = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,:](?P<frac>\d{1,9}))?"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +)?"
_VALUE_ZONE = r"(?:\s*(?P<zone>Z|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?(?: [A-Z]{3,5})?|[A-Z]{3,5}))?"
_VALUES = tuple(
    re.compile(rf"\s*{form}\s*$", re.ASCII)
    for form in (
        rf"(?P<date>\d{{4}}-\d\d-\d\d)[T ]{_CLOCK}{_VALUE_ZONE}",
        rf"{_WEEKDAY}(?P<mon>{_MON}) +(?P<day>\d{{1,2}}) {_CLOCK}(?: (?P<before>[A-Z]{{3,5}}))?"
        rf" (?P<year>\d{{4}}){_VALUE_ZONE}",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}}) (?P<mon>{_MON}) (?P<year>\d{{4}}) {_CLOCK}{_VALUE_ZONE}",
        rf"(?:(?P<mon>{_MON}) +(?P<day>\d{{1,2}})|(?P<mmdd>\d{{4}})) {_CLOCK}",
    )
)
_UTC_NAMES = ("", "Z", "GMT", "UTC")
_PREFIX = r"(?:<\d{1,3}>(?:1 )?|\[)?"
_ISO = re.compile(
    _PREFIX + r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?:\s?(?:GMT|UTC)(?P<gmt>[+-]\d\d:?\d\d)?|\s?(?P<zulu>Z)\b|(?P<off>[+-]\d\d(?::?\d\d)?)(?!\d)|)",
    re.ASCII,
)
# What nearly all lines begin with: Python reads it by itself.
_ZULU = re.compile(r"\d{4}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?Z\b", re.ASCII)
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
# A stamp with a year of four digits outside the range, as a raw line begins with it.
_FAR_STAMP = re.compile(
    rb"[\0 \t]*(?:<\d{1,3}>(?:1 )?|\[)?(?!19[7-9]\d|20\d\d|2100)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DATED = re.compile(r"(?<!\d)(20[0-3]\d)-?([01]\d)-?([0-3]\d)(?P<start>-\d{6}\.\d+)?")
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?Z?", re.ASCII)
_STAMP = re.compile(
    rb"(?:<\d{1,3}>(?:1 )?|\[)?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
    rb"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d\d:\d\d:\d\d)"
    rb"|(?:\S{0,80}\.\d{8}-\d{6}\.\d+:)?[DIWEF]\d{4} \d\d:\d\d:\d\d[.\s]"
)


FIRST_YEAR, LAST_YEAR = 1970, 2100
FAR = f"outside {FIRST_YEAR}-{LAST_YEAR}, read as no time"


class FarTimeError(ValueError):
    """A time outside the years that are read."""

    def __init__(self) -> None:
        super().__init__(FAR)


class LogTime(NamedTuple):
    """When a line was written.

    when     aware datetime in UTC, whole microseconds
    assumed  what the line itself does not say: "zone" (taken as UTC), "year" (the caller's)
    """

    when: datetime
    assumed: tuple[str, ...] = ()


def check_range(when: datetime) -> datetime:
    """Return a moment; FarTimeError outside the years that are read."""
    check_year(when.year)
    return when


def check_year(year: int) -> None:
    """Raise FarTimeError for a year outside those that are read."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise FarTimeError


def moment_of_seconds(seconds: float) -> datetime | None:
    """Return seconds since 1970 as a moment in UTC, None outside the years that are read."""
    try:
        return check_range(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def moment_before(time: str, seconds: float) -> datetime | None:
    """Return the moment so many seconds before an ISO time: the boot of a host, by its uptime; None where it is none."""
    try:
        return check_range(datetime.fromisoformat(time) - timedelta(seconds=seconds))
    except (ValueError, OverflowError):
        return None


def is_far_stamp(line: bytes | bytearray) -> bool:
    """Say whether a raw line begins with a stamp of a year that is not read."""
    return _FAR_STAMP.match(line) is not None


def log_time(line: str | bytes, year: int | None = None) -> LogTime | None:
    """Return the time at the start of a log line, or None when there is none.

    `year` serves the forms that have none (take it from the file's name or the bundle);
    without it those give None. Impossible dates and times, and those out of range, give None; nothing raises.
    """
    text = line[:200].decode("latin-1") if isinstance(line, bytes) else line[:200]
    text = text.lstrip("\0 \t")
    try:
        if found := _ZULU.match(text):
            return LogTime(check_range(datetime.fromisoformat(found[0])))
        if found := _ISO.match(text):
            year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
            check_year(year)
            when = datetime(year, month, day, hour, minute, second, _read_micro(found[7]), UTC)
            offset = found["off"] or found["gmt"]
            if offset:
                when = when.replace(tzinfo=_read_zone(offset)).astimezone(UTC)
                return LogTime(check_range(when))
            said = found["zulu"] or found.group().endswith(("GMT", "UTC"))
            return LogTime(when, () if said else ("zone",))
        if found := _SYSLOG.match(text):
            month = _MONTHS.index(found[1]) + 1
            return _read_yearless(year, (month, *map(int, found.group(2, 3, 4, 5))), found[6])
        if found := _GLOG.match(text):
            own = int(found["year"]) if found["year"] else None
            parts = tuple(map(int, found.group(2, 3, 4, 5, 6)))
            return _read_yearless(own or year, parts, found[7], said=own is not None)
    except (ValueError, OverflowError):  # a 31st of February, an hour 24, a year 0
        return None
    return None


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
        fits = (
            year + (stamp < (month, day))
            if dates[-1]["start"]
            else year - (stamp > (month, day + 1))
        )
        if fits == guess:
            return found, str(guess)
    return None, ""


def nearest_year(line: bytes, near: datetime) -> LogTime | None:
    """Return the time of a line that names no year, in the year that puts it nearest to a moment; None without one."""
    found = [
        one for year in (near.year - 1, near.year, near.year + 1) if (one := log_time(line, year))
    ]
    return min(found, key=lambda one: abs(one.when - near), default=None)


Year = Callable[[int, int], int | None]  # (month, day) -> year, None when it is not known


def no_year(_month: int, _day: int) -> int | None:
    """Return no year: the stamp must have its own."""
    return None


def read_time(text: str, year: Year = no_year, *, any_zone: bool = False) -> str | None:
    """Return a printed time as `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC, None when the whole text is no time.

    A time without a zone is taken as UTC. The name of another zone (`CET`, `PST`) does not tell the offset: None,
    or with `any_zone` as if it were UTC. `year` gives the year of a stamp that has none.
    """
    try:
        return parse_time(text, year, any_zone=any_zone)
    except (ValueError, OverflowError):  # a 31st of February, an hour 24, a year 0
        return None


def parse_time(text: str, year: Year = no_year, *, any_zone: bool = False) -> str | None:
    """Return what `read_time` does; FarTimeError for a time out of range, ValueError for an impossible one."""
    found = next((match for form in _VALUES if (match := form.match(text))), None)
    if found is None:
        return None
    parts = found.groupdict()
    zone = parts.get("zone") or parts.get("before") or ""
    offset = re.match(r"(?:GMT|UTC)?([+-]\d\d(?::?\d\d)?)", zone)
    if offset is None and zone not in _UTC_NAMES and not any_zone:
        return None
    date = parts.get("date")
    if not date:
        mmdd = parts.get("mmdd") or ""
        month = int(mmdd[:2]) if mmdd else _MONTHS.index(str(parts["mon"])) + 1
        day = int(mmdd[2:] or parts["day"] or 0)
        own_year = int(parts["year"]) if parts.get("year") else year(month, day)
        if own_year is None:
            return None
        date = f"{own_year:04d}-{month:02d}-{day:02d}"
    check_year(int(date[:4]))
    when = datetime.fromisoformat(f"{date}T{parts['clock']}").replace(tzinfo=UTC)
    if offset is not None:
        when = check_range(when.replace(tzinfo=_read_zone(offset[1])).astimezone(UTC))
    whole = f"{when:%Y-%m-%d %H:%M:%S}"
    return f"{whole}.{parts['frac'][:6]}" if parts["frac"] else whole


def format_iso(line: str | bytes) -> str:
    """Return the time of a raw log line as `2017-10-14T16:53:20Z`, "" when it has none."""
    found = log_time(line) if line else None
    return format_stamp(found) if found else ""


def format_stamp(found: LogTime) -> str:
    """Return a time as `2017-10-14T16:53:20Z`."""
    return found.when.strftime("%Y-%m-%dT%H:%M:%SZ")


def without_time(line: str) -> str:
    """Return a log line without the time it begins with; one that has none comes back as it is."""
    text = line.lstrip("\0 \t")
    found = _ISO.match(text) or _SYSLOG.match(text) or _GLOG.match(text)
    return text[found.end() :].lstrip(" ]") if found else line


def read_given_time(text: str) -> str | None:
    """Return a time that a person typed as `YYYY-MM-DDThh:mm:ssZ`, None when it is none; without a zone it is UTC."""
    try:
        when = datetime.fromisoformat(text.strip())
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return check_range(when.astimezone(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return None


def read_given_clock(text: str) -> str:
    """Return a time of day that a person typed, such as `6:15` or `06:15:30Z`, as `06:15:30`; "" for another text."""
    found = _TIME_OF_DAY.fullmatch(text.strip())
    if found is None:
        return ""
    hour, minute, second = (int(part or 0) for part in found.groups())
    if hour > 23 or minute > 59 or second > 59:
        return ""
    return f"{hour:02}:{minute:02}:{second:02}"


def find_last_day(clock: str, newest: str) -> str:
    """Return the last moment at a time of day that is not after `newest`, in the form of `read_given_time`."""
    end = datetime.fromisoformat(newest).astimezone(UTC)
    hour, minute, second = map(int, clock.split(":"))
    found = end.replace(hour=hour, minute=minute, second=second, microsecond=0)
    if found > end:
        found -= timedelta(days=1)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_pattern() -> bytes:
    """Return the regex of a time stamp as a raw line begins with it, for larger patterns."""
    return _STAMP.pattern


def is_stamped(line: bytes) -> bool:
    """Say whether a raw line begins, perhaps behind blanks, with something that looks like a time stamp."""
    return bool(_STAMP.match(line.lstrip()))


def _read_zone(offset: str) -> timezone:
    digits = offset[1:].replace(":", "")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-span if offset[0] == "-" else span)


def _read_yearless(
    year: int | None, parts: tuple[int, ...], fraction: str | None, *, said: bool = False
) -> LogTime | None:
    if year is None:
        return None
    check_year(year)
    month, day, hour, minute, second = parts
    when = datetime(year, month, day, hour, minute, second, _read_micro(fraction), UTC)
    return LogTime(when, ("zone",) if said else ("year", "zone"))


def _read_micro(fraction: str | None) -> int:
    return int((fraction or "").ljust(6, "0")[:6])
