"""Lines of the logs around a moment: those a case document keeps, about how many there are, and a command for all."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from analyzer.report import crowds, wording
from analyzer.report.wording import Doc

AROUND = 300.0  # seconds before and after a moment
FEW = 4  # sources of a case that the command names one by one
MANY = 5000  # lines that nobody reads; our own
SPANS = {
    "10m": 600,
    "5m": 300,
    "2m": 120,
    "1m": 60,
    "30s": 30,
    "10s": 10,
}  # seconds of a stretch, as `--for` takes it
_LOCAL = ("vmnic", "vmk", "vmhba", "vSwitch")  # names that every host has


@dataclass(frozen=True, slots=True)
class Nearby:
    """What is around one moment.

    time     seconds since 1970; kept: lines in the document; about: lines that the logs of the case have there
    command  prints all of them, or where they are too many to read those of the machine: `of` says which
    """

    time: float
    kept: int
    about: int
    command: str
    of: str = "all of them"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """How to ask for fewer lines around a finding than anybody reads.

    about   lines of all machines; host, length: machine and stretch with few enough, empty where neither narrows
    own     lines that are about there; thing: options that leave the lines with the object of the finding alone
    """

    about: int
    host: str
    length: str
    own: int
    thing: tuple[str, ...]

    @property
    def options(self) -> list[str]:
        """Return the options of `backline log` for the machine and the stretch."""
        host = ["--host", self.host] if self.host else []
        return [*host, "--for", self.length] if self.length else host


class LogDrawer:
    """The kept lines of one case."""

    def __init__(self, doc: Doc) -> None:
        self._doc = doc
        self.lines: Sequence[Doc] = doc["log"]
        self._times = [wording.parse_time(one["time"]) or 0.0 for one in self.lines]
        self._named: dict[str, list[Doc]] = {}
        for node in doc["nodes"]:
            self._named.setdefault(crowds.name_node(node), []).append(node)
        self.find_around = lru_cache(maxsize=None)(self._find_around)
        self._narrowed = lru_cache(maxsize=None)(self._narrow_down)

    def list_times(self) -> list[tuple[float, Doc]]:
        """Return the lines with their times, seconds since 1970."""
        return list(zip(self._times, self.lines, strict=True))

    def find_nearby(self, finding: Doc) -> Nearby | None:
        """Return what is around a finding: around the first time of its evidence; None when that has none."""
        near = self.find_around(finding["first_seen"]) if finding["first_seen"] else None
        if near is None or near.about <= MANY:
            return near
        few = self._narrowed(near.time, finding["node"] if finding["node"] in self._named else "")
        options = shlex.join([*([] if few.length else ["--for", "10m"]), *few.options])
        where = f"{few.own:,} on {few.host}" if few.host else f"{few.own:,} of them"
        span = wording.format_duration(SPANS[few.length]) if few.length else ""
        said = f"about {where} within {span}" if span else f"about {where}"
        return Nearby(
            near.time,
            near.kept,
            near.about,
            f"{self._write_command(finding['first_seen'])} {options}",
            said,
        )

    def find_narrowed(self, finding: Doc) -> Narrowed | None:
        """Return how to ask for fewer lines around a finding; None where all of them can be read."""
        near = self.find_around(finding["first_seen"]) if finding["first_seen"] else None
        if near is None or near.about <= MANY:
            return None
        node = finding["node"] if finding["node"] in self._named else ""
        few = self._narrowed(near.time, node)
        return Narrowed(
            few.about, few.host, few.length, few.own, tuple(_find_object_options(finding, few.host))
        )

    def estimate_lines(self, when: float, around: float = AROUND, node: str = "") -> int:
        """Return about how many lines the logs have around a time, as if each had written evenly.

        node  only those of this machine
        """
        total = 0.0
        for one in self._doc["nodes"] if not node else self._named[node]:
            for log in one["logs"]:
                ends = [
                    (wording.parse_time(part["first"]), wording.parse_time(part["last"]))
                    for part in log["parts"] or [log]
                ]
                spans = [
                    (first, last) for first, last in ends if first is not None and last is not None
                ]
                length = sum(last - first for first, last in spans)
                inside = sum(
                    max(0.0, min(last, when + around) - max(first, when - around))
                    for first, last in spans
                )
                total += (
                    log["lines"] * inside / length
                    if length > 0
                    else log["lines"] * bool(spans and inside)
                )
        return _round_estimate(total)

    def _find_around(self, time: str) -> Nearby | None:
        """Return what is around a time, given in ISO 8601; None when it is none."""
        when = wording.parse_time(time)
        if when is None:
            return None
        kept = sum(abs(one - when) <= AROUND for one in self._times)
        return Nearby(
            when,
            kept,
            max(kept, self.estimate_lines(when)),
            f"{self._write_command(time)} --for 10m",
        )

    def _narrow_down(self, when: float, node: str) -> Narrowed:
        host = node if len(self._doc["nodes"]) > 1 else ""
        least = ("", 0)
        for length, seconds in SPANS.items():
            least = length, self.estimate_lines(when, seconds / 2, host)
            if least[1] <= MANY:
                break
        length, own = least
        return Narrowed(
            self.estimate_lines(when), host, "" if SPANS[length] == 2 * AROUND else length, own, ()
        )

    def _write_command(self, time: str) -> str:
        names = list(
            dict.fromkeys(one["name"].partition("/")[0] for one in self._doc["case"]["files"])
        )
        paths = names if 0 < len(names) <= FEW else [self._doc["case"]["name"] or "."]
        return f"backline log {shlex.join(paths)} --around {time}"


def _find_object_options(finding: Doc, host: str) -> list[str]:
    """Return the options that leave the lines with the object of a finding, where its evidence names it as a log does.

    host  where the lines of many machines are too many, the machine of the finding: a name such as vmnic3 needs it
    """
    name = finding["object"]
    if (
        not name
        or name == finding["node"]
        or not any(name in line["text"] for line in finding["evidence"])
    ):
        return []
    if len(name) < 4 or name.isdigit():
        return []
    local = ["--host", host] if host and name.startswith(_LOCAL) else []
    return [*local, "--object", name]


def _round_estimate(number: float) -> int:
    """Return an estimate with its two first digits."""
    whole = round(number)
    unit = int("1".ljust(len(str(whole)) - 1, "0"))
    return round(whole / unit) * unit
