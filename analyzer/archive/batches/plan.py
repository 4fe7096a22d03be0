"""Plans a batch: new cases are read, stored ones judged or read again where needed, the rest is done.

It follows from names alone: those of the stored entries and the known hashes of the files.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.archive.batches.find import FoundCase
from analyzer.archive.batches.jobs import HASH, JUDGE, READ, Job, Work
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Entry, Stored, age_key
from analyzer.archive.hashcache import HashCache
from analyzer.archive.prints import case_id, source_key
from analyzer.sources.storage import is_url

if TYPE_CHECKING:
    from collections.abc import Callable

DONE, NO_RESULT = "done", "no result"  # stored already; refused or failed before by the same tool
CHUNK = 100  # stored cases that are judged at once


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line adds.

    checksum  hash the files again, whatever size and time say
    retry     read again what was refused or failed
    rescan    read again where the stored facts were not searched for what the rules ask
    """

    checksum: bool = False
    retry: bool = False
    rescan: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to do with one case, and from which stored case it is judged again."""

    act: str
    found: FoundCase
    id: str = ""
    stored: Stored | None = None

    def make_work(self) -> Work:
        """Return the case as a process takes it."""
        return Work(
            self.found.name, self.found.source, self.found.paths, self.found.disk_size, self.stored
        )


@dataclass(slots=True)
class StoredCases:
    """An archive's entries by case and by source."""

    by_id: dict[str, list[Entry]] = field(default_factory=dict)
    newest: dict[str, Entry] = field(default_factory=dict)  # of each source

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> StoredCases:
        """Return the entries of a snapshot, sorted in."""
        by_id: defaultdict[str, list[Entry]] = defaultdict(list)
        newest: dict[str, Entry] = {}
        for entry in snapshot.entries:
            by_id[entry.id].append(entry)
            known = newest.get(entry.source)
            if known is None or age_key(entry) > age_key(known):
                newest[entry.source] = entry
        return cls(dict(by_id), newest)

    def find_facts(self, case: str, reading: str) -> Stored | None:
        """Return a case with its facts as they were read in this way; None when it was not."""
        own = [
            entry
            for entry in self.by_id.get(case, ())
            if entry.reading == reading and entry.kind != "none"
        ]
        full = [entry for entry in own if entry.kind == "full"]
        return Stored(case, max(own, key=age_key), max(full, key=age_key)) if full else None


def decide_case(
    found: FoundCase, case: str, known: StoredCases, config: RunConfig, wishes: Wishes
) -> Decision:
    """Return what is to do with a case that was found; `case` is its id, "" when its content is not known yet."""
    newest = known.newest.get(source_key(found.source))
    if not case:
        return Decision(HASH if newest is not None else READ, found)
    stored = known.find_facts(case, config.reading)
    if newest is not None and newest.id == case and newest.reading == config.reading:
        if newest.kind == "none":
            return Decision(READ if wishes.retry else NO_RESULT, found, case)
        if newest.judging == config.judging:
            return Decision(DONE, found, case, stored)
    return Decision(JUDGE if stored is not None else READ, found, case, stored)


def known_id(found: FoundCase, cache: HashCache) -> str:
    """Return what a case is by the known hashes of its files, "" when one of them is not known."""
    if not found.source.endswith(found.name):
        return ""
    above = found.source[
        : len(found.source) - len(found.name)
    ]  # names are relative to the folder that holds the case
    files = []
    for name, size, mtime in found.files:
        sha256 = cache.find_hash(path_of(above + name), size, mtime)
        if sha256 is None:
            return ""
        files.append((name, size, sha256))
    return case_id(found.name, files)


def path_of(path: str) -> str:
    """Return a path as the system writes it; a URL stays as it is."""
    return path if is_url(path) or os.sep == "/" else path.replace("/", os.sep)


def rescan_lacking(
    decisions: Sequence[Decision], lacking: Callable[[list[Stored]], set[str]]
) -> list[Decision]:
    """Return the decisions with those cases read again whose logs were not searched for what the rules ask.

    lacking  tells which of stored cases these are, by id
    """
    stored = [
        one.stored for one in decisions if one.act in (DONE, JUDGE) and one.stored is not None
    ]
    again = lacking(stored) if stored else set()
    return [
        Decision(READ, one.found, one.id) if one.id in again and one.act in (DONE, JUDGE) else one
        for one in decisions
    ]


def plan_jobs(decisions: Iterable[Decision], first: int = 0, chunk: int = CHUNK) -> list[Job]:
    """Return the jobs: hashes to take, cases to judge again in chunks, then cases to read, largest first.

    first  number of the first job
    """
    by_act: defaultdict[str, list[Decision]] = defaultdict(list)
    for one in decisions:
        by_act[one.act].append(one)
    largest = sorted(by_act[READ], key=lambda one: (-one.found.disk_size, one.found.source))
    again = sorted(
        by_act[JUDGE], key=lambda one: (one.stored.facts_segment if one.stored else "", one.id)
    )
    todo: list[tuple[str, tuple[Work, ...]]] = [(HASH, (one.make_work(),)) for one in by_act[HASH]]
    todo += [
        (JUDGE, tuple(one.make_work() for one in again[at : at + chunk]))
        for at in range(0, len(again), chunk)
    ]
    todo += [(READ, (one.make_work(),)) for one in largest]
    return [Job(number, act, works) for number, (act, works) in enumerate(todo, first)]
