"""What one pass over a case brings in: rows, frames, log scans, and how well each table was seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analyzer.secret_values import hide_around
from analyzer.tables import Fault, Frame, Row

if TYPE_CHECKING:
    from analyzer.signatures import LogScan

MOST_FAULTS = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """Where facts belong before nodes have names: a bundle's tree, a prompt's host, or a loose file.

    scope  root (tree of a bundle), host (named by a prompt or heading), loose (a file of its own),
           stray (text in a bundle's tree that is no part of its layout)
    """

    scope: str
    name: str
    kind: str = ""

    @property
    def key(self) -> str:
        """One text that tells places apart."""
        return f"{self.scope}\x1f{self.kind if self.scope != 'root' else ''}\x1f{self.name}"


@dataclass(slots=True)
class Cover:
    """That a table was looked at in one place, and how well: a state of `Facts.cover`."""

    place: Place
    table: str
    state: str
    why: str
    address: str


@dataclass(slots=True)
class LogSpan:
    """What one log member holds: lines and the times of its first and last stamped line.

    guess  "" or where the year of the times was taken from, when the lines name none
    """

    place: Place
    table: str
    address: str
    lines: int
    first: str
    last: str
    guess: str = ""


@dataclass(slots=True)
class Intake:
    """Everything one pass over a case brought in."""

    rows: list[Row] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    scans: list[LogScan] = field(default_factory=list)
    covers: list[Cover] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    faults_total: int = 0
    spans: list[LogSpan] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)  # place key -> what its node is said with
    member_place: dict[str, str] = field(default_factory=dict)  # address -> place key
    faults_by: Counter[str] = field(default_factory=Counter)  # address -> lines not understood

    def fault(self, fault: Fault) -> None:
        """Take one line that was not understood; the first are kept, all are counted."""
        self.faults_total += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(replace(fault, text=hide_around([], fault.text, [])[1]))
        self.faults_by[fault.address] += 1

    def remark(self, place: Place, text: str) -> None:
        """Note what the report says beside the node of a place; once is enough."""
        said = self.remarks.setdefault(place.key, [])
        if text not in said:
            said.append(text)

    def place(self, scope: str, name: str, kind: str = "") -> Place:
        """Return the place of that name, made when it is new; host names know no case."""
        place = Place(scope, name.lower() if scope == "host" else name, kind)
        return self.places.setdefault(place.key, place)
