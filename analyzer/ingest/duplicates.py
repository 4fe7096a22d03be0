"""Counts once what came twice: a member twice in an archive, a bundle given twice, a log and its compressed twin.

The same content (its print, and all that was read of it) alone does not make a duplicate: two hosts often print
the same. It has to be of one node and fill the same tables, and then

- a log is the same log, whatever its name: its lines carry their times;
- any other member has to lie at the same place of the same tree (the top folder names host and time of the capture),
  because a second capture that says the same is a fact of its own;
- a text that names its host is the same text;
- a loose text that names no host may come from another host: it has to have the name of a copy next to the first.
  Otherwise both count, and a note says so.

A bundle holds some outputs as text and as JSON (`commands/X.txt`, `json/X.json`): of these twins one counts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from analyzer.artefacts import parsing
from analyzer.ingest.intake import Intake, Taken
from analyzer.ingest.nodes import Nodes
from analyzer.scan.parts import find_needless, is_copy
from analyzer.sources import Ledger

_COPY = re.compile(r"(?: ?\(\d+\)| ?- Copy(?: \(\d+\))?|~)?(\.[A-Za-z0-9]+)?$", re.IGNORECASE)
_TWIN = re.compile(r"(?P<top>(?:^|.*/))(?:commands/(?P<text>.+)\.txt|json/(?P<json>.+)\.json)$")
_NAMED = ("root", "host")  # scopes of places that have a node of their own


@dataclass(frozen=True, slots=True)
class _Seen:
    """A member as far as it is needed to know whether it came before."""

    taken: Taken
    nodes: frozenset[str]
    tables: frozenset[str]
    named: bool
    log: bool

    @property
    def place(self) -> tuple[Any, ...]:
        """What has to be equal besides the content."""
        path = self.taken.path
        if self.log:
            return ()
        if self.taken.in_tree:
            return (path, "" if self.named else self.taken.root)
        return () if self.named else (_COPY.sub(r"\1", path),)


def drop_duplicates(intake: Intake, nodes: Nodes, ledger: Ledger) -> None:
    """Take members that came before out of the intake, and name them in the ledger.

    Of a log the first stays; of other members the last, which joins take as the newest. Call it before blocks
    carry the names of their nodes.
    """
    groups: dict[tuple[Any, ...], list[_Seen]] = {}
    times = Counter(taken.print for taken in intake.taken)
    for taken in intake.taken:
        if times[taken.print] < 2:
            continue
        seen = _examine_member(taken, intake, nodes)
        if seen.tables:
            content = _digest_content(taken, intake)
            key = (taken.print, seen.nodes, seen.tables, seen.log, content)
            groups.setdefault(key, []).append(seen)
    gone: list[Taken] = []
    for alike in groups.values():
        if len(alike) > 1:
            gone += _choose_duplicates(alike, ledger)
    left = [taken for taken in intake.taken if taken not in gone]
    gone += _choose_twins(left, intake, ledger)
    if not gone:
        return

    for name in ("rows", "frames", "scans", "covers", "spans", "faults"):
        out: set[int] = set()
        for one in gone:
            out.update(range(getattr(one.before, name), getattr(one.after, name)))
        if out:
            entries = enumerate(getattr(intake, name))
            setattr(intake, name, [entry for place, entry in entries if place not in out])
    intake.faults_total -= sum(one.after.faults_total - one.before.faults_total for one in gone)
    intake.taken = []  # their places no longer fit


def drop_log_copies(intake: Intake) -> None:
    """Forget what copies of a log repeat on machines that sent the log itself: each of its lines counts once."""
    tables = parsing.tables()
    needless = find_needless(intake.scans, tables)
    gone = {id(scan) for scan in needless}
    intake.scans = [scan for scan in intake.scans if id(scan) not in gone]
    older = [scan for scan in intake.scans if is_copy(scan, tables) and not scan.excerpt]
    covered = {(scan.scope, scan.table, scan.address) for scan in (*needless, *older)}
    intake.covers = [
        one for one in intake.covers if (one.place.key, one.table, one.address) not in covered
    ]


def _examine_member(taken: Taken, intake: Intake, nodes: Nodes) -> _Seen:
    covers, scans = intake.covers[taken.covers], intake.scans[taken.scans]
    places = {cover.place.key: cover.place for cover in covers}
    tables = {cover.table for cover in covers}
    for scan in scans:
        places[scan.scope] = intake.places[scan.scope]
    for row in intake.rows[taken.rows]:
        places[row.block.scope] = intake.places[row.block.scope]
        tables.add(row.table.name)
    machines = frozenset(nodes[key].id for key in places)
    is_log = any(scan.first_stamped for scan in scans)
    named = all(place.scope in _NAMED for place in places.values())
    return _Seen(taken, machines, frozenset(tables), named, is_log)


def _digest_content(taken: Taken, intake: Intake) -> bytes:
    """Return a digest of all that was read of a member: equal prints alone could be chance, or made."""
    rows = [(row.table.name, row.line, row.values) for row in intake.rows[taken.rows]]
    frames = [(frame.table.name, len(frame.line)) for frame in intake.frames[taken.frames]]
    scans: list[tuple[Any, ...]] = []
    hits: list[tuple[Any, ...]] = []
    for scan in intake.scans[taken.scans]:
        counts = sorted(scan.counts.items())
        ends = bytes(scan.first), bytes(scan.last)
        scans.append((scan.table, scan.lines, scan.bytes, counts, *ends))
        hits += [(hit.signature, hit.line, hit.text) for hit in scan.hits]
    content = repr((rows, frames, scans, hits))
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).digest()


def _choose_duplicates(alike: list[_Seen], ledger: Ledger) -> list[Taken]:
    """Return the members to be left out of some with equal content, tables and nodes."""
    groups: dict[Any, list[_Seen]] = {}
    for seen in alike:
        groups.setdefault(seen.place, []).append(seen)
    gone: list[Taken] = []
    for same in groups.values():
        complete = [seen for seen in same if seen.taken.record.state != "cut"] or same
        kept = complete[0] if same[0].log else complete[-1]
        address = kept.taken.record.address
        for seen in same:
            if seen is kept:
                continue
            why = f"same content as {address}"
            if seen.taken.record.address == address:
                why = "an earlier member has the same name and content"
            _mark_duplicate(seen.taken, why)
            gone.append(seen.taken)

    loose = [same[0] for same in groups.values() if not same[0].named]
    for seen in loose[1:]:
        first, other = loose[0].taken.record.address, seen.taken.record.address
        ledger.note(f"{first} and {other} have the same content and name no host; both count")
    return gone


def _choose_twins(left: list[Taken], intake: Intake, ledger: Ledger) -> list[Taken]:
    """Return the members that repeat an output of the same tree in the other form, text or JSON.

    The one with more cells stays, of two alike the text, whose lines people know.
    """
    pairs: dict[tuple[str, str], dict[str, Taken]] = {}
    for taken in left:
        match = _TWIN.match(taken.path) if taken.in_tree else None
        if match and taken.rows.stop > taken.rows.start:
            output = match["top"] + (match["text"] or match["json"])
            pair = pairs.setdefault((taken.root, output), {})
            pair["text" if match["text"] else "json"] = taken

    def count_cells(taken: Taken) -> int:
        cells = 0
        for row in intake.rows[taken.rows]:
            cells += sum(cell is not None for cell in row.values.values())
        return cells

    def list_values(taken: Taken) -> list[tuple[str, Any]]:
        return [(row.table.name, row.values) for row in intake.rows[taken.rows]]

    gone = []
    for pair in pairs.values():
        if len(pair) < 2:
            continue
        kept, other = pair["text"], pair["json"]
        if count_cells(other) > count_cells(kept):
            kept, other = other, kept
        if list_values(kept) != list_values(other):
            both = f"{kept.record.address} and {other.record.address}"
            ledger.note(
                f"{both} are the same output as text and as JSON, but they differ; the first one counts"
            )
        _mark_duplicate(other, f"the same output as {kept.record.address}")
        gone.append(other)
    return gone


def _mark_duplicate(taken: Taken, why: str) -> None:
    record = taken.record
    record.state, record.why = "duplicate", f"{why}; counts once"
    record.lines = record.faults = 0
