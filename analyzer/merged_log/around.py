"""When the lines are wanted: a time that somebody typed, or the moment of a finding of a case."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from analyzer import logtime
from analyzer.errors import UsageError
from analyzer.merged_log.entry import TimeWindow

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"(?:\d{1,6}[smhd])+")
MOST = timedelta(days=3650)
Doc = dict[str, Any]


def span(text: str) -> timedelta:
    """Return a length of time such as `10m`, `90s` or `1h30m`; UsageError for another text."""
    if not _SPAN.fullmatch(text.strip()):
        raise UsageError(f"{text!r} is not a length of time", do="Write it as 10m, 90s, 2h or 1h30m.")
    parts = re.findall(r"(\d+)([smhd])", text)
    found = timedelta(seconds=sum(int(number) * _UNITS[unit] for number, unit in parts))
    if not timedelta() < found <= MOST:
        raise UsageError(f"{text!r} is too long, or nothing", do="Write it as 10m, 90s, 2h or 1h30m.")
    return found


def window(moment: datetime, length: timedelta) -> TimeWindow:
    """Return the stretch of that length with a moment in its middle."""
    try:
        return TimeWindow(moment - length / 2, moment + length / 2)
    except OverflowError:
        raise UsageError("the time is too far away", do="Write it as 2017-10-14T09:12:46Z.") from None


def typed(text: str) -> datetime | None:
    """Return a time in any form that `--incident` takes, None for another text."""
    found = logtime.given(text)
    return datetime.fromisoformat(found) if found else None


def finding_of(doc: Doc, name: str) -> Doc:
    """Return the finding of a case that an id, its number, `rule@subject` or a rule names; UsageError for none."""
    findings: list[Doc] = doc["findings"]
    if name.isdecimal() and 0 < int(name) <= len(findings):
        return findings[int(name) - 1]
    rule, at, subject = name.partition("@")
    found = [one for one in findings if one["id"] == name]
    found = found or [one for one in findings if at and one["rule"] == rule and one["subject"] == subject]
    found = found or [one for one in findings if one["rule"] == name]
    if len(found) == 1:
        return found[0]
    some = [one["id"] for one in found or findings]
    shown = ", ".join(some[:5]) + (f" and {len(some) - 5:,} more" if len(some) > 5 else "")
    what = f"{len(found):,} findings of {name!r}" if found else f"{name!r} is neither a time nor a finding of the case"
    raise UsageError(what, do=f"Give one of: {shown}." if some else "Give a time: 2017-10-14T09:12:46Z.")


def moment_of(finding: Doc) -> datetime:
    """Return the first time of the evidence of a finding; UsageError when none is known."""
    if found := typed(finding["first_seen"]):
        return found
    raise UsageError(
        f"nothing that the finding {finding['id']} rests on has a time",
        why="it tells what the host is, not when something happened",
        do="Give a time: --around 2017-10-14T09:12:46Z.",
    )
