"""Verification: reads every object and names everything that is not as it was written.

No object is written; tables of packs lie in a private folder below tmp/ meanwhile. Runs at work do no
harm: what goes away while it is looked at is looked for again.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from analyzer.archive import documents
from analyzer.archive.claims import CLAIMS
from analyzer.archive.documents import BASE, DOCUMENT, DOCUMENTS, META
from analyzer.archive.entries import entries_of, is_segment, list_segments, read_manifest
from analyzer.archive.entry import MANIFEST, PACKS, SEGMENTS, Entry
from analyzer.archive.hashcache import HASHES
from analyzer.archive.object_store.object_store import (
    FORMATS,
    HEAD,
    GoneError,
    Object,
    head_of,
    make_workplace,
)
from analyzer.archive.seal import unsealed_json
from analyzer.archive.store import LABELS, Archive, lost_cases, read_label
from analyzer.archive.upkeep import checks, compaction
from analyzer.archive.upkeep.segment import broken_files
from analyzer.facts.database import duck_said
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    pass

AT_ONCE = 100  # packs whose tables are looked at with one question
ROOMS = (PACKS, SEGMENTS, LABELS, HASHES, CLAIMS)

Progress = Callable[[int, int], None]

AGAIN = "Restore it from a copy; or delete this object, then run the batch over its source again."
SEGMENT = "Restore it from a copy; or delete the folder of the segment, then run the batch over the sources again."
LOST = "Restore manifest.json from a copy, or run the batch over the sources again; compact leaves it alone until then."
STRANGE = "Move it out of the archive."


@dataclass(frozen=True, slots=True, order=True)
class ArchiveProblem:
    """Something that is not as it should be.

    weight  0 the archive as a whole, 1 cases are lost, 2 a case is not to be trusted, 3 something else, 4 a remark
    """

    weight: int
    object: str
    what: str
    do: str


@dataclass(slots=True)
class VerifyReport:
    """What was looked at, and what was found, worst first. Remarks are no problems."""

    objects: int = 0
    bytes: int = 0
    cases: int = 0
    problems: list[ArchiveProblem] = field(default_factory=list)
    remarks: list[ArchiveProblem] = field(default_factory=list)


def verify_archive(
    archive: Archive, *, progress: Progress = lambda _done, _total: None
) -> VerifyReport:
    """Look at every object of an archive. `progress` is called with (bytes done, bytes in all).

    Raises StorageError when the store cannot be read.
    """
    with make_workplace(archive.objects) as folder:
        found = _Verifier(archive, folder, progress)
        found.verify_all()
    found.note_debris()
    found.report.problems.sort()
    found.report.remarks.sort()
    return found.report


class _Verifier:
    """One verification."""

    def __init__(self, archive: Archive, folder: Path, progress: Progress) -> None:
        self.archive, self.objects, self.folder, self.progress = (
            archive,
            archive.objects,
            folder,
            progress,
        )
        self.report = VerifyReport()
        self.done = 0

    def verify_all(self) -> None:
        """Look at everything."""
        snapshot = self.archive.take_snapshot()
        listing = list(self.objects.list())
        self.report.objects, self.report.bytes = len(listing), sum(item.size for item in listing)
        self.report.cases = len(snapshot.list_visible_cases())
        rooms: dict[str, list[Object]] = defaultdict(list)
        for item in listing:
            rooms[next((room for room in ROOMS if item.name.startswith(room)), "")].append(item)
        for item in rooms[""]:
            if item.name != HEAD:
                self._add_problem(3, item.name, "it is not part of an archive", STRANGE)
            elif self.objects.get(HEAD) not in [head_of(one) for one in FORMATS]:
                self._add_problem(
                    0, HEAD, "its bytes are not those that were written", "Restore it from a copy."
                )
            self._count_bytes(item.size)
        # Look at the packs, the tables of many of them together
        rest = iter(rooms[PACKS])
        while some := list(islice(rest, AT_ONCE)):
            entries: list[Entry] = []
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                for item in some:
                    entry = Entry.parse_name(item.name)
                    if entry is None:
                        why = "its name is not that of a stored case"
                        self._add_problem(3, item.name, why, STRANGE)
                    else:
                        self._verify_pack(entry, Path(folder), len(entries))
                        entries.append(entry)
                    self._count_bytes(item.size)
                self._pack_tables(entries, Path(folder))
        self._verify_segments(rooms[SEGMENTS])
        self._verify_small(
            rooms[LABELS], _label_wrong, 2, "Give the label again, then delete this object."
        )
        self._verify_small(
            rooms[HASHES],
            _hashes_wrong,
            3,
            "Delete it: it is a cache, and not used while it is broken.",
        )
        self._count_bytes(sum(item.size for item in rooms[CLAIMS]))
        if all(
            case.facts is not None or case.judged.kind == "none"
            for case in snapshot.list_every_case()
        ):
            return
        for case in snapshot.take_again().list_every_case():
            if case.facts is None and case.judged.kind != "none":
                what = f"the facts of case {case.id[:12]} are missing: it can be shown, but not judged again"
                self._add_problem(
                    2, case.judged.holder, what, "Run the batch over its source again."
                )

    def _add_problem(self, weight: int, name: str, what: str, do: str) -> None:
        self.report.problems.append(ArchiveProblem(weight, name, what, do))

    def _count_bytes(self, size: int) -> None:
        self.done += size
        self.progress(self.done, self.report.bytes)

    def _verify_pack(self, entry: Entry, folder: Path, number: int) -> None:
        try:
            data = self.objects.get(entry.holder)
        except GoneError:  # a compaction took it over
            return
        for why in checks.pack_wrong(entry, data, folder, number):
            self._add_problem(1, entry.holder, why, AGAIN)

    def _pack_tables(self, entries: Sequence[Entry], folder: Path) -> None:
        con = documents.share_connection()
        try:
            for table in sorted(folder.iterdir()):
                groups: dict[str, dict[str, Entry]] = defaultdict(dict)
                for path in sorted(table.iterdir()):
                    entry = entries[int(path.stem)]
                    groups[entry.reading][str(path)] = entry
                for reading, files in groups.items():
                    wanted = checks.wanted_columns(table.name, reading)
                    if checks.tables_wrong(con, list(files), wanted):
                        for table_path, table_entry in files.items():
                            if why := checks.tables_wrong(con, [table_path], wanted):
                                self._add_problem(
                                    1, table_entry.holder, f"table {table.name}: {why}", AGAIN
                                )
        finally:
            con.close()

    def _verify_segments(self, items: Sequence[Object]) -> None:
        folders: dict[str, list[Object]] = defaultdict(list)
        for item in items:
            if is_segment(item.name):
                folders[item.name.rpartition("/")[0]].append(item)
            else:
                self._add_problem(
                    3, item.name, "its name is not that of a part of a segment", STRANGE
                )
                self._count_bytes(item.size)
        whole = {item.name.rpartition("/")[0] for item in list_segments(items)}
        for holder, members in folders.items():
            if holder in whole:
                try:
                    self._verify_segment(holder, [item.name for item in members])
                except GoneError:  # another compaction took it over
                    if self.objects.exists(f"{holder}/{MANIFEST}"):
                        raise
            self._count_bytes(sum(item.size for item in members))

    def _verify_segment(self, holder: str, members: Sequence[str]) -> None:
        name = f"{holder}/{MANIFEST}"
        try:
            manifest = read_manifest(self.objects, name)
            entries = entries_of(manifest, holder)
        except GoneError:
            return
        except BacklineError as error:
            self._add_problem(1, name, error.why, SEGMENT)
            return
        files = {f"{holder}/{file['name']}" for file in manifest["files"]}
        for other in sorted({*members} - files - {name}):
            self._add_problem(3, other, "its manifest does not name it", STRANGE)
        broken = broken_files(self.objects, holder)
        if broken and not self.objects.exists(name):  # taken over while it was read
            return
        for other, why in broken:
            lost = f"{why}; it concerns {len(entries)} cases"
            self._add_problem(1, other, lost, SEGMENT)
        if not broken:
            texts_name, seen = f"{holder}/{DOCUMENTS}", 0
            for place, texts in _read_texts(self.archive, texts_name):
                seen += 1
                if not 0 <= place < len(entries):
                    self._add_problem(
                        1,
                        texts_name,
                        f"it has a case {place}, which is not in the manifest",
                        SEGMENT,
                    )
                    continue
                for texts_why in checks.texts_wrong(entries[place], texts):
                    self._add_problem(
                        1, texts_name, f"case {entries[place].id[:12]}: {texts_why}", SEGMENT
                    )
            if seen != len(entries):
                self._add_problem(1, texts_name, f"it has {seen} of {len(entries)} cases", SEGMENT)
            self._segment_tables(holder, entries, files)

    def _segment_tables(self, holder: str, entries: Sequence[Entry], files: Iterable[str]) -> None:
        con = documents.share_connection()
        try:
            for name in sorted(set(files) - {f"{holder}/{DOCUMENTS}"}):
                table = name.rpartition("/")[2].removesuffix(".parquet")
                wanted = {"_case": "INTEGER", **checks.wanted_columns(table, entries[0].reading)}
                path = self.objects.duck_path(con, name)
                if why := checks.tables_wrong(con, [path], wanted):
                    self._add_problem(1, name, why, SEGMENT)
                    continue
                found = con.execute(
                    "SELECT min(_case), max(_case) FROM read_parquet(?)", [path]
                ).fetchall()[0]
                if found[0] is not None and not 0 <= found[0] <= found[1] < len(entries):
                    self._add_problem(
                        1,
                        name,
                        f"it has rows of case {found[1]}, which is not in the manifest",
                        SEGMENT,
                    )
        except duckdb.Error as error:
            self._add_problem(1, holder, f"it cannot be read: {duck_said(error)}", SEGMENT)
        finally:
            con.close()

    def _verify_small(
        self, items: Iterable[Object], wrong: Callable[[str, bytes], str], weight: int, do: str
    ) -> None:
        """Look at objects of a few bytes each."""
        sizes = {item.name: item.size for item in items}
        for name, data in self.objects.get_many(sizes):
            if why := wrong(name, data):
                self._add_problem(weight, name, why, do)
            self._count_bytes(sizes[name])

    def note_debris(self) -> None:
        """Tell what a compaction would sweep when it is old enough."""
        found = compaction.find_debris(self.archive)
        lost = lost_cases(self.archive.take_snapshot()) if found.half else {}
        for holder, count in lost.items():
            what = f"its manifest is gone, and {count} of its cases {'exists' if count == 1 else 'exist'} nowhere else"
            self._add_problem(1, holder, what, LOST)
        found.half = [item for item in found.half if item.name not in lost]
        for items, what in (
            (found.packs, "superseded"),
            (found.dead, "superseded as a whole"),
            (found.half, "a segment without its manifest: a compaction is running, or was killed"),
            (found.moving, "half written: a run is going on, or was killed"),
            (found.claims, "a claim that ran out or whose run has ended"),
        ):
            for item in items:
                do = "Nothing; `backline archive compact` sweeps it when it is a day old."
                self.report.remarks.append(ArchiveProblem(4, item.name, what, do))


def _read_texts(archive: Archive, name: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield (place, texts) of a segment's documents, few at a time."""
    con = documents.share_connection()
    try:
        path = archive.objects.duck_path(con, name)
        rows = con.execute(f"SELECT _case, {META}, {DOCUMENT}, {BASE} FROM read_parquet(?)", [path])
        while some := rows.fetchmany(20):
            for place, *texts in some:
                yield place, dict(zip((META, DOCUMENT, BASE), texts, strict=True))
    finally:
        con.close()


def _label_wrong(name: str, data: bytes) -> str:
    label = read_label(data)
    if label is None:
        return "it is not a label"
    _, case, own = name.split("/")[:3] if name.count("/") == 2 else ("", "", "")
    if own != f"{hashlib.sha256(data).hexdigest()[:32]}.json" or label["id"] != case:
        return "its bytes are not those that were written"
    return ""


def _hashes_wrong(_name: str, data: bytes) -> str:
    try:
        unsealed_json(data)
    except ValueError as error:
        return str(error)
    return ""
