"""The work of a batch worker, local or on a cluster: read cases, or judge stored ones again.

A job goes in and a small record comes out; what was made is in the archive by then. Whatever a case does,
the answer is a record: refused and failed cases are stored with the reason, and the run goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from analyzer import __version__
from analyzer.archive.batches.jobs import (
    FAIL,
    FAILED,
    GONE,
    HASHED,
    JUDGE,
    OK,
    PARTIAL,
    READ,
    REFUSED,
    Done,
    Job,
    Result,
    Work,
)
from analyzer.archive.batches.run_config import RunConfig, WorkerContext, context_of, open_context
from analyzer.archive.documents import DamagedError
from analyzer.archive.entry import Entry, Stored
from analyzer.archive.object_store.object_store import (
    FORMAT,
    GoneError,
    StorageError,
    StoreWriteError,
    make_workplace,
)
from analyzer.archive.packs import encode
from analyzer.archive.prints import UNJUDGED, case_id, source_key
from analyzer.archive.restore import recall
from analyzer.facts.database import duck_said
from analyzer.ingest.file_hashes import FileHashes
from analyzer.judge import judge_many
from analyzer.pipeline.case_data import conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.runtime.errors import BacklineError, RefusedError, failure_text
from analyzer.runtime.text import one_line
from analyzer.sources.ledger import LOST
from analyzer.sources.remote import place
from analyzer.sources.storage import is_url

if TYPE_CHECKING:
    from analyzer.case.verdicts import Judgement
    from analyzer.pipeline.case_data import CaseData, RunResult
    from analyzer.rules import Catalog

LONGEST_WHY = 500


def do_job(job: Job, config: RunConfig) -> Done:
    """Do a job and store what it gives; never raises but for a fault of this module."""
    return do_in(job, lambda: _make_context(config))


def do_in(job: Job, context: Callable[[], WorkerContext]) -> Done:
    """Do a job as `do` does, in a context made elsewhere: on a cluster rules and settings are sent along."""
    began = time.perf_counter()
    try:
        done = _JobRunner(job, context()).run_job()
    except BacklineError as error:  # the archive or the run configuration, not a case
        return Done(job.number, job.act, fatal=error.with_traceback(None))
    return replace(done, seconds=time.perf_counter() - began)


@cache
def _make_context(config: RunConfig) -> WorkerContext:
    """Return what the jobs of a run need, with the rules that this machine has."""
    return context_of(config, *open_context(config))


class _JobRunner:
    """One job at work."""

    def __init__(self, job: Job, context: WorkerContext) -> None:
        self.job, self.context, self.config = job, context, context.config

    def run_job(self) -> Done:
        """Do it."""
        if self.job.act == JUDGE:
            return Done(self.job.number, JUDGE, tuple(self.judge_again(self.job.works)))
        work = self.job.works[0]

        # The paths of a case as the pipeline takes them
        if not any(is_url(path) for path in work.paths):
            places: list[Any] = [Path(path) for path in work.paths]
        else:
            places = [place(path) for path in work.paths]
        hashes = FileHashes(places, every=True)
        if self.job.act == READ:
            result = self.read_case(work, hashes)
        elif self.job.act == FAIL:
            result = self.store_none(work, hashes, FAILED, self.job.why)
        else:
            result = Result(work.source, work.name, HASHED, id=id_of(work, hashes))
        return Done(self.job.number, self.job.act, (result,), tuple(hashes.collect_all()))

    def read_case(self, work: Work, hashes: FileHashes) -> Result:
        """Read one case, judge it, store facts and judgement; or store why that was not possible."""

        began = time.perf_counter()
        limits = self.config.options.limits
        options = Options(limits, engine=self.config.options.engine, hashes=hashes)
        try:
            material = gather_case(hashes.paths, self.context.signatures, options)
            if len(work.paths) > 1:  # pieces of one file, which is the case
                material.name = work.name
            outcome = conclude(material, self.context.catalog, self.context.local.settings, limits)
            return self.store_whole(work, hashes, material, outcome, time.perf_counter() - began)
        except StorageError:  # the archive is at fault, and no case
            raise
        except RefusedError as error:
            return self.store_none(work, hashes, REFUSED, error.describe_cause())
        except Exception as error:  # noqa: BLE001 - whatever a case does, the others are read
            return self.store_none(work, hashes, FAILED, failure_text(error))

    def store_whole(
        self, work: Work, hashes: FileHashes, material: CaseData, outcome: RunResult, seconds: float
    ) -> Result:
        """Store a case that was read and judged already."""

        case = id_of(work, hashes)
        state, why = state_of(outcome, self.context.catalog)
        # What the logs were searched for, and which log tables there are at all
        searched = [
            [one.id, one.table, one.pattern, one.ignore_case] for one in self.context.signatures
        ]
        meta = self._make_meta(work, case, state, why, seconds) | {
            "searched": searched,
            "logs": sorted({scan.table for scan in material.facts.scans}),
        }
        meta["files"] = len(hashes.collect_all())
        with self._packing_folder() as folder:
            size = self._put_pack(
                work, case, "full", encode.pack_file(material, outcome, meta, folder=folder)
            )
        return self._make_result(work, case, state, why, outcome, [], size)

    def store_none(self, work: Work, hashes: FileHashes, state: str, why: str) -> Result:
        """Store that there is no result of a case, and why."""

        case, why = id_of(work, hashes), one_line(why, LONGEST_WHY)
        meta = self._make_meta(work, case, state, why, 0.0) | {"files": len(hashes.collect_all())}
        with self._packing_folder() as folder:
            path = folder / "pack.zip"
            path.write_bytes(encode.none_pack(meta, scratch=folder))
            size = self._put_pack(work, case, "none", path)
        return Result(work.source, work.name, state, why, case, bytes=size)

    def judge_again(self, works: Sequence[Work]) -> Iterable[Result]:
        """Judge stored cases again: each rule is asked once of all of them."""

        stored = {work.stored.id: work.stored for work in works if work.stored is not None}
        metas = self.context.archive.read_metas(list(stored.values()))
        found = self._recall_cases(list(stored.values()))
        facts = {case: material.facts for case, material in found.items()}
        said = judge_many(self.context.catalog, facts, self.config.options.limits)
        for work in works:
            case = work.stored.id if work.stored is not None else ""
            if case not in found or case not in metas:
                name = work.name or str(metas.get(case, {}).get("name", case))
                yield Result(work.source, name, GONE, "its stored facts cannot be read", case)
                continue
            try:
                yield self._store_judged(work, case, found[case], said[case], metas[case])
            except BacklineError:
                raise
            except Exception as error:  # noqa: BLE001 - the others are judged
                yield Result(work.source, work.name, FAILED, failure_text(error), case)

    def _recall_cases(self, stored: list[Stored]) -> dict[str, CaseData]:
        """Return the material of stored cases; those that cannot be read are left out."""

        try:
            return recall.recall_cases(self.context.archive, stored, self.context.signatures)
        except (GoneError, DamagedError):
            if len(stored) < 2:
                return {}
        return {
            case: material for one in stored for case, material in self._recall_cases([one]).items()
        }

    def _store_judged(
        self, work: Work, case: str, material: CaseData, said: Judgement, old: dict[str, Any]
    ) -> Result:
        searched = old.get("searched", [])
        missing = recall.find_unsearched(searched, self.context.signatures)
        outcome = conclude(
            material,
            self.context.catalog,
            self.context.local.settings,
            self.config.options.limits,
            said,
        )
        state, why = state_of(outcome, self.context.catalog)
        name, source = (
            work.name or str(old.get("name", "")),
            work.source or str(old.get("source", "")),
        )
        work = replace(work, name=name, source=source, size=int(old.get("bytes", 0)))
        meta = self._make_meta(work, case, state, why, old.get("seconds", 0.0))
        meta |= {key: old[key] for key in ("searched", "logs", "files") if key in old}
        with self._packing_folder() as folder:
            pack = encode.pack_file(material, outcome, meta, kind="case", folder=folder)
            size = self._put_pack(work, case, "case", pack)
        logs = set(old.get("logs", ()))
        return self._make_result(
            work, case, state, why, outcome, [s.id for s in missing if s.table in logs], size
        )

    @contextmanager
    def _packing_folder(self) -> Iterator[Path]:
        """Give a folder to write the tables of a pack in; StoreWriteError when the disk is full."""

        with make_workplace(self.context.archive.objects) as folder:
            try:
                yield folder
            except (OSError, duckdb.IOException) as error:
                what, where = "cannot write in the archive", one_line(str(folder))
                why = getattr(error, "strerror", "") or one_line(
                    duck_said(error).rpartition(": ")[2], 200
                )
                do = "Free some space there and start the run again: what is stored stays."
                raise StoreWriteError(what, where=where, why=why, do=do) from error

    def _put_pack(self, work: Work, case: str, kind: str, pack: Path) -> int:
        """Store the pack in a file, and return its size in bytes."""
        size = pack.stat().st_size
        judging = UNJUDGED if kind == "none" else self.config.judging
        stamp = int(time.time() * 1000)
        entry = Entry(case, source_key(work.source), self.config.reading, judging, stamp, kind)
        if self.job.again:
            # Another run, or the process that died over this job, may have stored the case.
            like = entry.pack_name.removesuffix(f"{entry.stamp:011x}.{entry.kind}.zip")
            for item in self.context.archive.objects.list(like):
                stored = Entry.parse_name(item.name)
                if stored is None or stored.kind != entry.kind:
                    continue
                if stored.stamp >= self.job.again:
                    return size
        self.context.archive.put_file(entry, pack)
        return size

    def _make_meta(
        self, work: Work, case: str, state: str, why: str, seconds: float
    ) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "id": case,
            "name": work.name,
            "source": work.source,
            "stored": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tool": __version__,
            "reading": self.config.reading,
            "judging": UNJUDGED if state in (REFUSED, FAILED) else self.config.judging,
            "catalog": self.config.catalog,
            "settings": self.context.local.settings.hash,
            "state": state,
            "why": why,
            "searched": [],
            "seconds": round(seconds, 3),
            "bytes": work.size,
            "files": 0,
        }

    def _make_result(
        self,
        work: Work,
        case: str,
        state: str,
        why: str,
        outcome: RunResult,
        missing: list[str],
        size: int,
    ) -> Result:
        rules: dict[str, int] = {}
        for finding in outcome.judgement.findings:
            if finding.verdict != "error" and not finding.muted:
                rules[finding.rule] = rules.get(finding.rule, 0) + 1
        hits = tuple(sorted(rules.items()))
        return Result(work.source, work.name, state, why, case, hits, tuple(missing), size)


def keep_whole(
    context: WorkerContext,
    work: Work,
    hashes: FileHashes,
    material: CaseData,
    outcome: RunResult,
    seconds: float,
) -> Result:
    """Store a case that was read and judged elsewhere as a run of batch would; BacklineError when that fails.

    hashes   of all its files (`every`); seconds: wall time of reading and judging
    """
    return _JobRunner(Job(0, READ, (work,)), context).store_whole(
        work, hashes, material, outcome, seconds
    )


def keep_none(
    context: WorkerContext, work: Work, hashes: FileHashes, state: str, why: str
) -> Result:
    """Store that there is no result of a case, and why, as a run of batch would."""
    return _JobRunner(Job(0, READ, (work,)), context).store_none(work, hashes, state, why)


def list_reasons(outcome: RunResult, catalog: Catalog) -> list[str]:
    """Return what was lost while a case was read and judged, in sentences; empty for a whole one."""
    document = outcome.document
    damage = [f"{item.address}: {item.what}" for item in document.damage]
    lost = [f"{item.address}: {item.why}" for item in document.sources if item.state in LOST]
    if outcome.partial:
        short = [cut.say for cut in document.cuts]
        return [*damage, *map(str, document.limits), *lost, *short] or [
            "something could not be read"
        ]
    used = {
        rule.id for rule in catalog.rules
    }  # a file that is no rule is reported once, not in each case
    errors = {one.rule for one in outcome.judgement.findings if one.verdict == "error"} & used
    return [f"rule {rule} failed while judging" for rule in sorted(errors)]


def state_of(outcome: RunResult, catalog: Catalog) -> tuple[str, str]:
    """Return the state of a case that was judged, and the first reason when something was lost."""
    first = next(iter(list_reasons(outcome, catalog)), "")
    return (PARTIAL, one_line(first, LONGEST_WHY)) if first else (OK, "")


def id_of(work: Work, hashes: FileHashes) -> str:
    """Return what a case is, from its name and all its files."""
    return case_id(work.name, hashes.collect_content())
