"""What is stored, known from object names alone: one listing answers what is done, no object is opened.

A loose case is an object `packs/<id[:2]>/<entry>.<kind>.zip`; a segment tells its entries in its
manifest, which never changes and is read once.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from analyzer.archive.documents import read_metas
from analyzer.archive.entry import MANIFEST, PACKS, SEGMENTS, Entry, Stored, age_key
from analyzer.archive.object_store.object_store import GoneError, Object, ObjectStore, StorageError
from analyzer.archive.seal import unsealed_json
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.text import one_line

SEGMENT_FORMAT = "backline/segment-1"
KINDS = ("full", "case", "none")
SHORTEST = 4  # characters of an id that may stand for all of it
CANDIDATES = 5  # cases that an error about an ambiguous name lists
LISTINGS = 5  # of segments/, until two agree

_SEGMENT = re.compile(r"segments/([0-9a-f]{11}-[0-9a-f]{8})/([A-Za-z0-9_][A-Za-z0-9_.]*)")

# endings of archives that a case may be named without
_ENDING = re.compile(r"\.(?:t[gbx]z2?|tzst|zip|7z|tar|(?:tar\.)?(?:gz|bz2|xz|zst))$", re.IGNORECASE)


class Snapshot:
    """What an archive held at one moment.

    entries  one a name, duplicates collapsed
    held     every entry with its holder, duplicates too
    strange  names below packs/ and segments/ that are no one's
    faults   (object, why) of manifests that cannot be read: the cases of their segment are not seen
    damaged  holder -> why of packs and segments found damaged while they were asked; they are left out of
             snapshots made from this one, and whoever asked tells of them
    headless segments without a manifest: a compaction is at work on them, or was killed, or the manifest was lost
    """

    def __init__(
        self,
        objects: ObjectStore,
        held: list[Entry],
        strange: list[str],
        faults: list[tuple[str, str]],
        damaged: dict[str, str] | None = None,
        headless: Sequence[str] = (),
    ) -> None:
        self.objects, self.strange, self.faults, self.headless = objects, strange, faults, headless
        self.damaged = {} if damaged is None else damaged
        self.held = held = [entry for entry in held if entry.holder not in self.damaged]
        best: dict[str, Entry] = {}
        for entry in held:
            text = entry.entry_text
            known = best.get(text)
            # Which of two holders of the same entry is read: the one with more of it, then the
            # newer segment.
            if known is None or (
                (entry.kind == "full", entry.holder) > (known.kind == "full", known.holder)
            ):
                best[text] = entry
        self.entries = list(best.values())
        self._every: list[Stored] | None = None
        self._current: list[Stored] | None = None

    def take_again(self) -> Snapshot:
        """Return what the archive holds now."""
        return take_snapshot(self.objects, self.damaged)

    def list_every_case(self) -> list[Stored]:
        """Return all cases, by id: those too whose source was read again with other content since."""
        if self._every is None:
            cases: dict[str, list[Entry]] = defaultdict(list)
            for entry in self.entries:
                cases[entry.id].append(entry)
            found = []
            for case in sorted(cases):
                entries = cases[case]
                judged = [entry for entry in entries if entry.kind != "none"]
                newest = max(judged or entries, key=age_key)
                facts = [
                    entry
                    for entry in judged
                    if entry.kind == "full" and entry.reading == newest.reading
                ]
                stored = Stored(newest.id, newest, max(facts, key=age_key) if facts else None)
                found.append(stored)
            self._every = found
        return self._every

    def list_visible_cases(self) -> list[Stored]:
        """Return the visible cases, by id: of each source the newest."""
        if self._current is None:
            newest: dict[str, Entry] = {}
            for entry in self.entries:
                known = newest.get(entry.source)
                if known is None or age_key(entry) > age_key(known):
                    newest[entry.source] = entry
            visible = {entry.id for entry in newest.values()}
            self._current = [case for case in self.list_every_case() if case.id in visible]
        return self._current

    def find_case(self, text: str) -> Stored:
        """Return the case whose id begins with `text`, or of that name; UsageError when there is none or several.

        A visible case comes before a superseded one, a whole name before one without the ending of its archive.
        """
        known: list[str] = []
        if len(text) < SHORTEST or not re.fullmatch("[0-9a-f]{1,32}", text):
            by_id = []
        else:
            by_id = [case for case in self.list_every_case() if case.id.startswith(text)]
        if not (found := by_id):
            found, known = self._by_name(text)
        if len(found) == 1:
            return found[0]
        if not found:
            # A question with the names most like `text`, "" when none is
            stems = {_ENDING.sub("", name): name for name in reversed(known) if name}
            near = difflib.get_close_matches(text[:80], stems, n=3, cutoff=0.7) if text else []
            nearest = (
                f"did you mean {', '.join(one_line(stems[name], 80) for name in near)}?"
                if near
                else ""
            )
            do = nearest or "`backline archive list` shows names and ids."
            raise UsageError(f'there is no case "{one_line(text, 80)}" in the archive', do=do)
        some = ", ".join(case.id[:12] for case in found[:CANDIDATES])
        more = f" and {len(found) - CANDIDATES} more" if len(found) > CANDIDATES else ""
        what = f'{len(found)} cases match "{one_line(text, 80)}"'
        raise UsageError(what, why=f"their ids begin with {some}{more}", do="Give more of the id.")

    def _by_name(self, text: str) -> tuple[list[Stored], list[str]]:
        """Return the cases of a name, and the names of all visible cases when there is none."""
        named: dict[str, str] = {}
        for cases in (self.list_visible_cases(), self.list_every_case()):
            new = [case for case in cases if case.id not in named]
            named |= {
                case: str(meta.get("name", ""))
                for case, meta in read_metas(self.objects, new).items()
            }
            if found := [case for case in cases if named.get(case.id) == text]:
                return found, []
        for cases in (self.list_visible_cases(), self.list_every_case()):
            if text and (
                found := [case for case in cases if _ENDING.sub("", named.get(case.id, "")) == text]
            ):
                return found, []
        return [], sorted({named.get(case.id, "") for case in self.list_visible_cases()})


def take_snapshot(objects: ObjectStore, damaged: dict[str, str] | None = None) -> Snapshot:
    """Return what the archive holds now, from names and manifests, without holders known to be damaged."""
    for left in reversed(range(LISTINGS)):
        held = []
        strange = []
        for pack in objects.list(PACKS):  # first: what a compaction takes out is in a segment then
            entry = Entry.parse_name(pack.name)
            if entry is None:
                strange.append(pack.name)
            else:
                held.append(entry)
        # List segments/ until two listings agree on the manifests: a compaction may replace one
        # meanwhile.
        listing = list(objects.list(SEGMENTS))
        for _ in range(LISTINGS):
            before, listing = listing, list(objects.list(SEGMENTS))
            if list(list_segments(before)) == list(list_segments(listing)):
                break
        strange += [item.name for item in listing if not is_segment(item.name)]
        faults: list[tuple[str, str]] = []
        gone = False
        for item in list_segments(listing):
            try:
                key = (objects.url, item.name, item.size)
                if key not in _MANIFESTS:
                    holder = item.name.removesuffix("/" + MANIFEST)
                    manifest = read_manifest(objects, item.name)
                    _note_files(objects, holder, manifest)
                    _MANIFESTS[key] = entries_of(manifest, holder)
                held += _MANIFESTS[key]
            except GoneError:
                gone = True  # another segment has its cases since: list anew
            except StorageError:
                raise
            except BacklineError as error:
                faults.append((item.name, error.why))
        if not gone or not left:
            break
    whole = {item.name.rpartition("/")[0] for item in list_segments(listing)}
    headless = {item.name.rpartition("/")[0] for item in listing if is_segment(item.name)} - whole
    return Snapshot(objects, held, strange, faults, damaged, sorted(headless))


def is_segment(name: str) -> bool:
    """Say whether an object's name is that of a part of a segment."""
    return _SEGMENT.fullmatch(name) is not None


def list_segments(listing: Iterable[Object]) -> Iterator[Object]:
    """Yield the manifests of a listing of segments/; a segment without one is not there (yet)."""
    for item in listing:
        found = _SEGMENT.fullmatch(item.name)
        if found is not None and found[2] == MANIFEST:
            yield item


_MANIFESTS: dict[
    tuple[str, str, int], list[Entry]
] = {}  # a manifest never changes: (archive, name, size)


_FILES: dict[
    tuple[str, str], tuple[str, ...]
] = {}  # of a segment, which never changes: (archive, holder)


def segment_files(objects: ObjectStore, holder: str) -> dict[str, str]:
    """Return the objects of a segment by their file's name; its manifest is read once in a process."""
    if (objects.url, holder) not in _FILES:
        _note_files(objects, holder, read_manifest(objects, f"{holder}/{MANIFEST}"))
    return {name: f"{holder}/{name}" for name in _FILES[objects.url, holder]}


def _note_files(objects: ObjectStore, holder: str, manifest: dict[str, Any]) -> None:
    try:  # the same few names in all segments
        _FILES[objects.url, holder] = tuple(
            sys.intern(str(one["name"])) for one in manifest["files"]
        )
    except (KeyError, TypeError):
        raise _broken_manifest(f"{holder}/{MANIFEST}", "its list of files is not a list") from None


def read_manifest(objects: ObjectStore, name: str) -> dict[str, Any]:
    """Return a segment's manifest; BacklineError when it cannot be read or is of a newer version."""
    data = objects.get(name)
    try:
        manifest = unsealed_json(data)
    except ValueError as error:
        raise _broken_manifest(name, str(error)) from None
    if manifest.get("format") != SEGMENT_FORMAT:
        raise _broken_manifest(name, f"its format is {one_line(str(manifest.get('format')), 40)}")
    if not isinstance(manifest.get("entries"), list) or not isinstance(manifest.get("files"), list):
        raise _broken_manifest(name, "it has no list of entries or files")
    return manifest


def entries_of(manifest: dict[str, Any], holder: str) -> list[Entry]:
    """Return the entries of a manifest, numbered by their place."""
    out = []
    for place, item in enumerate(manifest["entries"]):
        try:
            kind = "full" if item["facts"] else "case" if item["case"] else "none"
            entry = Entry.of_text(item["entry"], kind, holder, place)
        except (KeyError, TypeError):
            entry = None
        if entry is None:
            raise _broken_manifest(f"{holder}/{MANIFEST}", f"its entry {place} is not an object")
        out.append(entry)
    return out


def _broken_manifest(name: str, why: str) -> BacklineError:
    do = "Run `backline archive verify`."
    return BacklineError(
        "the manifest of a segment cannot be read", where=one_line(name), why=why, do=do
    )
