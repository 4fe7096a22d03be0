"""A whole batch run: find cases, plan, run, sum up.

Everything that was stored stays, whenever the run ends; the next one goes on where it ended. Two runs on one
archive share the work by claims, and are right without them.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from analyzer.archive.batches import plan
from analyzer.archive.batches.find import FoundCase
from analyzer.archive.batches.jobs import (
    FAIL,
    FAILED,
    GONE,
    HASHED,
    JUDGE,
    LOST,
    OK,
    PARTIAL,
    READ,
    Done,
    Job,
    Result,
    Work,
)
from analyzer.archive.batches.plan import DONE, NO_RESULT, Decision, StoredCases, Wishes
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.summary import Summary
from analyzer.archive.entry import Stored
from analyzer.archive.prints import source_key, state_key
from analyzer.archive.restore import recall
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.archive.batches.runner import Runner
    from analyzer.archive.hashcache import HashCache
    from analyzer.archive.store import Archive
    from analyzer.ingest.file_hashes import Hashed
    from analyzer.scan.hits import Signature

SAVE_EVERY = 10.0  # seconds between two savings of the content hashes
LOOK_EVERY = (
    2.0  # seconds between two looks at what another run has done; more where a look takes long
)
WAIT = 1.0  # seconds to wait when another run has all that is left
LOOSE = 500  # packs from which on they are put together


class BatchListener(Protocol):
    """Is called as the run goes on."""

    def begin_run(self, cases: int, size: int) -> None:
        """So many cases and bytes are to be done."""
        ...

    def note_started(self, job: Job) -> None:
        """A job was handed to a process."""
        ...

    def note_finished(self, done: Done) -> None:
        """An answer came."""
        ...


class Silent:
    """No one watches."""

    def begin_run(self, cases: int, size: int) -> None:
        """Take no notice."""

    def note_started(self, job: Job) -> None:
        """Take no notice."""

    def note_finished(self, done: Done) -> None:
        """Take no notice."""


class Batch:
    """One run over one archive."""

    def __init__(
        self,
        archive: Archive,
        config: RunConfig,
        runner: Runner,
        wishes: Wishes | None = None,
        watcher: BatchListener | None = None,
        signatures: Sequence[Signature] = (),
    ) -> None:
        self.archive, self.config, self.runner, self.signatures = (
            archive,
            config,
            runner,
            signatures,
        )
        self.wishes, self.watcher = wishes or Wishes(), watcher or Silent()
        self.summary = Summary()
        self._hashes = Hashes(archive)
        self._known = StoredCases()
        self._stamps: dict[str, int] | None = (
            None  # of the newest entry of each source, when the run began
        )
        self._began_ms = int(time.time() * 1000)
        self._looked, self._every = time.monotonic(), LOOK_EVERY
        self._found: dict[str, FoundCase] = {}
        self._ids: dict[str, str] = {}  # source -> id that was stored for it before
        self._claims: dict[int, str] = {}
        self._spent: deque[tuple[float, str]] = (
            deque()
        )  # claims of jobs that are done, and since when
        self._open: dict[int, int] = {}  # job -> cases without an answer
        self._again: list[Decision] = []
        self._fail: list[Job] = []
        self._number = 0

    def triage_cases(self, found: Sequence[FoundCase]) -> Summary:
        """Do what is to do with cases that were found; raises BacklineError when the archive cannot be written."""
        self._look_again()
        self._found = {one.source: one for one in found}
        self.summary.found = len(found)
        decisions = []
        for one in found:
            # What is to do with a case, by what is known of its content
            case = "" if self.wishes.checksum else self._hashes.id_of(one)
            decisions.append(plan.decide_case(one, case, self._known, self.config, self.wishes))
        if self.wishes.rescan:
            decisions = plan.rescan_lacking(decisions, self._lacking_cases)
        return self._run_decisions(decisions)

    def judge_stored(self) -> Summary:
        """Judge all visible cases of the archive again that were judged by other rules; no case is opened."""
        self._look_again()
        visible = [
            case
            for case in self.archive.take_snapshot().list_visible_cases()
            if case.judged.kind != "none"
        ]
        self.summary.found = len(visible)
        decisions = []
        for case in visible:
            facts = self._known.find_facts(case.id, self.config.reading)
            if case.judged.judging == self.config.judging:
                self.summary.done += 1
            elif facts is None:
                self.summary.stale += 1
            else:
                decisions.append(Decision(JUDGE, FoundCase("", "", (), ()), case.id, facts))
        return self._run_decisions(decisions)

    def _run_decisions(self, decisions: Sequence[Decision]) -> Summary:
        began = time.monotonic()
        try:
            jobs = self._plan_jobs(decisions)
            self.watcher.begin_run(
                sum(len(job.works) for job in jobs), sum(job.disk_size for job in jobs)
            )
            while jobs:
                self.summary.left = sum(len(job.works) for job in jobs)
                later: list[Job] = []
                for done in self.runner.run(self._claim_jobs(jobs, later)):
                    if done.fatal is not None:
                        raise done.fatal
                    self._hashes.note_case(
                        done.hashes,
                        self._found.get(done.results[0].source) if done.results else None,
                    )
                    self.watcher.note_finished(done)
                    for result in done.results:
                        self._count_result(done, result)
                        self._open[done.number] = self._open.get(done.number, 1) - 1
                    claim = self._claims.get(done.number, "")
                    if claim and self._open.get(done.number, 0) <= 0:
                        self._spent.append((time.monotonic(), claim))
                        del self._claims[done.number]
                    self._release_claims(2 * self._every)
                    self._hashes.save_changed(SAVE_EVERY)
                if later and not self._again and not self._fail:
                    time.sleep(WAIT)
                if later:
                    self._look_again()
                    later = [job for job in later if not self._by_others(job)]
                again, self._again = self._again, []
                fail, self._fail = self._fail, []
                jobs = [*self._plan_jobs(again), *fail, *later]
            self.summary.left = 0  # what was only hashed is not counted off one by one
        except KeyboardInterrupt:
            self.summary.interrupted = True
        finally:
            self.summary.seconds = time.monotonic() - began
            self.runner.close()
            self._release_claims(0.0)
            for claim in self._claims.values():
                self.archive.release_case(claim)
            self._hashes.save_changed()
        return self.summary

    def _plan_jobs(self, decisions: Sequence[Decision]) -> list[Job]:
        """Return the jobs of decisions; count those that need none."""
        for one in decisions:
            self.summary.done += one.act == DONE
            self.summary.no_result += one.act == NO_RESULT
            newest = (
                self._known.newest.get(source_key(one.found.source)) if one.found.source else None
            )
            if newest is not None:
                self._ids[one.found.source] = newest.id
        jobs = plan.plan_jobs(decisions, self._number)
        self._number += len(jobs)
        return jobs

    def _claim_jobs(self, jobs: list[Job], later: list[Job]) -> Iterator[Job]:
        """Yield the jobs that no other run has; those go to `later`."""
        for job in jobs:
            if time.monotonic() - self._looked > self._every:
                self._look_again()
            if self._by_others(job):
                continue
            if job.act == JUDGE:
                ids = [(work.stored.id, 0, 0) for work in job.works if work.stored is not None]
                claim_of = state_key(f"judge {self.config.judging}", ids)
            else:
                work = job.works[0]
                claim_of = state_key(work.source, self._found[work.source].files)
            claim = self._claims[job.number] = claim_of  # first: Ctrl-C may come at any moment
            if not self.archive.claim_case(claim):
                del self._claims[job.number]
                later.append(job)
                continue
            self._open[job.number] = len(job.works)
            self.watcher.note_started(job)
            yield replace(job, again=self._began_ms) if job.act == READ else job

    def _by_others(self, job: Job) -> bool:
        """Say whether another run has done a job meanwhile; its cases are counted then."""
        if job.act not in (READ, JUDGE) or not all(
            self._stored_by_others(work) for work in job.works
        ):
            return False
        self.summary.others += len(job.works)
        self.summary.left -= len(job.works)
        return True

    def _stored_by_others(self, work: Work) -> bool:
        if not work.source:
            own = self._known.by_id.get(work.stored.id, ()) if work.stored is not None else ()
            return any(entry.judging == self.config.judging for entry in own)
        key = source_key(work.source)
        newest = self._known.newest.get(key)
        if newest is None or newest.stamp <= (self._stamps or {}).get(key, -1):
            return False
        return newest.reading == self.config.reading and (
            newest.kind == "none" or newest.judging == self.config.judging
        )

    def _look_again(self) -> None:
        """Look at what the archive holds now."""
        began = time.monotonic()
        self._known = StoredCases.from_snapshot(self.archive.take_snapshot())
        self._looked = time.monotonic()
        self._every = max(LOOK_EVERY, 20 * (self._looked - began))
        if self._stamps is None:
            self._stamps = {key: entry.stamp for key, entry in self._known.newest.items()}

    def _release_claims(self, after: float) -> None:
        """Give claims free so long after their jobs were done: another run has seen by then what was stored."""
        while self._spent and time.monotonic() - self._spent[0][0] >= after:
            self.archive.release_case(self._spent[0][1])
            self._spent.popleft()

    def _count_result(self, done: Done, result: Result) -> None:
        """Count what became of one case, or see to what is still to do with it."""
        found = self._found.get(result.source)
        summary = self.summary
        if result.state == HASHED and found is not None:
            summary.hashed += 1
            self._again.append(
                plan.decide_case(found, result.id, self._known, self.config, self.wishes)
            )
            return
        if result.state == LOST and found is not None and done.act == READ:
            self._number += 1
            self._fail.append(
                Job(
                    self._number - 1,
                    FAIL,
                    (Work(found.name, found.source, found.paths, found.disk_size),),
                    result.why,
                )
            )
            return
        if result.state == GONE and found is not None:
            self._again.append(Decision(READ, found, result.id))
            return
        summary.left -= 1
        state = FAILED if result.state in (LOST, GONE) else result.state
        if state != OK:
            summary.add_trouble(replace(result, state=state))
        if done.act == JUDGE:
            summary.judged += state in (OK, PARTIAL)
        else:
            summary.read += 1
            summary.bytes += found.disk_size if found is not None else 0
        before = self._ids.get(result.source)
        if result.id and before is not None:
            summary.superseded += before != result.id
            summary.read_again += before == result.id and done.act == READ
        summary.stored += result.bytes
        summary.rules.update(rule for rule, _ in result.rules)
        summary.unsearched.update(result.unsearched)

    def _lacking_cases(self, stored: list[Stored]) -> set[str]:
        """Return the ids of stored cases whose logs were not searched for what the rules ask."""

        found = set()
        for case, meta in self.archive.read_metas(stored).items():
            missing = recall.find_unsearched(meta.get("searched", []), self.signatures)
            if {signature.table for signature in missing} & set(meta.get("logs", ())):
                found.add(case)
        return found


def find_enclosing_case(archive: str, found: Sequence[FoundCase]) -> FoundCase | None:
    """Return the case in whose folder an archive lies, which would be read as part of the case."""
    for one in found:
        if archive.startswith((one.source + "/", one.source + os.sep)):
            return one
    return None


class Hashes:
    """The known content hashes, by the folder that holds a case."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._host = socket.gethostname()
        self._caches: dict[str, HashCache] = {}
        self._saved = time.monotonic()

    def id_of(self, found: FoundCase) -> str:
        """Return what a case is when all its files are as they were when hashed, else ""."""
        return plan.known_id(found, self._open_cache(found))

    def note_case(self, hashes: Sequence[Hashed], found: FoundCase | None) -> None:
        """Keep the hashes of a case's files."""
        if found is None:
            return
        cache = self._open_cache(found)
        for one in hashes:
            if one.sha256:
                cache.note_hash(one.path, one.size, one.mtime_ns, one.sha256, one.made_ns)

    def save_changed(self, after: float = 0.0) -> None:
        """Store what has changed, if the last time is `after` seconds ago; another run may have added its own."""
        if time.monotonic() - self._saved < after:
            return
        for root, cache in self._caches.items():
            if not cache.changed:
                continue
            with suppress(BacklineError):  # it is only a cache
                for path, known in self.archive.open_hashes(root).files.items():
                    cache.files.setdefault(path, known)
                self.archive.save_hashes(cache)
        self._saved = time.monotonic()

    def _open_cache(self, found: FoundCase) -> HashCache:
        above = found.source[: len(found.source) - len(found.name)]
        root = above if "://" in above else f"{self._host}:{above}"
        if root not in self._caches:
            self._caches[root] = self.archive.open_hashes(root)
        return self._caches[root]
