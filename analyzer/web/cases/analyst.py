"""`python -m analyzer.web.cases.analyst`: the process that triages one case for the page.

The case comes as one line of JSON on stdin, which then stays open: its end means that the server is gone, and
so must this process be. What happens goes out as lines of JSON:

    {"type": "stage", "state": "reading", "say": "…"}     also judging, writing
    {"type": "total", "bytes": n, "files": n, "name"}     what there is to read
    {"type": "progress", "bytes", "members", "lines", "member", "judged", "rules", "unknowns"}
    {"type": "finding", "finding": {…}}                   as rules find them
    {"type": "end", "state": "done", …}                   done, partial, refused or failed; always the last

What is given may be the case.json of an earlier triage: it is shown as it is, nothing is read or judged.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from analyzer.archive.batches import work as batch
from analyzer.archive.batches.jobs import Work
from analyzer.archive.batches.run_config import WorkerContext, config_of
from analyzer.archive.query.known_kinds import list_own_keys, tell_known
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.case.verdicts import SEVERITIES
from analyzer.compare.sides import find_document, names_schema
from analyzer.ingest.file_hashes import FileHashes, list_input_files
from analyzer.ingest.reader import ReadListener
from analyzer.pipeline.case_data import conclude
from analyzer.pipeline.triage import (
    Options,
    gather_case,
    place_incident,
)
from analyzer.report import completeness, view
from analyzer.report.results import render_results
from analyzer.report.wording import parse_time
from analyzer.rules.run_options import RunOptions
from analyzer.runtime import garbage
from analyzer.runtime.errors import BacklineError, RefusedError, failure_text
from analyzer.runtime.output import write_all
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import one_line
from analyzer.sources.case_names import name_case_by_files, name_case_by_host
from analyzer.web.cases.labelled import NamedFile, list_labelled
from analyzer.web.cases.original_files import describe_refusal, find_files_beside
from analyzer.web.cases.progress_writer import ProgressWriter, describe_finding
from analyzer.web.guard.wire import Refusal
from analyzer.workers.lifetime import end_with, order_line, own_stdout

if TYPE_CHECKING:
    from analyzer.case.document import CaseDocument
    from analyzer.case.verdicts import Finding
    from analyzer.pipeline.case_data import CaseData, RunResult
    from analyzer.rules import Catalog, Rule
    from analyzer.rules.run_catalog import Local
    from analyzer.scan.hits import Signature
    from analyzer.sources.remote import Place

WORST = 20  # findings sent at the end
REASONS = 5  # sent of what could not be read


@dataclass(frozen=True, slots=True)
class Order:
    """What this process has to do.

    name      of the case, "" to take that of its files
    files     uploaded ones: label, where its bytes lie, time of change or None
    path      a file or folder of this machine instead
    out       folder for the results
    archive   where the case is stored as well, "" for nowhere
    incident  when the trouble was, see `place_incident`
    title     what the results call the case, "" for its name
    how       the case is read and judged
    parent    process that started this one
    """

    name: str
    out: str
    files: tuple[tuple[str, str, float | None], ...] = ()
    path: str = ""
    archive: str = ""
    incident: str = ""
    title: str = ""
    how: RunOptions = field(default_factory=RunOptions)
    parent: int = 0


class Analysis:
    """One case, from its files to its results."""

    def __init__(self, order: Order, listener: ProgressWriter) -> None:
        self.order, self.listener = order, listener
        self.limits = order.how.limits
        self.began = time.monotonic()
        self.notes: list[str] = []
        self.context: WorkerContext | None = None
        self.work = Work("", "")
        self.hashes: FileHashes | None = None

    def run_analysis(self) -> dict[str, Any]:
        """Do it; return the last line. It names a refusal or a failure; nothing is raised."""
        try:
            return self._read_and_judge()
        except RefusedError as error:
            return self._end_without_results("refused", error, error.describe_cause())
        except BacklineError as error:
            return self._end_without_results("failed", error, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a case does, the page gets the reason
            traceback.print_exc()
            why = failure_text(error)
            do = (
                "Give fewer files at once."
                if isinstance(error, MemoryError)
                else "Please report it."
            )
            return self._end_without_results(
                "failed", BacklineError("the analysis failed", why=why, do=do), why
            )

    def _read_and_judge(self) -> dict[str, Any]:
        listener = self.listener
        kept = find_kept_document(self.order)
        if kept is not None:
            return self._open_document(*kept)
        listener.begin_stage("reading", "Loading the rules.")
        local, catalog, signatures = self._load_rules()
        paths = self._list_paths()
        self._measure_input(paths, local, catalog, signatures)
        watch = ReadListener(
            listener.begin_member,
            listener.end_member,
            partial(listener.begin_stage, "reading", "Putting what was read into tables."),
            partial(listener.begin_stage, "reading", "Computing the checksums of the files."),
        )
        options = Options(
            self.limits, on_read=listener.count_bytes, watch=watch, hashes=self.hashes
        )
        listener.begin_stage("reading", "Reading the files.")
        material = gather_case(paths, signatures, options)
        material.name = name_case_by_host(self.work.name, material.nodes)
        self.work = replace(self.work, name=material.name)
        listener.state |= {"rules": len(catalog.rules), "member": ""}
        listener.begin_stage("judging", "Judging the rules.")
        judged = _Judged(listener, local, material.created[:10])
        outcome = conclude(
            material,
            catalog,
            local.settings,
            self.limits,
            on_judged=judged.take,
            incident=place_incident(material, self.order.incident),
        )
        material.facts.reach_all_again()  # the archive may be asked of another time
        listener.begin_stage("writing", "Writing the report.")
        self._write_results(outcome)
        stored = self._store_case(material, outcome)
        return self._end_with_results(outcome, catalog, stored)

    def _open_document(self, path: Path, label: str) -> dict[str, Any]:
        """Write the results of a case that was judged before; its case.json is all there is of it."""
        self.listener.begin_stage("reading", "Reading the case.json.")
        try:
            document = case_file.read_case(path)
        except RefusedError as error:
            error.where = error.where.replace(str(path), label)
            raise
        if self.order.incident:
            self.notes.append(
                "The time of the incident is not used: a case.json is shown as it is. "
                "Drop the bundle itself for a report made around that time."
            )
        name = document.case.name or self.order.name or label
        self.work = Work(name, "", size=path.stat().st_size)
        self.listener.begin_stage("writing", "Writing the report.")
        self._write_document(document)
        lost = []
        if not completeness.is_complete(document):
            lost.append(completeness.describe_completeness(document))
        end = self._end_with_document(document, lost, "")
        return end | {"opened": True, "no_log": self._find_missing_log(document)}

    def _find_missing_log(self, document: CaseDocument) -> str:
        """Return why the logs of a case cannot be read that was opened from its case.json, "" when they can."""
        try:
            find_files_beside(document, Path(self.order.path) if self.order.path else None)
        except Refusal as error:
            return describe_refusal(error)
        return ""

    def _load_rules(self) -> tuple[Local, Catalog, list[Signature]]:
        order = self.order
        local, warning = order.how.local([Path(order.path)] if order.path else [])
        self.notes += [warning] * bool(warning)
        catalog = order.how.catalog(local)
        if catalog.broken:
            count = len(catalog.broken)
            self.notes.append(
                f"{count} rule file{'s' * (count > 1)} cannot be used: {catalog.broken[0]}"
            )
        return local, catalog, catalog.signatures()

    def _list_paths(self) -> list[Place]:
        if self.order.path:
            return [Path(self.order.path)]
        return [
            *list_labelled(
                NamedFile(label, Path(path), modified) for label, path, modified in self.order.files
            )
        ]

    def _measure_input(
        self, paths: Sequence[Place], local: Local, catalog: Catalog, signatures: list[Signature]
    ) -> None:
        """Learn how much there is to read, and prepare what the archive needs."""

        self.listener.begin_stage("reading", "Looking at the files.")
        sizes = []
        for path in paths:
            for file in list_input_files([path]):
                with suppress(OSError):
                    sizes.append(file.stat().st_size)
        self.hashes = FileHashes(paths, every=bool(self.order.archive))
        source = str(absolute_path(Path(self.order.path))) if self.order.path else ""
        self.work = Work(self.order.name or name_case_by_files(paths), source, size=sum(sizes))
        self.listener.write_line(
            "total", bytes=sum(sizes), files=len(sizes), name=one_line(self.work.name, 300)
        )
        if self.order.archive:
            self._open_archive(local, catalog, signatures)

    def _open_archive(self, local: Local, catalog: Catalog, signatures: list[Signature]) -> None:
        order = self.order
        try:
            archive = Archive.open(order.archive, create=True)
        except BacklineError as error:
            self.notes.append(f"The case is not stored in the archive: {error}")
            return
        manager = config_of(order.archive, local, catalog, order.how)
        self.context = WorkerContext(manager, archive, local, catalog, signatures)

    def _write_results(self, outcome: RunResult) -> None:
        """Write the results: all of them or none."""

        self._write_document(self._tell_known(outcome.document))

    def _write_document(self, document: CaseDocument) -> None:
        if self.order.title:
            head = structs.replace(document.case, name=self.order.title)
            document = structs.replace(document, case=head)
        made, _ = render_results(document, case_file.write_case(document), self.limits.report_bytes)
        try:
            write_all(Path(self.order.out), made)
        except BacklineError as error:
            error.where, error.do = "", "Free some space on the disk, then try again."
            raise

    def _tell_known(self, document: CaseDocument) -> CaseDocument:
        """Return the document of the report, which says what the archive knows of its signals."""
        if self.context is None or self.hashes is None:
            return document
        archive, work = self.context.archive, self._make_stored_work()
        own = list_own_keys(work.name, work.source, self.hashes)
        try:
            return tell_known(document, archive, own)
        except Exception as error:  # noqa: BLE001 - the report is there, whatever the archive does
            self.notes.append(f"What stored cases have is not known: {failure_text(error)}")
            return document

    def _store_case(self, material: CaseData, outcome: RunResult) -> str:
        """Store the case in the archive; return its id there, "" when it is not stored, which a note tells."""
        if self.context is None or self.hashes is None:
            return ""
        self.listener.begin_stage("writing", "Storing the case in the archive.")
        try:
            work = self._make_stored_work()
            result = batch.keep_whole(
                self.context, work, self.hashes, material, outcome, time.monotonic() - self.began
            )
        except Exception as error:  # noqa: BLE001 - the report is there, whatever the archive does
            self.notes.append(f"The case is not stored in the archive: {failure_text(error)}")
            return ""
        return result.id

    def _make_stored_work(self) -> Work:
        """Return the case with the place it comes from; of dropped files only their content tells one."""
        work = self.work
        if work.source or self.hashes is None:
            return work
        return Work(work.name, f"dropped:{batch.id_of(work, self.hashes)}", size=work.size)

    def _end_without_results(self, state: str, error: BacklineError, why: str) -> dict[str, Any]:
        """Return the last line for a case without results; the archive notes why there are none."""
        stored = ""
        if self.context is not None and self.hashes is not None and self.work.name:
            with suppress(Exception):
                stored = batch.keep_none(
                    self.context, self._make_stored_work(), self.hashes, state, why
                ).id
        return {
            "state": state,
            "error": error.show_parts(),
            "name": one_line(self.work.name, 300),
            "notes": self._list_notes(),
            "stored": stored,
            "seconds": round(time.monotonic() - self.began, 1),
            "progress": self.listener.state,
        }

    def _end_with_results(
        self, outcome: RunResult, catalog: Catalog, stored: str
    ) -> dict[str, Any]:
        lost = batch.list_reasons(outcome, catalog)
        return self._end_with_document(outcome.document, lost, stored)

    def _end_with_document(
        self, document: CaseDocument, lost: Sequence[str], stored: str
    ) -> dict[str, Any]:
        if lost:
            more = f"; and {len(lost) - REASONS} more" if len(lost) > REASONS else ""
            some = "; ".join(one_line(reason, 300) for reason in lost[:REASONS])
            self.notes.insert(0, f"Not everything could be read: {some}{more}.")
        live = [one for one in document.findings if one.verdict == "match" and not one.muted]
        severities = {one.severity for one in live}
        nodes = []
        for node in document.nodes[:50]:
            names = ("name", "kind", "product", "version")
            nodes.append({name: one_line(getattr(node, name), 200) for name in names})
        return {
            "state": "partial" if lost else "done",
            "name": one_line(self.work.name, 300),
            "counts": dict(view.tally_case(document).findings),
            "worst": next((word for word in SEVERITIES if word in severities), ""),
            "unknowns": view.tally_case(document).questions,
            "findings": [describe_finding(one) for one in live[:WORST]],
            "more": max(0, len(live) - WORST),
            "nodes": nodes,
            "incident": document.case.incident,
            "time": _find_case_time(document),
            "notes": self._list_notes(),
            "stored": stored,
            "seconds": round(time.monotonic() - self.began, 1),
            "progress": self.listener.state,
        }

    def _list_notes(self) -> list[str]:
        return [one_line(note, 2000) for note in self.notes[:REASONS]]


def _find_case_time(document: CaseDocument) -> float:
    """Return when the case was, as lists sort it: the incident, else the newest time in the material; 0 for none."""
    return parse_time(document.case.incident or document.case.created) or 0.0


class _Judged:
    """Passes on what rules find, but for what the settings mute."""

    def __init__(self, listener: ProgressWriter, local: Local, day: str) -> None:
        self.listener = listener
        self.mutes = [mute for mute in local.settings.mutes if mute.holds_on(day) is not False]

    def take(self, rule: Rule, findings: Sequence[Finding], unknowns: int) -> None:
        """Tell the findings of a rule."""
        del rule
        state = self.listener.state
        state["judged"] += 1
        state["unknowns"] += unknowns
        for one in findings:
            names = (one.subject, one.object)
            if one.verdict == "match" and not any(
                mute.covers(one.rule, names, one.node) for mute in self.mutes
            ):
                self.listener.write_finding(one)
        self.listener.write_progress()


def find_kept_document(order: Order) -> tuple[Path, str] | None:
    """Return the case.json that was given, alone or with the other results of its triage, and its name; else None."""
    if order.path:
        path = find_document(Path(order.path))
        if path is None:
            return None
        return path, path.name
    names = {
        label.replace("\\", "/").rpartition("/")[2]: Path(path) for label, path, _ in order.files
    }
    if len(order.files) > 1 and not names.keys() <= set(RESULTS):
        return None
    for name, path in names.items():
        if name.lower().endswith(".json") and path.is_file() and names_schema(path):
            return path, name
    return None


def order_of(text: bytes) -> Order:
    """Return the order that a line of JSON holds."""
    data = json.loads(text)
    data["files"] = tuple(
        (label, path, modified) for label, path, modified in data.get("files", ())
    )
    own = {one.name: data[one.name] for one in fields(Order) if one.name in data}
    return Order(**own, how=RunOptions.of_record(data))


def main() -> None:
    """Take an order from stdin and do it."""
    garbage.look_seldom()
    out = own_stdout()
    order = order_of(order_line())
    end_with(order.parent)
    listener = ProgressWriter(out)
    end = Analysis(order, listener).run_analysis()
    listener.write_line("end", **end)
    sys.stderr.flush()
    os._exit(0)  # nothing is left to do but to give the memory back, which the system does faster


if __name__ == "__main__":
    main()
