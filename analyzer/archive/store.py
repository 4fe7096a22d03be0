"""The archive as its users see it: put a case, list what is there, get it back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from analyzer.archive import documents
from analyzer.archive.claims import Claims
from analyzer.archive.documents import DamagedError
from analyzer.archive.entries import Snapshot, take_snapshot
from analyzer.archive.entry import MANIFEST, Entry, Stored
from analyzer.archive.hashcache import HashCache, load_hashes, save_hashes
from analyzer.archive.object_store.object_store import FORMAT, HEAD, GoneError, ObjectStore, head_of
from analyzer.archive.object_store.opening import open_store
from analyzer.archive.prints import source_key
from analyzer.archive.seal import seal_file, seal_pack
from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.runtime.errors import RefusedError

LABELS = "labels/"
LABEL_KEYS = ("id", "rule", "node", "subject")


def lost_cases(now: Snapshot) -> dict[str, int]:
    """Return the segments without a manifest that hold cases which are nowhere else, and how many.

    A compaction takes the manifest away last of all when it has put the cases elsewhere, and writes it before it
    deletes a pack: such a manifest was lost. A case counts by its source, which a newer revision may stand for.
    """
    found: dict[str, int] = {}
    for holder in now.headless:
        with suppress(DamagedError, GoneError):  # as a compaction that was killed leaves it
            sources = [
                source_key(str(meta.get("source")))
                for meta in documents.metas_below(now.objects, holder)
            ]
            known = {
                entry.source for entry in now.take_again().entries
            }  # read last: a compaction may be at its end
            if count := sum(source not in known for source in sources):
                found[holder] = count
    return found


class Archive:
    """One archive, local or remote. Everything it writes is written whole or not at all."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self.claims = Claims(objects)
        self.damaged: dict[str, str] = {}  # objects found damaged while they were asked, and why
        self._labels: dict[str, dict[str, Any]] = {}  # an object never changes
        self._marked = False

    @classmethod
    def open(cls, url: str | Path, create: bool = False) -> Archive:
        """Open the archive at a folder or URL, or make it. Raises what `open_store` raises."""
        return cls(open_store(url, create=create))

    def take_snapshot(self) -> Snapshot:
        """Return what the archive holds now; manifests that cannot be read, or were lost, are noted in `damaged`."""
        now = take_snapshot(self.objects, self.damaged)
        self.damaged.update(now.faults)
        for holder, count in lost_cases(now).items():
            self.damaged[f"{holder}/{MANIFEST}"] = (
                f"it is gone, and {count:,} of its cases exist nowhere else"
            )
        return now

    def put_pack(self, entry: Entry, data: bytes) -> Entry:
        """Store a pack under its entry's name, with its seal; return the entry with its holder."""
        self._mark_format()
        self.objects.put(entry.pack_name, seal_pack(data))
        return replace(entry, holder=entry.pack_name)

    def put_file(self, entry: Entry, path: Path) -> Entry:
        """Store a pack as `put` does, out of a file of the store's scratch folder, which may be gone afterwards."""
        self._mark_format()
        seal_file(path)
        self.objects.put_file(entry.pack_name, path)
        return replace(entry, holder=entry.pack_name)

    def _mark_format(self) -> None:
        """Note the format before the first case of it is written: an older version would miss its small tables."""
        if not self._marked and self.objects.get(HEAD) != head_of(FORMAT):
            self.objects.put(HEAD, head_of(FORMAT))
        self._marked = True

    def read_meta(self, stored: Stored) -> dict[str, Any]:
        """Return the meta of a case. Raises GoneError, DamagedError, as those below do."""
        return documents.meta_of(
            documents.text_of(self.objects, stored.judged, documents.META), stored.judged.holder
        )

    def read_metas(self, cases: list[Stored]) -> dict[str, dict[str, Any]]:
        """Return the meta of many cases by id; what is gone or damaged is left out."""
        return documents.read_metas(self.objects, cases)

    def document_text(self, stored: Stored) -> str:
        """Return the exact text of the case document."""
        return documents.text_of(self.objects, stored.judged, documents.DOCUMENT)

    def read_document(self, stored: Stored) -> CaseDocument:
        """Return the case document, that of an earlier version with the keys of this one: what reports are made of."""

        try:
            return case_file.parse_case(self.document_text(stored), stored.id)
        except RefusedError as error:
            raise documents.make_damaged_error(
                stored.judged.holder, f"its case.json: {error.why}"
            ) from error

    def put_label(self, label: Mapping[str, Any]) -> str:
        """Store a label {id, rule, node, subject, label, by, note, at}; return its object's name."""
        data = json.dumps(dict(label), sort_keys=True, ensure_ascii=False).encode()
        name = f"{LABELS}{label['id']}/{hashlib.sha256(data).hexdigest()[:32]}.json"
        self.objects.put(name, data)
        return name

    def read_labels(self) -> list[dict[str, Any]]:
        """Return the labels, by case, rule, node and subject: the newest of each. Damaged ones are left to verify."""
        names = [item.name for item in self.objects.list(LABELS)]
        for name, data in self.objects.get_many(
            [name for name in names if name not in self._labels]
        ):
            self._labels[name] = read_label(data) or {}
        newest: dict[tuple[str, ...], tuple[str, str, dict[str, Any]]] = {}
        for name in names:
            label = self._labels.get(name)
            if not label:
                continue
            key = tuple(str(label[part]) for part in LABEL_KEYS)
            newest[key] = max(
                newest.get(key, ("", "", {})),
                (str(label["at"]), name, label),
                key=lambda item: item[:2],
            )
        return [dict(newest[key][2]) for key in sorted(newest)]

    def claim_case(self, case: str) -> bool:
        """Say that this run works on a case; False when another one does. It only saves double work."""
        return self.claims.take_claim(case)

    def release_case(self, case: str) -> None:
        """Give a case free that this run claimed."""
        self.claims.release_claim(case)

    def open_hashes(self, host_root: str) -> HashCache:
        """Return the known content hashes of files below one root of one host; empty when there are none."""
        return load_hashes(self.objects, host_root)

    def save_hashes(self, cache: HashCache) -> None:
        """Keep content hashes for the next run; a store that refuses is no error: it is only a cache."""
        save_hashes(self.objects, cache)


def read_label(data: bytes) -> dict[str, Any] | None:
    """Return a label from its bytes, or None when it is none."""
    try:
        label = json.loads(data)
    except (ValueError, RecursionError):
        return None
    wanted = (*LABEL_KEYS, "label", "at")
    if not isinstance(label, dict) or not all(isinstance(label.get(key), str) for key in wanted):
        return None
    return label
