"""What facts hold besides rows: nodes, how well a table was read on one, where a row was read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from analyzer.artefacts.tables import Block, Frame, Row, Table

# Kinds of node that the tables of a product speak of, where no parser says it more closely.
PRODUCT_KINDS: dict[str, tuple[str, ...]] = {
    "api": (),  # of whoever called: no machine lacks it
    "esxi": ("esxi",),
    "esxtop": ("esxi",),
    "guest": ("guest",),
    "nsx": ("nsx_manager", "nsx_controller", "nsx_edge"),
    "nsxt": ("nsxt_manager", "nsxt_edge", "nsx_t"),  # nsx_t: a node whose role nothing tells
    "site": ("nsx_manager", "nsx_controller", "nsx_edge"),
    "vcenter": ("vcenter",),
}


# Beginnings of the names of the VIBs that a product puts on ESXi hosts.
PRODUCT_VIBS: dict[str, tuple[str, ...]] = {
    "nsx": ("esx-nsxv", "esx-vxlan", "esx-vsip"),
    "nsxt": ("nsx-",),
}

LOSSY = frozenset(("excerpt", "unparsed", "cut"))  # states in which rows may be missing


@dataclass(slots=True)
class NodeInfo:
    """One machine of the case.

    captured  UTC stamp of the capture, "" when unknown: years of log lines without one
    complete  False when its archive was cut: absence proves nothing there
    loose     True when no bundle of it is there: somebody chose what is
    """

    key: str
    name: str
    kind: str = ""
    product: str = ""
    captured: str = ""
    complete: bool = True
    loose: bool = False


@dataclass(slots=True)
class Coverage:
    """How well one table was read on one node: read, unparsed, cut, or "" for never there.

    A log of which only some lines are there, as `grep` or `tail` print them, is an `excerpt`.

    rescan  True when what is missing is in the case's own files, and reading them once more helps
    """

    state: str = ""
    why: str = ""
    addresses: dict[str, None] = field(default_factory=dict)  # in the order they were read
    rescan: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a row was read: its block, its line, and the row or the place in a frame."""

    block: Block
    line: int
    row: Row | None = None
    frame: Frame | None = None
    index: int = 0


@dataclass(slots=True)
class MadeRow(Row):
    """A row that is made of rows of several tables.

    read_from  column -> the row its value was read from
    lacks      column -> the table that would tell its value, and why it does not
    """

    read_from: Mapping[str, Row] = field(default_factory=dict)
    lacks: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def line_of(self, column: str) -> int:
        """Return the line number a column's value was read from."""
        row = self.read_from.get(column)
        if row is None:
            return self.line
        return row.line_of(column)

    def block_of(self, column: str) -> Block:
        """Return the block a column's value was read from."""
        row = self.read_from.get(column)
        if row is None:
            return self.block
        return row.block


class SharedRows:
    """Rows of one table that the facts of several cases hold alike; no one changes them.

    places      each block of theirs, and how many rows it has
    worked_out  what was made of these rows alone, for all of those cases
    """

    __slots__ = ("places", "rows", "worked_out")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        blocks = {id(row.block): row.block for row in rows}
        self.places = [
            (blocks[key], count) for key, count in Counter(id(row.block) for row in rows).items()
        ]
        self.worked_out: dict[Hashable, object] = {}


@dataclass(slots=True)
class Store:
    """The rows of one table in one case.

    first_rows  the rows that came first, where they are shared with other cases
    """

    table: Table
    rows: list[Row] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)  # their rows are numbered after `rows`
    first_rows: SharedRows | None = None

    _firsts: list[int] = field(default_factory=list)

    def number_frames(self) -> Iterator[tuple[int, Frame]]:
        """Yield each frame with the number of its first row."""
        return zip(self.list_firsts(), self.frames, strict=True)

    @property
    def only_shared(self) -> SharedRows | None:
        """Return the shared rows that are all this table has; None when it has others."""
        first = self.first_rows
        if first is not None and len(first.rows) == len(self.rows) and not self.frames:
            return first
        return None

    def list_firsts(self) -> list[int]:
        """Return the number of the first row of each frame."""
        known = self._firsts
        if len(known) != len(self.frames) or (known and known[0] != len(self.rows)):
            counts = (len(frame.line) for frame in self.frames[:-1])
            known = self._firsts = (
                list(accumulate(counts, initial=len(self.rows))) if self.frames else []
            )
        return known

    def find_frame(self, row: int) -> tuple[int, Frame] | None:
        """Return the frame that holds a row, with the number of its first row; None when none does."""
        place = bisect_right(self.list_firsts(), row) - 1
        if place < 0:
            return None
        first = self._firsts[place]
        frame = self.frames[place]
        if row - first < len(frame.line):
            return first, frame
        return None
