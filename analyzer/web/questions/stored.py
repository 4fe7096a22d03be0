"""One stored case on the page: its findings and labels, labels being set, and the map of all cases.

Everything here may take long: it belongs in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analyzer.archive import labels
from analyzer.archive.query import browse
from analyzer.archive.query.fleet import FleetFilter, read_fleet
from analyzer.archive.upkeep import removal
from analyzer.case.document import CaseDocument
from analyzer.report import finding_rows, view
from analyzer.report import fleet as fleet_page
from analyzer.report.html import make_anchor
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line
from analyzer.web.cases.original_files import describe_refusal, find_files_of_source
from analyzer.web.guard.wire import Refusal
from analyzer.web.questions.answers import Library

if TYPE_CHECKING:
    from analyzer.archive.entry import Stored
    from analyzer.rules.run_options import RunOptions

MOST = 2000  # findings that are listed with their labels
_SHOWN = ("rule", "title", "severity", "confidence", "say", "verdict", "muted")
_KEY = ("rule", "node", "subject")  # exact, for a label names a finding by them
GIVEN = (labels.CONFIRMED, labels.REJECTED, labels.REMOVED)


def describe_case(library: Library, case: str) -> dict[str, Any]:
    """Return a stored case: what is known of it, its findings, its labels; `report` tells whether there is one."""
    archive, stored = library.require_archive(), library.find_case(case)
    origin = browse.find_origin(archive, archive.take_snapshot(), stored)
    meta = origin.meta
    record: dict[str, Any] = {
        name: one_line(str(meta.get(name) or ""), 600)
        for name in ("name", "source", "state", "why")
    }
    record |= {
        "id": stored.id,
        "stored": one_line(str(meta.get("stored") or ""), 40),
        "catalog": one_line(str(meta.get("catalog") or ""), 40),
        "visible": origin.visible,
        "report": stored.judged.kind != "none",
        "facts": stored.facts is not None,
        "findings": [],
        "quiet": [],
        "labels": [_describe_label(one) for one in origin.labels],
    }
    if record["report"]:
        document = browse.read_document(archive, stored)
        record |= _list_findings(document, origin.labels)
        record |= {
            "no_log": _find_missing_log(document, str(meta.get("source") or "")),
            "incident": document.case.incident,
            "counts": dict(view.tally_case(document).findings),
            "unknowns": view.tally_case(document).questions,
        }
    return record


def _find_missing_log(document: CaseDocument, source: str) -> str:
    """Return why the logs of a stored case cannot be read, "" when its files are still at their place."""
    try:
        find_files_of_source(document, source)
    except Refusal as error:
        return describe_refusal(error)
    return ""


def _list_findings(document: CaseDocument, given: list[labels.Label]) -> dict[str, Any]:
    known = {(one.rule, one.node, one.subject): _describe_label(one) for one in given}
    numbered = finding_rows.number_findings(document)
    found = [
        {name: one_line(str(getattr(one, name) or ""), 600) for name in _SHOWN}
        | {name: getattr(one, name) for name in _KEY}
        | {"number": numbered.get(one.id, ""), "anchor": make_anchor(one.id)}
        | {"label": known.get((one.rule, one.node, one.subject))}
        for one in document.findings[:MOST]
        if one.verdict == "match"
    ]
    quiet = sorted({one.rule for one in document.quiet})
    return {"findings": found, "more": max(0, len(document.findings) - MOST), "quiet": quiet}


def _describe_label(one: labels.Label) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "node": one.node,
        "subject": one.subject,
        "label": one.label,
        "missed": one.missed,
        "by": one_line(one.by, 100),
        "note": one_line(one.note, labels.LONGEST),
        "at": one.at[:10],
    }


def set_label(library: Library, case: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Give a label, or take it back; return the case as it is now.

    data  rule, node, subject, label (confirmed, rejected, removed), note, by, missed
    """
    texts = {
        name: data.get(name, "") for name in ("rule", "node", "subject", "label", "note", "by")
    }
    if (
        not all(isinstance(text, str) for text in texts.values())
        or texts["label"] not in GIVEN
        or not texts["rule"]
    ):
        raise Refusal(
            400,
            "the label is not understood",
            why=f"it needs a rule, and one of {', '.join(GIVEN)}",
        )
    missed = data.get("missed") is True
    if missed and texts["label"] == labels.REJECTED:
        raise UsageError("a missed finding cannot be rejected")
    if any("\0" in text or len(text) > labels.LONGEST for text in texts.values()):
        raise Refusal(
            413, "the note is too long", why=f"at most {labels.LONGEST:,} characters are kept"
        )
    asked = labels.LabelRequest(
        texts["rule"], texts["node"], texts["subject"], texts["label"], missed, by=texts["by"].strip(),
        note=texts["note"].strip(),
    )  # fmt: skip
    labels.give_labels(library.require_archive(), library.find_case(case), asked)
    return describe_case(library, case)


def remove_case(library: Library, case: str) -> dict[str, Any]:
    """Take a case out of the archive with its revisions and labels; return the ids that are gone."""

    done = removal.remove_cases(library.require_archive(), [library.find_case(case)])
    return {"gone": sorted(done.names), "labels": len(done.labels)}


class Map:
    """The heat map of an archive as one page, made anew when the archive holds something else or a rule took over.

    how  the rules of the server: what a rule said counts for the one that replaces it
    """

    def __init__(self, library: Library, report_bytes: int, how: RunOptions) -> None:
        self._library, self._most, self._how = library, report_bytes, how
        self._lock = threading.Lock()
        self._known: tuple[int, str] = (0, "")

    def make_page(self) -> str:
        """Return the page; its links speak of `cases/<short id>/report.html`, which our page opens."""

        archive = self._library.require_archive()
        with self._lock:
            snapshot = archive.take_snapshot()
            successors = self._how.successors()
            stored = tuple(sorted(entry.entry_text for entry in snapshot.entries))
            print_ = hash((stored, tuple(snapshot.faults), tuple(successors.items())))
            if self._known[0] != print_ or not self._known[1]:
                found = read_fleet(archive, FleetFilter(successors=successors), snapshot)
                reports = {case.id for case in found.cases if case.read}
                page = fleet_page.render_page(found, reports=reports, report_bytes=self._most)
                self._known = (print_, page)
            return self._known[1]


def count_cases(library: Library) -> dict[str, Any]:
    """Return how much the archive holds, and what of it cannot be read."""
    archive = library.open_archive()
    if archive is None:
        return {"url": library.url, "cases": 0, "damaged": []}
    snapshot = archive.take_snapshot()
    current: list[Stored] = snapshot.list_visible_cases()
    faults = [f"{one_line(name, 200)}: {one_line(why, 300)}" for name, why in snapshot.faults]
    return {"url": one_line(library.url, 500), "cases": len(current), "damaged": faults}
