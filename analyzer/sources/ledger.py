"""What happened to every source: read, listed, cut, damaged, limited.

Nothing is lost silently: whatever is not read leaves a record, a damage, a
limit or a note here, and the report prints them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.runtime.limits import LimitHit

# What became of a source. duplicate: its content came before, and counts once. unknown: it came in by itself or
# looks like support material, and nothing understands it. other: a file that lies next to the material (a mail, a
# picture) and that nothing understands.
STATES = (
    "read",
    "searched",
    "duplicate",
    "listed",
    "skipped",
    "cut",
    "refused",
    "unknown",
    "other",
)
LOST = frozenset(("cut", "refused", "unknown"))  # with one of these a case is not complete


@dataclass(slots=True)
class SourceRecord:
    """One member or file of the case and what became of it.

    address  `outer.tgz!top/var/log/x.log`
    size     bytes as its container lists it (packed size for a compressed file); None when unknown
    state    one of STATES
    why      reason in plain words when the state is not read
    read_by  name of the parser or scanner, set by the consumer
    faults   lines not understood, among `looked_at` lines (0: among all of `lines`)
    outputs  of commands of a transcript that nothing reads: (line of the command, command, lines of output)
    """

    address: str
    size: int | None = None
    state: str = "listed"
    why: str = ""
    read_by: str = ""
    lines: int = 0
    faults: int = 0
    looked_at: int = 0
    outputs: list[tuple[int, str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Damage:
    """One fault of an archive or file.

    address   archive or member it concerns
    offset    byte offset in that archive as stored (compressed), -1 when there is none
    what      the fault in plain words
    left_out  what could not be read because of it
    """

    address: str
    offset: int
    what: str
    left_out: str = ""

    def __str__(self) -> str:
        at = f" at byte {self.offset}" if self.offset >= 0 else ""
        rest = f"; {self.left_out}" if self.left_out else ""
        return f"{self.address}: {self.what}{at}{rest}"


@dataclass(slots=True)
class Given:
    """A file, archive or tree that came in as one thing; what was met in it is `sources[first:last]` of the ledger.

    alone  named by the user, not only lying in a folder
    looks  "log", "table" or "archive" when it looks like support material, "" when not; None: it was never opened
    """

    address: str
    alone: bool
    first: int
    last: int = 0
    looks: str | None = None


@dataclass(slots=True)
class Ledger:
    """Everything that was met on the way through the sources of one case.

    given  what came in, in the order in which it was met
    links  address of a link inside a tree -> address it points to in the same tree
    roots  root of a tree inside an archive -> address of that archive
    """

    sources: list[SourceRecord] = field(default_factory=list)
    limits: list[LimitHit] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    damage_total: int = 0
    _incomplete: set[str] = field(default_factory=set)
    _limited: set[tuple[str, str]] = field(default_factory=set)

    most = 2000  # a hostile archive can have a fault in each block; the rest is counted

    def record(
        self, address: str, size: int | None = None, state: str = "listed", why: str = ""
    ) -> SourceRecord:
        """Add and return the record of one source."""
        entry = SourceRecord(address, size, state, why)
        self.sources.append(entry)
        return entry

    def begin_given(self, address: str, *, alone: bool) -> Given:
        """Note that a file or tree came in; the caller sets `last` when it has gone by."""
        one = Given(address, alone, len(self.sources), len(self.sources))
        self.given.append(one)
        return one

    def add_damage(self, address: str, offset: int, what: str, left_out: str = "") -> None:
        """Add a fault and mark its archive as incomplete."""
        self._incomplete.add(address)
        self.damage_total += 1
        if len(self.damage) < self.most:
            self.damage.append(Damage(address, offset, what, left_out))
        elif self.damage_total == self.most + 1:
            self.note(f"{address}: more than {self.most} faults; the rest is counted, not listed")

    def note_change(self, address: str, what: str) -> None:
        """Add a file that is still being written, before the faults that follow from it."""
        self.add_damage(address, -1, what, "what came later")
        self.damage.sort(key=lambda one: one.what != what)

    def add_limit(self, hit: LimitHit) -> None:
        """Add a limit that was reached, once for each place, and mark the place as incomplete."""
        self._incomplete.add(hit.address)
        if (hit.address, hit.name) in self._limited:
            return
        self._limited.add((hit.address, hit.name))
        if len(self.limits) < self.most:
            self.limits.append(hit)
        elif len(self._limited) == self.most + 1:
            self.note(f"{hit.address}: limits were reached in more than {self.most} places")

    def note(self, text: str) -> None:
        """Add a remark that costs nothing of the content."""
        if text not in self.notes[-50:] and len(self.notes) < self.most:
            self.notes.append(text)

    def mark_incomplete(self, address: str) -> None:
        """Say that the archive or folder at `address` was not read to its end."""
        self._incomplete.add(address)

    def is_complete(self, root: str) -> bool:
        """Say whether the archive, folder or file that holds `root` was read whole and sound.

        When False, something absent under `root` proves nothing.
        """
        holder = self.roots.get(root) or root.rpartition("!")[0] or root
        return root not in self._incomplete and holder not in self._incomplete
