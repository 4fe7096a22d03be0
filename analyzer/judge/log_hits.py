"""Lines a rule found in logs with their times, and the answer to a question about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.scan.hits import Hit

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOLDED = "message repeated "
_TIMES = re.compile(r"message repeated (\d{1,6}) times: \[")
_AGAIN = re.compile(r"(?:<\d{1,3}>)?\S.{0,300}?\blast message repeated (\d{1,6}) times?\s*$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


@dataclass(slots=True)
class LogHit:
    """A hit with the columns of its log table, its named groups and its time (seconds, or None).

    times  how many messages the line stands for: rsyslog folds equal ones into `message repeated N times: [ … ]`,
           older daemons write `last message repeated N times` below the first of them
    """

    hit: Hit
    node: str
    time: float | None
    values: dict[str, Any] = field(default_factory=dict)
    times: int = 1

    def __post_init__(self) -> None:
        if _FOLDED in self.hit.text and (told := _TIMES.search(self.hit.text)):
            self.times = max(1, int(told[1]))
        elif self.hit.repeated_below and (
            below := next((line for line in self.hit.after if line.strip()), "")
        ):
            again = _AGAIN.match(below)
            self.times = 1 + (int(again[1]) if again else 0)

    @property
    def order(self) -> tuple[float, str, int]:
        """Sort key: by time, then by place."""
        return (float("inf") if self.time is None else self.time, self.hit.address, self.hit.line)


def messages(found: Iterable[LogHit]) -> int:
    """Return how many messages some lines count for."""
    return sum(one.times for one in found)


@dataclass(slots=True)
class LogAnswer:
    """What a `seen` name is on one node; `value` None is unknown, for the reason given.

    more      why there may be more lines than were counted, "" when there are none
    deciding  the lines by which it became true: the one that reached a count, the ends of the fullest window, the
              first sequence
    reached   of a question about a window, one value or different values: the most it came to, in one window
    window    the lines of that window, or of that value
    rescan    True when only another search of the case's own files helps: there is nothing to ask for
    """

    value: bool | None = None
    count: int | None = None
    hits: list[LogHit] = field(default_factory=list)
    reason: str = ""
    missing: str = ""
    why: str = ""
    rescan: bool = False
    more: str = ""
    deciding: list[LogHit] = field(default_factory=list)
    reached: int | None = None
    window: list[LogHit] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The most it came to: in one window, of one value, or in all."""
        return (self.count or 0) if self.reached is None else self.reached

    def fields(self, name: str) -> dict[str, Any]:
        """Return the values behind `name`, `name.count`, `name.first`, `name.last`, `name.lines`.

        Those of a question about a window are of its fullest one: a sentence says how many lines came how close.
        """
        own = self.hits if self.reached is None else self.window
        times = [found.time for found in own if found.time is not None]
        lines = ", ".join(f"{found.hit.address}:{found.hit.line}" for found in own[:3])
        return {
            name: self.value,
            f"{name}.count": self.count
            if self.reached is None or self.value is None
            else self.reached,
            f"{name}.first": stamp(min(times)) if times else None,
            f"{name}.last": stamp(max(times)) if times else None,
            f"{name}.lines": lines or None,
        }


def stamp(seconds: float) -> str:
    """Return seconds of the epoch as `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC."""
    when = EPOCH + timedelta(seconds=seconds)
    return f"{when.year:04d}-{when:%m-%d %H:%M:%S}" + (
        f".{when.microsecond:06d}" if when.microsecond else ""
    )


def iso(time: str) -> str:
    """Return a UTC time as the case document writes it, `YYYY-MM-DDThh:mm:ssZ`; what is no time stays."""
    return f"{time[:10]}T{time[11:19]}Z" if _TIME.match(time) else time


def seconds(text: str) -> float | None:
    """Return the seconds of an ISO time in UTC, or None."""
    try:
        return (
            datetime.fromisoformat(text.rstrip("Z")).replace(tzinfo=UTC) - EPOCH
        ).total_seconds()
    except ValueError:
        return None
