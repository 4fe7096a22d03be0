"""The cases of the archive as the page shows them: the newest, and the results of one of them.

Everything here reads the archive and may take long: it belongs in a thread.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.archive.object_store.object_store import NotAnArchiveError
from analyzer.archive.query import browse
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.report import view
from analyzer.report.results import render_results
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits
from analyzer.runtime.output import write_all
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import one_line
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import Refusal

if TYPE_CHECKING:
    from analyzer.archive.entry import Stored

NEWEST = 50  # cases that are shown
RENDERED = 20  # cases whose results are kept on the disk
STATES = {"ok": "done"}


class History:
    """The cases of one archive; a folder without an archive holds none until the first case is stored there."""

    def __init__(
        self, archive: str, place: PrivatePlace, report_bytes: int = Limits().report_bytes
    ) -> None:
        self._url, self._place, self._report_bytes = archive, place, report_bytes
        self._lock = threading.Lock()
        self._archive: Archive | None = None
        self._rendered: OrderedDict[str, str] = (
            OrderedDict()
        )  # id -> entry whose results lie on the disk

    def list_newest(self) -> list[dict[str, Any]]:
        """Return the cases that were stored last, newest first, as records of the page.

        Raises BacklineError when the archive cannot be read.
        """

        try:
            archive = self._open_archive()
        except NotAnArchiveError:
            return []
        answer = browse.list_cases(archive, browse.ListFilter(order="stored", reported=True))
        return [
            _describe_stored(dict(zip(answer.head, row, strict=True)))
            for row in islice(answer.rows, NEWEST)
        ]

    def find_record(self, case: str) -> dict[str, Any]:
        """Return the record of one stored case; Refusal (404) when there is none."""
        stored = self._find_stored(case)
        meta = self._open_archive().read_meta(stored)
        words = {name: meta.get(name) for name in ("name", "state", "why", "source", "stored")}
        return _describe_stored(words | {"id": stored.id})

    def find_source(self, case: str) -> str:
        """Return where a stored case was read from, as its batch or the page noted it; Refusal (404) for no case."""
        return str(self._open_archive().read_meta(self._find_stored(case)).get("source") or "")

    def find_result(self, case: str, name: str) -> Path:
        """Return where a result of a stored case lies (made now when need be); Refusal (404) when there is none."""
        if name not in RESULTS:
            raise Refusal(404, "no such result")
        with self._lock:
            stored = self._find_stored(case)
            folder = self._place.case_folder(stored.id)
            if (
                self._rendered.get(stored.id) != stored.judged.entry_text
                or not (folder / name).is_file()
            ):
                self._render_results(stored, folder)
            self._rendered.move_to_end(stored.id)
            while len(self._rendered) > RENDERED:
                self._place.remove_case(self._rendered.popitem(last=False)[0])
            return folder / name

    def _render_results(self, stored: Stored, folder: Path) -> None:
        text = browse.document_text(self._open_archive(), stored)
        document = case_file.parse_case(text, stored.id)
        made, _ = render_results(document, text, self._report_bytes)
        folder.mkdir(mode=0o700, exist_ok=True)
        write_all(folder, made)
        self._rendered[stored.id] = stored.judged.entry_text

    def _find_stored(self, case: str) -> Stored:
        gone = Refusal(404, "no such case", do="Look for it in the list of cases.")
        try:
            found = [
                one
                for one in self._open_archive().take_snapshot().list_every_case()
                if one.id == case
            ]
        except BacklineError:
            raise gone from None
        if not found:
            raise gone
        return found[0]

    def _open_archive(self) -> Archive:
        if self._archive is None:
            self._archive = Archive.open(self._url)
        return self._archive


def _describe_stored(row: dict[str, Any]) -> dict[str, Any]:
    """Return a stored case as the page shows it."""
    state = str(row.get("state") or "")
    counts = {word: int(row[word]) for word in view.COUNTED if row.get(word)}
    why = one_line(str(row.get("why") or ""), 500)
    found: dict[str, Any] = {
        "id": str(row["id"]),
        "name": one_line(str(row.get("name") or ""), 300),
        "state": STATES.get(state, state),
        "path": one_line(str(row.get("source") or ""), 500),
        "created": _parse_seconds(row.get("stored")),
        "time": _parse_seconds(row.get("created")),
        "archived": True,
        "report": state in ("ok", "partial"),
        "notes": [why] * bool(why and state == "partial"),
        "error": {"what": why, "where": "", "why": "", "do": ""}
        if state in ("refused", "failed")
        else {},
    }
    if "cannot_tell" in row:
        found |= {"counts": counts, "unknowns": int(row["cannot_tell"] or 0)}
        found["worst"] = str(row.get("worst") or "") if found["report"] else ""
    return found


def _parse_seconds(stored: object) -> float:
    """Return a time as seconds since 1970."""
    if isinstance(stored, str):
        try:
            stored = datetime.fromisoformat(stored)
        except ValueError:
            return 0.0
    if not isinstance(stored, datetime):
        return 0.0
    return (stored if stored.tzinfo else stored.replace(tzinfo=UTC)).timestamp()
