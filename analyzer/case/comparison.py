"""The document of a comparison, written as compare.json (docs/compare.md); page, Markdown and terminal are made of it.

Lists with one item a side hold None where a side lacks the thing.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from analyzer.case.fields import Customer, DocumentRecord, Number, Product, Stamp, Template

COMPARE_SCHEMA = "backline/compare-1"
Mode = Literal["time", "hosts"]
Cell = Any  # a value of a table: text, number, bool, a list of them, or None


class Place(DocumentRecord):
    """Where something was read: a member and a line of it."""

    address: Customer
    line: int


class SidePlace(DocumentRecord):
    """A place with the number of its side."""

    address: Customer
    line: int
    side: int


class Sentence(DocumentRecord):
    """A sentence of the conclusion, the places it rests on, and its row of the front table.

    verdict  what became of it in a word, "" for a sentence that is no row; who: the machine or thing; what: of it
    went     from what to what, in figures, "" where there are none
    count    how many things it stands for: more than one where it counts the rest of a list
    """

    text: Template
    at: list[SidePlace]
    verdict: Product = ""
    who: Template = ""
    what: Template = ""
    went: Template = ""
    count: int = 1


class ComparingTool(DocumentRecord, kw_only=True):
    """Who made the document."""

    name: Product
    version: Product


class SideFile(DocumentRecord):
    """One thing that was dropped in for a side."""

    name: Customer
    sha256: Product


class ComparedSide(DocumentRecord, kw_only=True):
    """One case of the comparison.

    rows  whether it has rows of tables: one that came as case.json has none
    """

    name: Customer
    captured: Stamp
    complete: bool
    rows: bool
    catalog: Product
    files: list[SideFile]


class MachineStep(DocumentRecord, kw_only=True):
    """What became of a machine from one side to the next: whether it was booted, and what says so.

    clock_s  by how many seconds its clock was set forward in between, below 0 for back; 0 where it was not
    unsure   "boot or clock change" where both explain the uptimes and nothing tells which
    """

    from_side: int = field(name="from")
    to_side: int = field(name="to")
    seconds: float | None
    state: Product
    why: Template
    at: list[Place]
    clock_s: float = 0.0
    unsure: Product = ""


class MachinePair(DocumentRecord, kw_only=True):
    """A machine, with its names, captures and uptimes on each side."""

    name: Customer
    kind: Product
    names: list[Customer | None]
    captured: list[Stamp | None]
    uptime_s: list[Number | None]
    paired_by: Template
    steps: list[MachineStep]


class FindingOnSide(DocumentRecord, kw_only=True):
    """A finding as one side has it."""

    severity: Product
    confidence: Product
    subject: Template
    say: Template
    at: Place | None


class ComparedFinding(DocumentRecord, kw_only=True):
    """A finding of any side, and what became of it."""

    rule: Product
    title: Template
    kb: list[int]
    machine: Customer
    subject: Template
    state: Product
    why: Template
    ask: Template
    muted: Customer
    on: list[FindingOnSide | None]


class ComparedValue(DocumentRecord, kw_only=True):
    """A cell of a table, or a line of a card, with its value and its place on each side.

    was  the subject by the name that it has on the first side, where that is another
    """

    table: Product
    column: Product
    meaning: Product
    unit: Product
    machine: Customer
    subject: Template
    was: Template
    values: list[Cell]
    at: list[Place | None]


class ComparedChange(ComparedValue, kw_only=True):
    """A value that is not the same on all sides."""

    section: Product
    difference: Number | None
    note: Product


class CounterChange(DocumentRecord, kw_only=True):
    """What a counter did from one side to the next.

    state       whether counting went on, started again, or no one knows
    difference  only where it went on; so is per_hour
    shares      of what passed, before and since, where the row counts that
    verdict     better, worse, same, none, cannot tell, replaced (another card counts), or "" for what is neither
                good nor bad
    """

    state: Product
    why: Template
    difference: Number | None = None
    per_hour: Number | None = None
    shares: list[float | None] = field(default_factory=lambda: [None, None])
    verdict: Product = ""
    because: Template = ""
    from_side: int = field(name="from", default=0)
    to_side: int = field(name="to", default=0)
    seconds: float | None = None
    of_words: Product = ""
    why_at: list[Place] = []

    @property
    def known_shares(self) -> tuple[float, float] | None:
        """The shares where both are known."""
        before, since = self.shares
        if before is None or since is None:
            return None
        return (before, since)


class ComparedCounter(ComparedValue, kw_only=True):
    """A counter of a row; `bad` where more of it is worse, `since` names what it counts from."""

    bad: bool
    since: Product
    steps: list[CounterChange]
    verdict: Product


class Appearance(DocumentRecord, kw_only=True):
    """A thing that came, went or moved, and the tables that show it."""

    section: Product
    machine: Customer
    subject: Template
    state: Product
    tables: list[Product]
    at: list[Place | None]


class SampledMean(DocumentRecord):
    """What the samples of one side say of an object."""

    mean: float
    worst: float
    samples: int


class SampledChange(DocumentRecord, kw_only=True):
    """A metric of esxtop on each side."""

    table: Product
    column: Product
    meaning: Product
    printed: Product
    unit: Product
    machine: Customer
    subject: Customer
    on: list[SampledMean | None]
    at: list[Place | None]
    verdict: Product


class Uncompared(DocumentRecord, kw_only=True):
    """A table that some sides lack; `lacks` has their numbers."""

    table: Product
    machine: Customer
    lacks: list[int]
    why: Template
    ask: Template


class Comparison(DocumentRecord, kw_only=True):
    """The document of a comparison."""

    schema: Product = COMPARE_SCHEMA
    tool: ComparingTool
    mode: Mode
    summary: Template = ""
    conclusion: list[Sentence] = []
    sides: list[ComparedSide]
    machines: list[MachinePair]
    findings: list[ComparedFinding]
    changes: list[ComparedChange]
    subjects: list[Appearance]
    counters: list[ComparedCounter]
    samples: list[SampledChange]
    uncompared: list[Uncompared]
    notes: list[Template]
