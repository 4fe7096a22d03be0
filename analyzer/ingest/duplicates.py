"""Counts once what came twice: a member twice in an archive, a bundle given twice, a log and its compressed twin.

The same content (its print, and all that was read of it) alone does not make a duplicate: two hosts often print
the same. It has to be of one node and fill the same tables, and then

- a log is the same log, whatever its name: its lines carry their times;
- any other member has to lie at the same place of the same tree (the top folder names host and time of the capture),
  because a second capture that says the same is a fact of its own;
- a text that names its host is the same text;
- a loose text that names no host may come from another host: it has to have the name of a copy beside the first.
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
from analyzer.ingest.nodes import Node
from analyzer.scan.parts import find_needless, is_copy
from analyzer.sources import Ledger

_COPY = re.compile(r"(?: ?\(\d+\)| ?- Copy(?: \(\d+\))?|~)?(\.[A-Za-z0-9]+)?$", re.IGNORECASE)
_TWIN = re.compile(r"(?P<top>(?:^|.*/))(?:commands/(?P<text>.+)\.txt|json/(?P<json>.+)\.json)$")
_NAMED = ("root", "host")  # scopes of places that have a node of their own


@dataclass(frozen=True, slots=True)
class _Seen:
    """A member as far as it is needed to tell whether it came before."""

    taken: Taken
    nodes: frozenset[str]
    tables: frozenset[str]
    named: bool
    log: bool

    @property
    def content(self) -> tuple[Any, ...]:
        """What has to be equal in any case."""
        return (self.taken.print, self.nodes, self.tables, self.log)


def leave_out(intake: Intake, nodes: dict[str, Node], ledger: Ledger) -> None:
    """Take members that came before out of the intake, and name them in the ledger.

    Of a log the first stays; of other members the last, which joins take as the newest. Call it before blocks
    carry the names of their nodes.
    """
    found: dict[tuple[Any, ...], list[_Seen]] = {}
    times = Counter(taken.print for taken in intake.taken)
    for taken in intake.taken:
        if times[taken.print] > 1 and (seen := _look(taken, intake, nodes)).tables:
            found.setdefault((*seen.content, _brought(taken, intake)), []).append(seen)
    gone: list[Taken] = []
    for alike in found.values():
        if len(alike) > 1:
            gone += _duplicates(alike, ledger)
    gone += _twins([taken for taken in intake.taken if taken not in gone], intake, ledger)
    if gone:
        _drop(intake, gone)


def leave_copies_out(intake: Intake) -> None:
    """Forget what copies of a log repeat on machines that sent the log itself: each of its lines counts once."""
    tables = parsing.tables()
    out = find_needless(intake.scans, tables)
    gone = {id(scan) for scan in out}
    intake.scans = [scan for scan in intake.scans if id(scan) not in gone]
    older = [scan for scan in intake.scans if is_copy(scan, tables) and not scan.excerpt]
    covered = {(scan.scope, scan.table, scan.address) for scan in (*out, *older)}
    intake.covers = [
        one for one in intake.covers if (one.place.key, one.table, one.address) not in covered
    ]


def _twins(left: list[Taken], intake: Intake, ledger: Ledger) -> list[Taken]:
    """Return the members that repeat an output of the same tree in the other form, text or JSON.

    The one that tells more stays, of two alike the text, whose lines people know.
    """
    pairs: dict[tuple[str, str], dict[str, Taken]] = {}
    for taken in left:
        match = _TWIN.match(taken.path) if taken.in_tree else None
        if match and taken.rows.stop > taken.rows.start:
            form = "text" if match["text"] else "json"
            pairs.setdefault((taken.root, match["top"] + (match["text"] or match["json"])), {})[
                form
            ] = taken
    gone = []
    for pair in pairs.values():
        if len(pair) == 2:
            kept, other = sorted((pair["text"], pair["json"]), key=lambda one: -_cells(one, intake))
            said = [
                [(row.table.name, row.values) for row in intake.rows[one.rows]]
                for one in (kept, other)
            ]
            if said[0] != said[1]:
                both = f"{kept.record.address} and {other.record.address}"
                ledger.note(
                    f"{both} are the same output as text and as JSON, but they differ; the first one counts"
                )
            record, same = other.record, f"the same output as {kept.record.address}; counts once"
            record.state, record.why, record.lines, record.faults = "duplicate", same, 0, 0
            gone.append(other)
    return gone


def _cells(taken: Taken, intake: Intake) -> int:
    """Return how many cells a member filled."""
    return sum(cell is not None for row in intake.rows[taken.rows] for cell in row.values.values())


def _look(taken: Taken, intake: Intake, nodes: dict[str, Node]) -> _Seen:
    covers = intake.covers[taken.covers]
    places = {cover.place.key: cover.place for cover in covers}
    places |= {scan.scope: intake.places[scan.scope] for scan in intake.scans[taken.scans]}
    places |= {row.block.scope: intake.places[row.block.scope] for row in intake.rows[taken.rows]}
    tables = {cover.table for cover in covers} | {row.table.name for row in intake.rows[taken.rows]}
    stamped = any(scan.first_stamped for scan in intake.scans[taken.scans])
    named = all(place.scope in _NAMED for place in places.values())
    return _Seen(
        taken, frozenset(nodes[key].id for key in places), frozenset(tables), named, stamped
    )


def _brought(taken: Taken, intake: Intake) -> bytes:
    """Return a digest of all that was read of a member: equal prints alone could be chance, or made."""
    rows = [(row.table.name, row.line, row.values) for row in intake.rows[taken.rows]]
    frames = [(frame.table.name, len(frame.line)) for frame in intake.frames[taken.frames]]
    scans = [
        (
            scan.table,
            scan.lines,
            scan.bytes,
            sorted(scan.counts.items()),
            bytes(scan.first),
            bytes(scan.last),
        )
        for scan in intake.scans[taken.scans]
    ]
    hits = [
        (hit.signature, hit.line, hit.text)
        for scan in intake.scans[taken.scans]
        for hit in scan.hits
    ]
    return hashlib.sha256(
        repr((rows, frames, scans, hits)).encode("utf-8", "surrogateescape")
    ).digest()


def _duplicates(alike: list[_Seen], ledger: Ledger) -> list[Taken]:
    """Return the members to be left out of some with equal content, tables and nodes."""
    groups: dict[Any, list[_Seen]] = {}
    for seen in alike:
        groups.setdefault(_place(seen), []).append(seen)
    gone: list[Taken] = []
    for same in groups.values():
        whole = [seen for seen in same if seen.taken.record.state != "cut"] or same
        kept = whole[0] if same[0].log else whole[-1]
        for seen in same:
            if seen is not kept:
                _say(seen.taken, kept.taken)
                gone.append(seen.taken)
    loose = [same[0] for same in groups.values() if not same[0].named]
    for seen in loose[1:]:
        first, other = loose[0].taken.record.address, seen.taken.record.address
        ledger.note(f"{first} and {other} have the same content and name no host; both count")
    return gone


def _place(seen: _Seen) -> tuple[Any, ...]:
    """Return what has to be equal besides the content."""
    taken = seen.taken
    if seen.log:
        return ()
    if taken.in_tree:
        return (taken.path, "" if seen.named else taken.root)
    return () if seen.named else (_COPY.sub(r"\1", taken.path),)


def _say(gone: Taken, kept: Taken) -> None:
    record = gone.record
    twice = record.address == kept.record.address
    same = (
        "an earlier member has the same name and content"
        if twice
        else f"same content as {kept.record.address}"
    )
    record.state, record.why, record.lines, record.faults = (
        "duplicate",
        f"{same}; counts once",
        0,
        0,
    )


def _drop(intake: Intake, gone: list[Taken]) -> None:
    for name in ("rows", "frames", "scans", "covers", "spans", "faults"):
        out = {
            place
            for one in gone
            for place in range(getattr(one.before, name), getattr(one.after, name))
        }
        if out:
            kept = [entry for place, entry in enumerate(getattr(intake, name)) if place not in out]
            setattr(intake, name, kept)
    intake.faults_total -= sum(one.after.faults_total - one.before.faults_total for one in gone)
    intake.taken = []  # their places no longer fit
