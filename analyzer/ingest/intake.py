"""The result of one pass over a case: rows, frames, log scans, and how well each table was seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from analyzer.artefacts.parsing import Wanted
from analyzer.artefacts.tables import Fault, Frame, Row
from analyzer.ingest.flooding import Talk
from analyzer.secrets.values import hide_lone_line

if TYPE_CHECKING:
    from analyzer.scan.hits import LogScan
    from analyzer.signals.lines import ExcerptLine
    from analyzer.sources.ledger import SourceRecord
    from analyzer.sources.member import Member

MOST_FAULTS = 2000


@dataclass(frozen=True, slots=True)
class FactScope:
    """Where facts belong before nodes have names: a bundle's tree, a prompt's host, or a loose file.

    scope  root (tree of a bundle), host (named by a prompt or heading), loose (a file of its own),
           stray (text in a bundle's tree that is no part of its layout)
    """

    scope: str
    name: str
    kind: str = ""

    @property
    def key(self) -> str:
        """One text for each place."""
        return f"{self.scope}\x1f{self.kind if self.scope != 'root' else ''}\x1f{self.name}"


@dataclass(slots=True)
class Cover:
    """That a table was looked at in one place, and how well: a state of `Facts.cover`."""

    place: FactScope
    table: str
    state: str
    why: str
    address: str


@dataclass(slots=True)
class LogSpan:
    """What one log member holds: lines and the times of its first and last stamped line.

    steps  times before and after, where the clock of the log was set back or forward
    """

    place: FactScope
    table: str
    address: str
    lines: int
    first: str
    last: str
    steps: tuple[tuple[str, str], ...] = ()


class Lengths(NamedTuple):
    """How much of everything an intake holds."""

    rows: int
    frames: int
    scans: int
    covers: int
    spans: int
    faults: int
    faults_total: int


_EMPTY = Lengths(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one member brought in: its stretches of the lists of the intake, and the print of its content.

    in_tree  it lies in an archive or in the tree of a bundle; `path` starts with the top folder, `root` is the tree
    """

    record: SourceRecord
    print: tuple[int, int]
    path: str
    root: str
    in_tree: bool
    before: Lengths
    after: Lengths

    @property
    def rows(self) -> slice:
        """The rows it gave."""
        return slice(self.before.rows, self.after.rows)

    @property
    def frames(self) -> slice:
        """The frames it gave."""
        return slice(self.before.frames, self.after.frames)

    @property
    def scans(self) -> slice:
        """The scans it gave."""
        return slice(self.before.scans, self.after.scans)

    @property
    def covers(self) -> slice:
        """What it says of how well tables are known."""
        return slice(self.before.covers, self.after.covers)


class Stray(NamedTuple):
    """A member of an archive or tree that looks like support material and was not read, or not all of it."""

    record: SourceRecord
    root: str


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
    places: dict[str, FactScope] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    # place key -> what the report adds to its node
    remarks: dict[str, list[str]] = field(default_factory=dict)
    member_place: dict[str, str] = field(default_factory=dict)  # address -> place key
    faults_by: Counter[str] = field(default_factory=Counter)  # address -> lines not understood
    # addresses of logs that are known by their lines
    known_logs: set[str] = field(default_factory=set)
    # addresses of texts that nothing reads: what they say is not known, but they are no refusal
    texts: set[str] = field(default_factory=set)
    taken: list[Taken] = field(default_factory=list)  # members of which something came in
    before: Lengths = _EMPTY  # when the member began that is being read
    strays: list[Stray] = field(default_factory=list)
    # of excerpts, what says that something is wrong
    chosen: list[ExcerptLine] = field(default_factory=list)
    talk: Talk = field(default_factory=Talk)  # what each log says most
    # place key -> the name, of no use, that its prompts show
    prompted: dict[str, str] = field(default_factory=dict)
    samples: Wanted = None  # of samples the columns that are read

    def begin_member(self) -> None:
        """Note that what comes in from now on is of the next member."""
        self.before = self.measure_lengths()

    @property
    def own_scans(self) -> list[LogScan]:
        """The scans of the member that is being read; to seek them among all costs more with each log of a case."""
        return self.scans[self.before.scans :]

    def measure_lengths(self) -> Lengths:
        """Return how much of everything is there."""
        return Lengths(
            len(self.rows), len(self.frames), len(self.scans), len(self.covers), len(self.spans), len(self.faults),
            self.faults_total,
        )  # fmt: skip

    def note_member(self, member: Member) -> None:
        """Note what a member brought in that has been read to its end."""
        before, now = self.before, self.measure_lengths()
        if now != before:
            in_tree = member.root != member.address
            record, path, root = member.record, member.path, member.root
            self.taken.append(Taken(record, member.print, path, root, in_tree, before, now))

    def add_fault(self, fault: Fault) -> None:
        """Take one line that was not understood; the first are kept, all are counted."""
        self.faults_total += 1
        if len(self.faults) < MOST_FAULTS:
            shown = hide_lone_line(fault.text)
            self.faults.append(replace(fault, text=shown))
        self.faults_by[fault.address] += 1

    def add_log_faults(self, address: str, shown: list[Fault], count: int) -> None:
        """Take the lines of a log that were not understood: some of them, and how many there are."""
        for fault in shown:
            self.add_fault(fault)
        self.faults_total += count - len(shown)
        self.faults_by[address] += count - len(shown)

    def add_remark(self, place: FactScope, text: str) -> None:
        """Note what the report adds to the node of a place; once is enough."""
        remarks = self.remarks.setdefault(place.key, [])
        if text not in remarks:
            remarks.append(text)

    def get_place(self, scope: str, name: str, kind: str = "") -> FactScope:
        """Return the place of that name, made when it is new; host names know no case."""
        place = FactScope(scope, name.lower() if scope == "host" else name, kind)
        return self.places.setdefault(place.key, place)
