"""Takes cases out of an archive: their packs, their part of a segment, their labels, and the hashes of their files.

A segment is never changed in place. What else it holds goes into a new one first, so that no other case is lost by a
run that is killed; the old segment is deleted last.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.archive.documents import DamagedError
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import PACKS, Entry, Stored
from analyzer.archive.hashcache import HASHES, forget_hashes
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.store import LABELS, Archive
from analyzer.archive.upkeep.compaction import (
    CLAIM,
    delete_segment,
    find_holders,
    sizes_of,
    split_portions,
)
from analyzer.archive.upkeep.segment import write_segment
from analyzer.runtime.errors import BacklineError

TARGET = 500  # cases of a segment that is written anew


@dataclass(slots=True)
class Removal:
    """What belongs to cases that are to be removed, or were.

    names      of the cases, by id, with every id that was read from the same source
    sources    where they were read from; the files there are never touched
    entries    each revision, wherever it lies
    labels     objects of their labels
    rewritten  other cases that go into a new segment
    hashes     files whose checksums are forgotten
    """

    names: dict[str, str] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    rewritten: int = 0
    hashes: int = 0

    @property
    def pack_names(self) -> list[str]:
        """The packs of the cases; a pack holds one case."""
        return sorted({entry.holder for entry in self.entries if entry.holder.startswith(PACKS)})

    @property
    def segment_names(self) -> list[str]:
        """The segments that hold them next to other cases."""
        return sorted(
            {entry.holder for entry in self.entries if not entry.holder.startswith(PACKS)}
        )


def plan_removal(archive: Archive, cases: Sequence[Stored]) -> Removal:
    """Return what belongs to some cases, and to what was read from their sources before; nothing is changed."""
    now = archive.take_snapshot()
    wanted = {case.id for case in cases}
    sources = {entry.source for entry in now.held if entry.id in wanted}
    found = Removal(entries=[entry for entry in now.held if entry.source in sources])
    left = {entry.id for entry in now.held if entry.source not in sources}
    gone = {entry.id for entry in found.entries} - left
    for case in now.list_every_case():
        if case.id in gone:
            try:
                meta = archive.read_meta(case)
            except (DamagedError, GoneError):
                meta = {}
            found.names[case.id] = str(meta.get("name") or "")
            found.sources.append(str(meta.get("source") or ""))
    found.sources = sorted({source for source in found.sources if source})
    found.labels = [
        item.name for item in archive.objects.list(LABELS) if item.name.split("/")[1] in gone
    ]
    found.rewritten = len(_find_neighbours(now, found))
    return found


def _find_neighbours(now: Snapshot, found: Removal) -> list[Stored]:
    """Return the cases that share a segment with those to be removed, as they stand without them."""
    sources, segments = {entry.source for entry in found.entries}, set(found.segment_names)
    rest = Snapshot(
        now.objects, [entry for entry in now.held if entry.source not in sources], [], []
    )
    return [case for case in rest.list_every_case() if find_holders(case) & segments]


def remove_cases(archive: Archive, cases: Sequence[Stored]) -> Removal:
    """Remove some cases with all their revisions and labels; return what is gone.

    Raises BacklineError when a compaction is at work or a case next to them cannot be read (then all stays as it is),
    StorageError when the store refuses.
    """
    if not archive.claims.take_claim(CLAIM):
        raise BacklineError(
            "a compaction is at work in this archive", do="Remove the case when it has ended."
        )
    try:
        found = plan_removal(archive, cases)
        # Write the cases that share a segment with those to be removed into new segments
        others = _find_neighbours(archive.take_snapshot(), found)
        for some in split_portions(others, sizes_of(archive, others), TARGET):
            archive.claims.take_claim(CLAIM)  # anew: a claim runs out
            written = write_segment(archive.objects, some)
            if written.damaged:
                where, why = written.damaged[0]
                do = "Run `backline archive verify`; the case stays until its segment can be read."
                raise BacklineError(
                    "a segment cannot be rewritten without the case", where=where, why=why, do=do
                )
        for name in (*found.pack_names, *found.labels):
            archive.objects.delete(name)
        for holder in found.segment_names:
            delete_segment(archive, holder)
        # Forget the checksums of the files of some sources: the file itself, its pieces, all
        # below it.

        def of_them(path: str) -> bool:
            return any(
                path == one or path.startswith((f"{one}/", f"{one}{os.sep}", f"{one}."))
                for one in found.sources
            )

        found.hashes = sum(
            forget_hashes(archive.objects, item.name, of_them)
            for item in archive.objects.list(HASHES)
        )
        return found
    finally:
        archive.claims.release_claim(CLAIM)
