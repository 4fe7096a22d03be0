"""Lines of the logs around a moment: those a case document keeps, about how many there are, and a command for all."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import lru_cache

from analyzer.case.document import CaseDocument, CaseLogLine, CaseNode, NodeLog
from analyzer.case.verdicts import Finding
from analyzer.report import machines
from analyzer.report.wording import format_duration, parse_time

AROUND = 300.0  # seconds before and after a moment
FEW = 4  # sources of a case that the command names one by one
MANY = 5000  # more lines than anyone reads; our own limit
SPANS = {  # seconds of a stretch, as `--for` takes it
    "10m": 600,
    "5m": 300,
    "2m": 120,
    "1m": 60,
    "30s": 30,
    "10s": 10,
}
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
    """How to ask for fewer lines around a finding than anyone reads.

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
        """The options of `backline log` for the machine and the stretch."""
        options = []
        if self.host:
            options = ["--host", self.host]
        if self.length:
            options += ["--for", self.length]
        return options


class LogDrawer:
    """The kept lines of one case."""

    def __init__(self, doc: CaseDocument) -> None:
        self._doc = doc
        self.lines: list[CaseLogLine] = doc.log
        self._times = [parse_time(one.time) or 0.0 for one in self.lines]
        self._nodes_by_name: dict[str, list[CaseNode]] = {}
        for node in doc.nodes:
            self._nodes_by_name.setdefault(machines.name_node(node), []).append(node)
        # one moment is asked for by many findings and lines of the page
        self.find_around = lru_cache(maxsize=None)(self._find_around)
        self._narrow_cached = lru_cache(maxsize=None)(self._narrow_down)

    def list_times(self) -> list[tuple[float, CaseLogLine]]:
        """Return the lines with their times, seconds since 1970."""
        return list(zip(self._times, self.lines, strict=True))

    def find_nearby(self, finding: Finding) -> Nearby | None:
        """Return what is around the first time of the evidence of a finding; None when that has none."""
        near = None
        if finding.first_seen:
            near = self.find_around(finding.first_seen)
        narrowed = self.find_narrowed(finding)
        if near is None or narrowed is None:
            return near
        if narrowed.length:
            options = narrowed.options
        else:
            options = ["--for", "10m", *narrowed.options]
        command = f"{self._write_command(finding.first_seen)} {shlex.join(options)}"
        of = f"about {narrowed.own:,} of them"
        if narrowed.host:
            of = f"about {narrowed.own:,} on {narrowed.host}"
        if narrowed.length:
            of += f" within {format_duration(SPANS[narrowed.length])}"
        return Nearby(near.time, near.kept, near.about, command, of)

    def find_narrowed(self, finding: Finding) -> Narrowed | None:
        """Return how to ask for fewer lines around a finding; None where all of them can be read."""
        near = None
        if finding.first_seen:
            near = self.find_around(finding.first_seen)
        if near is None or near.about <= MANY:
            return None
        host = ""
        if finding.node in self._nodes_by_name and len(self._doc.nodes) > 1:
            host = finding.node
        narrowed = self._narrow_cached(near.time, host)
        return replace(narrowed, thing=tuple(_list_object_options(finding, host)))

    def estimate_lines(self, when: float, around: float = AROUND, node: str = "") -> int:
        """Return about how many lines the logs have around a time, as if each had written evenly.

        node  only those of this machine
        """
        total = 0.0
        for one in self._nodes_by_name[node] if node else self._doc.nodes:
            for log in one.logs:
                length, inside = _measure_overlap(log, when - around, when + around)
                if length > 0:
                    total += log.lines * inside / length
                elif inside:
                    total += log.lines
        # an estimate has two digits
        rounded = round(total)
        unit = int("1".ljust(len(str(rounded)) - 1, "0"))
        return round(rounded / unit) * unit

    def _find_around(self, time: str) -> Nearby | None:
        """Return what is around a time, given in ISO 8601; None when it is none."""
        when = parse_time(time)
        if when is None:
            return None
        kept = 0
        for one in self._times:
            if abs(one - when) <= AROUND:
                kept += 1
        about = max(kept, self.estimate_lines(when))
        return Nearby(when, kept, about, f"{self._write_command(time)} --for 10m")

    def _narrow_down(self, when: float, host: str) -> Narrowed:
        """Return the longest stretch with few enough lines, "" for all of it."""
        length, own = "", 0
        for length, seconds in SPANS.items():  # noqa: B007 - the last one where all are too long
            own = self.estimate_lines(when, seconds / 2, host)
            if own <= MANY:
                break
        if SPANS[length] == 2 * AROUND:
            length = ""
        return Narrowed(self.estimate_lines(when), host, length, own, ())

    def _write_command(self, time: str) -> str:
        """Return the command that shows all lines around a time."""
        case = self._doc.case
        paths = list(dict.fromkeys(one.name.partition("/")[0] for one in case.files))
        if not 0 < len(paths) <= FEW:
            paths = [case.name or "."]
        return f"backline log {shlex.join(paths)} --around {time}"


def _measure_overlap(log: NodeLog, start: float, end: float) -> tuple[float, float]:
    """Return how many seconds a log covers, and how many of them lie between two times."""
    length = inside = 0.0
    stretches = [(part.first, part.last) for part in log.parts] or [(log.first, log.last)]
    for stretch in stretches:
        first, last = map(parse_time, stretch)
        if first is not None and last is not None:
            length += last - first
            inside += max(0.0, min(last, end) - max(first, start))
    return length, inside


def _list_object_options(finding: Finding, host: str) -> list[str]:
    """Return the options that leave the lines with the object of a finding, where its evidence names it as a log does.

    host  where the lines of many machines are too many, the machine of the finding: a name such as vmnic3 needs it
    """
    name = finding.object
    if name == finding.node or len(name) < 4 or name.isdigit():
        return []
    if not any(name in line.text for line in finding.evidence):
        return []
    options = ["--object", name]
    if host and name.startswith(_LOCAL):
        return ["--host", host, *options]
    return options
