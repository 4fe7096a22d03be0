"""What a worker does with a new case: read, judge, write the three results, store it if asked.

The answer is a record whatever the case does. Its text says what an engineer wants to know first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.archive.batches.jobs import (
    FAILED,
    HASHED,
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
from analyzer.archive.batches.work import keep_none, keep_whole, state_of
from analyzer.archive.query.known_kinds import list_own_keys, tell_known
from analyzer.case import case_file
from analyzer.ingest.file_hashes import FileHashes
from analyzer.pipeline.case_data import conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.report.results import render_results
from analyzer.runtime.errors import BacklineError, RefusedError, failure_text
from analyzer.runtime.output import write_all
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import one_line
from analyzer.watch_folder.state import content_of

if TYPE_CHECKING:
    from analyzer.case.document import CaseDocument
    from analyzer.report.results import Text
    from analyzer.rules import Catalog
    from analyzer.rules.run_catalog import Local

UNWRITTEN = "unwritten"  # the results cannot be written: a matter of the disk, not of the case
SEVERITIES = ("critical", "major", "warning", "info")
LONGEST_TITLE, LONGEST_LOST, LONGEST_WHY = 120, 160, 300


@dataclass(frozen=True, slots=True)
class Landed(Job):
    """A case that landed.

    out    folder of its results
    known  contents that were done before under another name or time; with one of them nothing is read
    """

    out: str = ""
    known: tuple[str, ...] = ()


def triage_landed(job: Job, config: RunConfig) -> Done:
    """Triage what landed; never raises. `Result.id` is the content, `Result.why` the message about the case.

    config.archive  "" for none
    """
    assert isinstance(job, Landed)

    work = job.works[0]
    hashes = FileHashes([Path(path) for path in work.paths], every=True)
    if job.known and (content := _content_id(work, hashes)) in job.known:
        return Done(job.number, READ, (Result(work.source, work.name, HASHED, id=content),))
    try:
        context = _make_context(config)
    except BacklineError as error:  # rules or archive, no case
        return Done(job.number, READ, fatal=error.with_traceback(None))
    state, why = _triage_case(job, work, hashes, context)
    result = Result(
        work.source, work.name, state, one_line(why, 2 * LONGEST_WHY), _content_id(work, hashes)
    )
    return Done(job.number, READ, (result,))


def _triage_case(
    job: Landed, work: Work, hashes: FileHashes, context: _WorkerContext
) -> tuple[str, str]:
    """Read, judge, write and keep; return the state and the message."""

    began, config = time.perf_counter(), context.config
    options = Options(config.options.limits, engine=config.options.engine, hashes=hashes)
    try:
        material = gather_case(hashes.paths, context.catalog.signatures(), options)
        if len(work.paths) > 1:  # pieces of one file, which is the case
            material.name = work.name
        outcome = conclude(material, context.catalog, context.local.settings, config.options.limits)
        document, missed = _tell_known(context, work, hashes, outcome.document)
        texts = render_results(
            document, case_file.write_case(document), config.options.limits.report_bytes
        )[0]
    except RefusedError as error:
        return _store_nothing(
            context,
            work,
            hashes,
            REFUSED,
            error.describe_cause(),
        )
    except Exception as error:  # noqa: BLE001 - whatever a case does, the next one is read
        return _store_nothing(context, work, hashes, FAILED, failure_text(error))
    try:
        _write_results(Path(job.out), texts)
        if context.keeper is not None:
            keep_whole(context.keeper, work, hashes, material, outcome, time.perf_counter() - began)
    except BacklineError as error:
        return UNWRITTEN, str(error)
    state, lost = state_of(outcome, context.catalog)
    worst = worst_of(outcome.document)
    if state != PARTIAL and not missed:
        return OK, worst
    lacking = "; ".join(filter(None, (lost, missed)))
    return PARTIAL, f"{worst}; partial: {bound_line(lacking, LONGEST_LOST)}"


def _tell_known(
    context: _WorkerContext, work: Work, hashes: FileHashes, document: CaseDocument
) -> tuple[CaseDocument, str]:
    """Return the document of the report, which says what the archive knows of its signals, and what of that failed."""
    if context.keeper is None:
        return document, ""
    own = list_own_keys(work.name, work.source, hashes)
    try:
        return tell_known(document, context.keeper.archive, own), ""
    except BacklineError as error:  # the report is there, whatever the archive does
        return document, f"what stored cases have is not known: {error}"


def _store_nothing(
    context: _WorkerContext, work: Work, hashes: FileHashes, state: str, why: str
) -> tuple[str, str]:
    """Keep that there is no result, where cases are kept."""
    why = bound_line(why, LONGEST_WHY)
    if context.keeper is not None:
        try:
            keep_none(context.keeper, work, hashes, state, why)
        except BacklineError as error:
            return UNWRITTEN, str(error)
    return state, why


def worst_of(document: CaseDocument) -> str:
    """Return the first finding of a case in a few words with its machine, and how many there are next to it."""
    found = [one for one in document.findings if not one.muted and one.severity in SEVERITIES]
    if not found:
        return "no finding"
    first = found[0]  # the worst story stands first; what it explains may be more severe
    said = f"{first.severity}: {bound_line(first.title, LONGEST_TITLE)}"
    if first.node:
        said += f" on {bound_line(first.node, LONGEST_TITLE)}"
    if len(found) == 1:
        return said
    severities = [one.severity for one in found]
    worst = min(severities, key=SEVERITIES.index)
    of_them = "" if worst == first.severity else f", {severities.count(worst)} of them {worst}"
    return f"{said} (and {len(found) - 1} more{of_them})"


def _write_results(folder: Path, texts: dict[str, Text]) -> None:
    write_all(folder, texts)


@dataclass(slots=True)
class _WorkerContext:
    """What a process needs for all its cases; `keeper` stores them, None when they are not kept."""

    config: RunConfig
    local: Local
    catalog: Catalog
    keeper: WorkerContext | None


@cache
def _make_context(config: RunConfig) -> _WorkerContext:
    local, catalog = open_context(config)
    return _WorkerContext(
        config, local, catalog, context_of(config, local, catalog) if config.archive else None
    )


def _content_id(work: Work, hashes: FileHashes) -> str:
    return content_of(work.name, hashes.collect_content())
