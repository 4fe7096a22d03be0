"""The cases of one server: their list, their queue, their state.

All of it lives in one event loop; only the process of an analysis has threads of its own (workers/line_process.py).
Events (numbered, see events.py) are what a page needs to keep what it shows up to date:

    {"kind": "snapshot", "cases": [record, …]}             everything, for who comes anew
    {"kind": "state", "case": id, "record": {…}}           a case is new, or its state changed; also its end
    {"kind": "upload", "case": id, "here", "files", "say"} a file of a case came
    {"kind": "progress", "case": id, "progress": {…}}      at most about five a second
    {"kind": "finding", "case": id, "number", "finding"}   as rules find them
    {"kind": "removed", "case": id}
    {"kind": "history", "cases": [record, …], "say"}       the newest cases of the archive; why they are not known

Names in records come from outside: they are visible text on one line, nothing more.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analyzer.case import case_file
from analyzer.report.results import render_results
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.output import write_all
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import one_line
from analyzer.web.cases.events import Event, Events
from analyzer.web.cases.history import History
from analyzer.web.cases.past_cases import PastCases
from analyzer.web.cases.web_case import (
    CANCELLED,
    DONE,
    FAILED,
    OVER,
    PARTIAL,
    QUEUED,
    READING,
    WAITING,
    WORK,
    Past,
    WebCase,
    describe_counts,
    describe_error,
    describe_waiting,
    name_of,
)
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import NewFile, Refusal
from analyzer.workers.line_process import Ended, LineProcess, command_of

MOST = 200  # cases of one server
LIVE = 500  # findings kept of a case while they come
PAUSE = 0.2  # seconds between two events that tell of uploaded files of a case
GRACE = 60.0  # seconds beyond twice the time of a bundle, then a process is given up
PATIENCE = 5.0  # seconds that killed processes get at the end
COMMAND = command_of("analyzer.web.cases.analyst")


class CaseManager:
    """All cases of one server; `how` is the same for all of them.

    at_once  how many are analysed at the same time
    command  of the process, for tests
    """

    def __init__(
        self,
        place: PrivatePlace,
        archive: str = "",
        how: RunOptions | None = None,
        *,
        at_once: int = 1,
        command: Sequence[str] = (),
        kept: int = 0,
    ) -> None:
        self._place, self._how, self._at_once, self._command = (
            place,
            how or RunOptions(),
            at_once,
            command,
        )
        self._archive = archive if "://" in archive or not archive else str(absolute_path(archive))
        self._history = (
            History(self._archive, place, self._how.limits.report_bytes) if archive else None
        )
        self._past = PastCases(self._history, self._send_history)
        self._cases: dict[str, WebCase] = {}
        self._queue: list[WebCase] = []
        self._running: dict[LineProcess, WebCase] = {}
        self._events = Events(self._make_snapshot, kept) if kept else Events(self._make_snapshot)
        self._later: set[asyncio.Future[Any]] = set()
        self._rewriting = asyncio.Lock()
        self._closed = False

    # --- what a page asks for ---

    def add_case(self, name: str, files: Sequence[NewFile] | Path) -> WebCase:
        """Take a new case: files that will come, or a path on this machine, which is not copied.

        Raises Refusal when there are too many cases or nothing lies at the path.
        """
        if len(self._cases) >= MOST:
            raise Refusal(
                429,
                f"there are {MOST} cases already",
                do="Remove some from the list, then try again.",
            )
        if isinstance(files, Path):
            try:
                files.stat()
            except (OSError, ValueError) as error:
                why = (error.strerror if isinstance(error, OSError) else "") or str(error)
                raise Refusal(
                    404,
                    "nothing can be read there",
                    where=str(files),
                    why=why,
                    do="Check the path; it must lie on this machine.",
                ) from None
            case = WebCase(self._place.new_case(), name or files.name or str(files), path=files)
        else:
            case = WebCase(self._place.new_case(), name or name_of(files), tuple(files))
        self._cases[case.id] = case
        self._set_state(case, WAITING, describe_waiting(case))
        return case

    def add_files(self, case_id: str, files: Sequence[NewFile]) -> int:
        """Announce more files of a case that is not read yet; return the number of the first. Refusal (409) when late.

        A case that was queued leaves the queue until they are here and it is started again.
        """
        case = self._find_own(case_id)
        if case.state not in (WAITING, QUEUED) or case.path is not None:
            raise Refusal(
                409,
                "the case takes no more files",
                why=case.say,
                do="Drop them as a separate case.",
            )
        first = len(case.files)
        case.files += tuple(files)
        self._stop_case(case)
        self._set_state(case, WAITING, describe_waiting(case))
        self._start_next()
        return first

    def file_done(self, case_id: str, number: int) -> None:
        """Note that a file is here."""
        case = self._find_own(case_id)
        case.here.add(number)
        if case.state != WAITING:
            return
        case.say, now = describe_waiting(case), time.monotonic()
        if now - case.sent_at >= PAUSE or len(case.here) == len(case.files):
            case.sent_at = now
            upload = {"here": len(case.here), "files": len(case.files), "say": case.say}
            self._events.add_event({"kind": "upload", "case": case.id, **upload})

    def start_case(self, case_id: str) -> None:
        """Put a case into the queue; one that failed or was cancelled goes in again.

        Raises Refusal (409) when files are missing or it is at work already. Needs a running event loop.
        """
        case = self._find_own(case_id)
        if case.state not in (WAITING, FAILED, CANCELLED):
            raise Refusal(409, "the case is already running or done", why=case.say)
        missing = len(case.files) - len(case.here)
        if case.path is None and missing:
            do = "Drop the files again; that makes a new case." if case.state in OVER else ""
            raise Refusal(
                409, "the case still waits for files", why=f"{missing:,} are missing", do=do
            )
        self._put_in_queue(case)

    def set_incident(self, case_id: str, incident: str) -> WebCase:
        """Say when the trouble was; what was read, or is being read, is read again with it, and its report made anew.

        Raises Refusal (409) when the files of the case are not here.
        """
        case = self._find_own(case_id)
        if case.result.get("opened"):
            raise Refusal(
                409,
                "the report cannot be made anew",
                why="the case was opened from its case.json: its files are not here",
                do="Drop the bundle itself, and say there when it was.",
            )
        case.incident = incident
        if case.state in WORK or case.state in (DONE, PARTIAL, FAILED):
            self._stop_case(case)
            case.edits += 1
            self._put_in_queue(case)
        else:
            self._set_state(case, case.state, case.say)
        return case

    def cancel_case(self, case_id: str) -> None:
        """Stop a case; nothing happens when it is over."""
        case = self._find_own(case_id)
        if case.state not in OVER:
            self._stop_case(case)
            self._set_state(case, CANCELLED, "Cancelled.")
            self._start_next()

    def remove_case(self, case_id: str) -> None:
        """Stop a case and remove all that is kept of it."""
        case = self._find_own(case_id)
        del self._cases[case.id]
        case.gone = True
        if not self._stop_case(case):
            self._remove_folder(case)
        self._events.add_event({"kind": "removed", "case": case.id})
        self._start_next()

    async def rename_case(self, case_id: str, name: str, sr: str) -> WebCase:
        """Give a case that was read another name and an SR number: in the lists, its report, its note and its mail.

        Raises Refusal (409) while it is not read, (404) when it goes meanwhile.
        """
        case = self._find_own(case_id)
        if case.state not in (DONE, PARTIAL):
            raise Refusal(409, "the case is not read yet", why=case.say)
        async with self._rewriting:
            renamed = replace(case, name=name, sr=sr)
            folder, most = self._result_folder(case), self._how.limits.report_bytes
            try:
                await asyncio.to_thread(_rewrite_results, folder, renamed.title, most)
            finally:
                if case.gone:
                    self._remove_folder(case)
            if case.gone:
                raise _make_missing_case()
            case.name, case.sr, case.renamed, case.edits = name, sr, True, case.edits + 1
        self._set_state(case, case.state, case.say)
        return case

    def find_case(self, case_id: str) -> WebCase | Past:
        """Return one case, also one of the archive; Refusal (404) when there is none."""
        if case_id in self._cases:
            return self._cases[case_id]
        past = self._past.find_record(case_id)
        if past is None:
            raise _make_missing_case()
        return Past(case_id, past)

    def list_cases(self) -> list[WebCase | Past]:
        """Return the cases, newest first, then the newest of the archive, as far as those are known yet."""
        self._past.look_again()
        own: list[WebCase | Past] = list(reversed(self._cases.values()))
        return own + [Past(one["id"], one) for one in self._list_archived()]

    def find_result(self, case_id: str, name: str) -> Path:
        """Return where a result lies; Refusal (404) before it is there. For a case of the archive use a thread."""
        case = self._cases.get(case_id)
        if case is None:
            if self._history is None:
                raise _make_missing_case()
            return self._history.find_result(case_id, name)
        if case.state not in (DONE, PARTIAL) or name not in RESULTS:
            raise Refusal(404, "this case has no report", why=case.say)
        return self._result_folder(case) / name

    def follow_events(self, since: int) -> AsyncIterator[tuple[int, Event]]:
        """Yield number and content of every event after `since`, those to come included."""
        self._past.look_again()
        return self._events.follow_since(since)

    async def close(self) -> None:
        """End all analyses; what is left on the disk is removed with the private folder."""
        self._closed = True
        self._queue.clear()
        past = self._past.close()
        children = list(self._running)
        for child in children:
            child.kill()
        await asyncio.gather(
            *(asyncio.to_thread(child.join, PATIENCE) for child in children), *self._later, *past
        )

    # --- the queue ---

    def _put_in_queue(self, case: WebCase) -> None:
        case.progress, case.findings, case.more, case.error, case.result = {}, [], 0, {}, {}
        self._queue.append(case)
        self._start_next()

    def _start_next(self) -> None:
        """Start what has its turn, and tell the others where they stand."""
        while self._queue and len(self._running) < self._at_once and not self._closed:
            self._start_process(self._queue.pop(0))
        for place, case in enumerate(self._queue, 1):
            if case.state != QUEUED or case.place != place:
                case.place = place
                self._set_state(case, QUEUED, self._describe_place(place))

    def _describe_place(self, place: int) -> str:
        at_work = [case for case in self._running.values() if not case.gone and case.state in WORK]
        if place > 1:
            return f"Number {place} in the queue: it waits for the cases before it."
        names = f' "{one_line(at_work[0].title, 80)}"' if len(at_work) == 1 else ""
        return f"Next in the queue: it waits until the case before it{names} is read."

    def _start_process(self, case: WebCase) -> None:
        loop = asyncio.get_running_loop()
        limits = self._how.limits

        def soon(act: Callable[..., None], *what: Any) -> None:
            try:
                loop.call_soon_threadsafe(act, *what)
            except RuntimeError:  # the loop is closed: no one is there any more
                child.kill()

        child = LineProcess(
            self._make_order(case),
            lambda line: soon(self._take_message, child, line),
            lambda ended: soon(self._finish_process, child, ended),
            command=self._command or COMMAND,
            memory=self._how.memory,
            seconds=2 * limits.bundle_wall_s + GRACE if limits.bundle_wall_s else 0.0,
        )
        case.place, case.child, self._running[child] = 0, child, case
        self._set_state(case, READING, "Starting the analysis.")
        child.start()

    def describe_material(self, case_id: str) -> dict[str, Any]:
        """Return where the files of a case lie: name, files, path; of a stored case its case.json and the `source`
        it was read from, of one that was opened from its case.json that and where it lay, `beside` its files.
        Use a thread.

        Raises Refusal (404) when there is no such case, (409) while it is not read.
        """
        case = self._cases.get(case_id)
        if case is None:
            name = str(self.find_case(case_id).record().get("name", ""))
            return {
                "name": name,
                "files": [],
                "path": str(self.find_result(case_id, "case.json")),
                "stored": True,
                "source": self._history.find_source(case_id) if self._history else "",
            }
        if case.result.get("opened"):
            path = str(self.find_result(case_id, "case.json"))
            beside = str(case.path or "")
            return {
                "name": case.title,
                "files": [],
                "path": path,
                "opened": True,
                "beside": beside,
            }
        if case.state not in (DONE, PARTIAL):
            raise Refusal(409, "the case is not read yet", why=case.say)
        return self._describe_files(case)

    def _describe_files(self, case: WebCase) -> dict[str, Any]:
        return {
            "name": case.title,
            "files": [
                (file.name, str(self._place.find_file(case.id, number)), file.modified)
                for number, file in enumerate(case.files)
            ],
            "path": str(case.path) if case.path is not None else "",
        }

    def _make_order(self, case: WebCase) -> dict[str, Any]:
        return {
            **self._describe_files(case),
            "out": str(self._result_folder(case)),
            "archive": self._archive,
            "name": case.given_name,  # a case that is read again is the same one in the archive
            "title": case.title if case.renamed else "",
            "incident": case.incident,
            **self._how.record(),
            "parent": os.getpid(),
        }

    def _stop_case(self, case: WebCase) -> bool:
        """Take a case out of the queue or kill its process; True when a process is to end."""
        case.place = 0
        if case in self._queue:
            self._queue.remove(case)
        child, case.child = case.child, None
        if child is not None:
            child.kill()
        return child is not None or case in self._running.values()

    # --- what the process says ---

    def _take_message(self, child: LineProcess, line: Mapping[str, Any]) -> None:
        case = self._running.get(child)
        if case is None or case.child is not child:  # it was cancelled meanwhile
            return
        kind = line.get("type")
        if kind == "stage":
            self._set_state(case, str(line["state"]), str(line["say"]))
        elif kind == "total":
            case.progress |= {"total": line["bytes"], "files": line["files"]}
            case.name = case.name or str(line["name"])
        elif kind == "progress":
            case.progress |= {name: value for name, value in line.items() if name != "type"}
            self._events.add_event(
                {"kind": "progress", "case": case.id, "progress": dict(case.progress)}
            )
        elif kind == "finding" and len(case.findings) < LIVE:
            case.findings.append(line["finding"])
            found = {"number": len(case.findings), "finding": line["finding"]}
            self._events.add_event({"kind": "finding", "case": case.id, **found})
        elif kind == "end":
            case.result = dict(line)

    def _finish_process(self, child: LineProcess, ended: Ended) -> None:
        """The process is gone: say what became of its case, and go on with the next."""
        case = self._running.pop(child)
        if case.gone:
            self._remove_folder(case)
        elif case.child is child:
            case.child = None
            self._conclude_case(case, ended)
        self._start_next()

    def _conclude_case(self, case: WebCase, ended: Ended) -> None:
        result = case.result
        state = str(result.get("state", FAILED))
        case.progress |= result.get("progress", {})
        if state in (DONE, PARTIAL):
            if not case.renamed:
                case.name = str(result.get("name") or case.name)
            case.findings = result["findings"]
            case.more = result.get("more", 0)
            self._set_state(case, state, describe_counts(result))
        else:
            case.error = result.get("error") or ended.describe_failure()
            case.findings = []
            self._set_state(case, state, describe_error(case.error))
        if result.get("stored"):
            self._past.look_again(anew=True)

    def look_again(self) -> None:
        """Look at the archive again: something else is stored in it now."""
        self._past.look_again(anew=True)

    # --- what the page gets ---

    def _set_state(self, case: WebCase, state: str, say: str) -> None:
        case.state, case.say = state, say
        if case.gone:
            return
        record = case.record()
        if state in WORK and case.findings:
            del record["findings"]  # the page got them one by one
        self._events.add_event({"kind": "state", "case": case.id, "record": record})

    def _make_snapshot(self) -> Event:
        return {"kind": "snapshot", "cases": [case.record() for case in self.list_cases()]}

    def _list_archived(self) -> list[dict[str, Any]]:
        """Return the newest cases of the archive that are not in our list already."""
        ours = {case.result.get("stored") for case in self._cases.values()}
        return [one for one in self._past.newest if one["id"] not in ours]

    def _send_history(self, say: str) -> None:
        self._events.add_event({"kind": "history", "cases": self._list_archived(), "say": say})

    # --- small things ---

    def _find_own(self, case_id: str) -> WebCase:
        if case_id not in self._cases:
            raise _make_missing_case()
        return self._cases[case_id]

    def _result_folder(self, case: WebCase) -> Path:
        return self._place.case_folder(case.id) / "results"

    def _remove_folder(self, case: WebCase) -> None:
        """Remove the folder of a case; gigabytes take a while."""
        task = asyncio.ensure_future(asyncio.to_thread(self._place.remove_case, case.id))
        self._later.add(task)
        task.add_done_callback(self._later.discard)


def _rewrite_results(folder: Path, title: str, report_bytes: int) -> None:
    """Write the results of a case anew, under another name."""
    document = case_file.read_case(folder / "case.json")
    document.case.name = title
    made, _ = render_results(document, case_file.write_case(document), report_bytes)
    write_all(folder, made)


def _make_missing_case() -> Refusal:
    return Refusal(404, "no such case", do="It was removed, or the server was restarted.")
