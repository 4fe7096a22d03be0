"""Compaction: loose packs become segments, and objects no one needs are swept.

A segment is whole before the packs it takes over are deleted, so a case is always readable: a run
that is killed, or two at once, leave at most doubles, which a snapshot collapses.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from analyzer.archive.claims import CLAIMS, claim_counts
from analyzer.archive.entries import Snapshot, is_segment, list_segments
from analyzer.archive.entry import MANIFEST, PACKS, SEGMENTS, Stored
from analyzer.archive.object_store.object_store import GoneError, Object
from analyzer.archive.store import Archive, lost_cases
from analyzer.archive.upkeep.segment import write_segment

TARGET = 500  # cases of a segment
FEW = 50  # loose cases; fewer are not worth a segment, which is about 45 objects
DAY = 86_400.0
MOST_BYTES = 256_000_000  # of packs that go into one segment: what is unpacked at a time
CLAIM = "compaction"

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class CompactionReport:
    """What a compaction did.

    segments  written; cases: in them; packs: deleted because a segment has their cases
    swept     objects deleted because no one needs them any more
    damaged   (object, why) of cases that could not be read; they are left where they are
    left      loose cases that were left as they are because they are few
    busy      True when another compaction is running on this archive; then nothing was done
    """

    segments: int = 0
    cases: int = 0
    packs: int = 0
    swept: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0
    busy: bool = False


def compact_archive(
    archive: Archive,
    *,
    target: int = TARGET,
    few: int = 0,
    all: bool = False,  # the word of the command
    older_than: float = DAY,
    drop_superseded: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> CompactionReport:
    """Put loose cases into segments of `target` cases, and sweep what no one needs.

    few              leave fewer loose cases than this as they are, unless `all` is given
    all              rewrite segments as well that are superseded in part, or small
    older_than       seconds; younger debris may belong to somebody at work and is left
    drop_superseded  delete cases whose source was read again with other content since
    progress         called with (cases done, cases in all)

    Raises StorageError when the store refuses; what was done until then is done.
    """
    report = CompactionReport()
    if not archive.claims.take_claim(CLAIM):
        report.busy = True
        return report
    try:
        _write_all(archive, (target, 0 if all else few), all, drop_superseded, report, progress)
        found = find_debris(archive, drop_superseded=drop_superseded)
        now = time.time()

        def select_old(items: Iterable[Object]) -> list[Object]:
            return [item for item in items if now - item.mtime >= older_than]

        for item in (*select_old(found.packs), *select_old(found.claims)):
            archive.objects.delete(item.name)
            report.swept += 1
        for item in select_old(found.dead):
            report.swept += delete_segment(archive, item.name)
        half = select_old(found.half)
        lost = lost_cases(archive.take_snapshot()) if half else {}
        for item in (item for item in half if item.name not in lost):
            if not archive.objects.exists(
                f"{item.name}/{MANIFEST}"
            ):  # its writer may have finished meanwhile
                report.swept += delete_segment(archive, item.name)
        for item in select_old(found.moving):
            archive.objects.sweep_leftover(item.name)
            report.swept += 1
    finally:
        archive.claims.release_claim(CLAIM)
    return report


def _write_all(
    archive: Archive,
    sizes_wanted: tuple[int, int],
    rewrite: bool,
    drop: bool,
    report: CompactionReport,
    progress: Progress,
) -> None:
    """Write the segments, and delete what each took over; with fewer cases than the second size nothing."""
    target, few = sizes_wanted
    snapshot = archive.take_snapshot()
    kept = snapshot.list_visible_cases() if drop else snapshot.list_every_case()
    old = _to_rewrite(snapshot, kept, target) if rewrite else set()
    visible = {case.id for case in snapshot.list_visible_cases()}
    cases = []
    for case in kept:
        if find_holders(case) & old or (
            case.id in visible
            and (case.judged.place < 0 or (case.facts is not None and case.facts.place < 0))
        ):
            cases.append(case)
    if len(cases) < few:
        report.left = len(cases)
        return
    sizes = sizes_of(archive, cases)
    done = 0
    for some in split_portions(cases, sizes, target):
        archive.claims.take_claim(CLAIM)  # anew: a claim runs out
        written = write_segment(archive.objects, some)
        report.damaged += written.damaged
        report.segments += bool(written.taken)
        report.cases += len(written.taken)
        # Delete the packs of cases that a segment has now; return how many
        packs = sorted(
            {
                holder
                for case in written.taken
                for holder in find_holders(case)
                if holder.startswith(PACKS)
            }
        )
        for name in packs:
            archive.objects.delete(name)
        report.packs += len(packs)
        done += len(some)
        progress(done, len(cases))
    if old:
        # Delete segments of which nothing is needed any more
        now = archive.take_snapshot()
        needed = _needed_holders(now, drop)
        for holder in sorted(old - needed):
            delete_segment(archive, holder)


def find_holders(case: Stored) -> set[str]:
    """Return where a case lies: its judgement, and its facts."""
    return {entry.holder for entry in (case.judged, case.facts) if entry is not None}


def _to_rewrite(snapshot: Snapshot, kept: Sequence[Stored], target: int) -> set[str]:
    """Return the segments of which a part is superseded, and small ones when there are several."""
    total = Counter(entry.holder for entry in snapshot.held if entry.place >= 0)
    live: Counter[str] = Counter()
    parted = set()
    for case in kept:
        for entry in {case.judged, case.facts} - {None}:
            if entry is not None and entry.place >= 0:
                live[entry.holder] += 1
        if len(find_holders(case)) > 1:  # its judgement is newer than the segment of its facts
            parted |= find_holders(case)
    worn = {
        holder for holder, count in total.items() if 0 < live[holder] < count or holder in parted
    }
    small = {holder for holder, count in total.items() if live[holder] and count < target // 2}
    return worn | (small if len(small) > 1 else set())


def sizes_of(archive: Archive, cases: Iterable[Stored]) -> dict[str, int]:
    """Return the bytes that a case of each holder has, by listing."""
    shared = Counter(holder for case in cases for holder in find_holders(case))
    sizes: dict[str, int] = defaultdict(int)
    for item in (*archive.objects.list(PACKS), *archive.objects.list(SEGMENTS)):
        holder = item.name if item.name in shared else item.name.rpartition("/")[0]
        if holder in shared:
            sizes[holder] += item.size
    return {holder: size // shared[holder] for holder, size in sizes.items()}


def split_portions(
    cases: Sequence[Stored], sizes: dict[str, int], target: int
) -> Iterator[list[Stored]]:
    """Yield the cases of one segment at a time: read in one way, oldest first."""
    some: list[Stored] = []
    held = 0
    for case in sorted(cases, key=lambda case: (case.judged.reading, case.judged.stamp, case.id)):
        size = sum(sizes.get(holder, 0) for holder in find_holders(case))
        full = len(some) >= max(1, target) or held + size > MOST_BYTES
        if some and (full or some[-1].judged.reading != case.judged.reading):
            yield some
            some, held = [], 0
        some.append(case)
        held += size
    if some:
        yield some


def delete_segment(archive: Archive, holder: str) -> int:
    """Delete a segment, its manifest first: without it the segment is not there. Return the number of objects."""
    names = [item.name for item in archive.objects.list(holder + "/")]
    manifest = f"{holder}/{MANIFEST}"
    for name in sorted(names, key=lambda name: (name != manifest, name)):
        archive.objects.delete(name)
    return len(names)


def _needed_holders(snapshot: Snapshot, drop: bool) -> set[str]:
    """Return the holders of the cases that are kept."""
    kept = snapshot.list_visible_cases() if drop else snapshot.list_every_case()
    return {holder for case in kept for holder in find_holders(case)}


@dataclass(slots=True)
class Debris:
    """What no one needs any more.

    packs, dead  superseded packs and segments, each replaced by a newer one
    half         folders of segments without a manifest: written by a run that was killed, or right now
    moving       what lies in tmp/
    claims       those that ran out
    """

    packs: list[Object] = field(default_factory=list)
    dead: list[Object] = field(default_factory=list)
    half: list[Object] = field(default_factory=list)
    moving: list[Object] = field(default_factory=list)
    claims: list[Object] = field(default_factory=list)


def find_debris(archive: Archive, *, drop_superseded: bool = False) -> Debris:
    """Return what no one needs any more, of any age; `name` of a segment's object is the segment."""
    objects = archive.objects
    packs = {item.name: item for item in objects.list(PACKS)}
    listed = list(objects.list(SEGMENTS))
    snapshot = archive.take_snapshot()
    needed = _needed_holders(snapshot, drop_superseded)
    broken = {name.rpartition("/")[0] for name, _ in snapshot.faults}
    whole = {item.name.rpartition("/")[0] for item in list_segments(listed)}
    found = Debris(moving=list(objects.on_the_way()))
    known = {entry.holder for entry in snapshot.held}
    found.packs = [item for name, item in packs.items() if name in known and name not in needed]
    by_folder: dict[str, list[Object]] = defaultdict(list)
    for item in listed:
        if is_segment(item.name):
            by_folder[item.name.rpartition("/")[0]].append(item)
    for holder, items in by_folder.items():
        item = Object(holder, sum(one.size for one in items), max(one.mtime for one in items))
        if holder not in whole:
            found.half.append(item)
        elif holder in known and holder not in needed and holder not in broken:
            found.dead.append(item)
    for item in objects.list(CLAIMS):
        with suppress(GoneError):
            if not claim_counts(objects.get(item.name)):
                found.claims.append(item)
    return found
