"""The watch itself: look, wait until files settle, have them triaged, remember.

Events of the system only wake it; what counts is what it finds when it looks, so that a share without events,
a folder that goes and comes back, and a queue of events that overflowed are all the same to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from analyzer import __version__
from analyzer.archive.batches.jobs import FAILED, HASHED, LOST, READ, Done, Result, Work
from analyzer.archive.batches.runner import Runner
from analyzer.runtime.errors import BacklineError, WriteError
from analyzer.watch_folder import folder_scan
from analyzer.watch_folder.folder_scan import Arrival
from analyzer.watch_folder.state import DoneCase, WatchState
from analyzer.watch_folder.work import UNWRITTEN, Landed

EVERY = 5.0  # seconds between two looks when nothing happens; more where a look takes long
TICK = 1.0  # seconds between two looks while something comes in
LONG = 600.0  # seconds after which a line says that something still comes in
PAUSE = 30.0  # seconds after results could not be written
SAVE = 1.0  # seconds between two savings in a round
REPORT = "report.html"


class WatchListener(Protocol):
    """What hears of the events of a watched folder."""

    def case_begun(self, arrival: Arrival) -> None:
        """A case was handed to a process."""
        ...

    def case_done(self, arrival: Arrival, known: DoneCase, same: str) -> None:
        """A case is done; `same` names the case that has the same content and was done before."""
        ...

    def say_line(self, line: str) -> None:
        """Something else is worth a line."""
        ...


class FolderWatcher:
    """A watch over one folder.

    runner  makes what triages cases with the rules as they are now; asked anew for each round
    skip    absolute paths below the folder that are no cases
    still   seconds for which nothing of a case may change before it is taken
    """

    def __init__(
        self,
        folder: Path,
        state: WatchState,
        runner: Callable[[], Runner],
        listener: WatchListener,
        *,
        skip: Sequence[str] = (),
        still: float = EVERY,
    ) -> None:
        self.folder, self.state, self._runner, self.listener = folder, state, runner, listener
        self.skip, self.still = frozenset(skip), still
        self.bad = False  # a case was partial, refused or failed
        self.unwritten = ""  # why results cannot be written just now
        self._seen: dict[str, tuple[str, float]] = {}  # name -> how it looked, since when
        self._first: dict[
            str, float
        ] = {}  # name -> when it was seen first, of what is not complete
        self._named: dict[str, str] = {}
        self._gone = False
        self._until = 0.0  # nothing is begun before
        self._blocked = self._once = False
        self._number = 0
        self._took = 0.0

    def watch_folder(self, *, once: bool = False) -> None:
        """Watch until Ctrl-C; with `once`, until everything that lies there is done.

        Raises BacklineError when the archive fails or, with `once`, results cannot be written.
        """
        self._once = once
        for _ in wait_for_wakes(self.folder, self.poll_seconds):
            ready, waiting = self.look_again()
            if ready and time.monotonic() >= self._until:
                self.triage_ready(ready)
                continue
            if once and self.unwritten:
                raise WriteError(
                    "not all results could be written", do="Free some space and start again."
                )
            if once and self._gone:
                raise BacklineError("the folder is gone", where=str(self.folder))
            if (
                once
                and not ready
                and all(arrival.waits or arrival.name in self._named for arrival in waiting)
            ):
                for arrival in waiting:
                    self.listener.say_line(
                        f"{arrival.name} is left alone: {arrival.waits or self._named[arrival.name]}"
                    )
                return

    def poll_seconds(self) -> float:
        """Return the seconds until the next look when nothing happens."""
        pace = min(TICK, max(self.still / 4, 0.05)) if self._seen else EVERY
        return max(pace, 20 * self._took)

    def skip_present(self) -> int:
        """Remember what lies there now as done without a report; return how many cases that are."""
        present = [
            arrival
            for arrival in folder_scan.list_arrivals(self.folder, self.skip)
            if arrival.name not in self.state.cases
        ]
        for arrival in present:
            self.state.cases[arrival.name] = _known_case(
                arrival, Result("", arrival.name, "skipped"), ""
            )
        self.state.save_state()
        return len(present)

    def look_again(self) -> tuple[list[Arrival], list[Arrival]]:
        """Return what can be taken now, and what is still to be waited for."""
        began = time.monotonic()
        try:
            found = folder_scan.list_arrivals(self.folder, self.skip)
        except OSError as error:
            # Once that the folder is not there; what was done stays known
            if not self._gone:
                why = error.strerror or str(error)
                self.listener.say_line(
                    f"{self.folder} cannot be read ({why}); waiting until it is there again"
                )
            self._gone = True
            self._seen.clear()
            return [], []
        if self._gone:
            self._gone = False
            self.listener.say_line("the folder is there again")
        todo = [
            arrival
            for arrival in found
            if not self.state.is_done(arrival.name, arrival.content_key)
        ]
        ready = [arrival for arrival in todo if self._is_still(arrival)]
        names = {arrival.name for arrival in todo}
        self._seen = {name: seen for name, seen in self._seen.items() if name in names}
        self._first = {name: first for name, first in self._first.items() if name in names}
        self._named = {name: why for name, why in self._named.items() if name in names}
        self._took = time.monotonic() - began
        return ready, [arrival for arrival in todo if arrival not in ready]

    def _is_still(self, arrival: Arrival) -> bool:
        """Say whether a thing has not changed for long enough, and no one writes to it."""
        now, key = time.monotonic(), arrival.content_key
        first = self._first.setdefault(arrival.name, now)
        before = self._seen.get(arrival.name)
        if before is None or before[0] != key:
            self._seen[arrival.name] = before = (key, now)
        why = arrival.waits
        if not why and now - before[1] >= self.still:
            if not folder_scan.is_busy(arrival):
                self._named.pop(arrival.name, None)
                return True
            why = "a program has it open for writing"
        elif not why:
            why = "it still grows or changes"
        if now - first >= LONG and arrival.name not in self._named:
            self._named[arrival.name] = why
            self.listener.say_line(
                f"{arrival.name} is not complete yet ({why}, {arrival.disk_size} bytes so far); waiting goes on"
            )
        return False

    def triage_ready(self, ready: Sequence[Arrival]) -> None:
        """Triage what is ready; remember each case when its answer comes."""
        taken: set[str] = set()
        jobs: dict[int, tuple[Landed, Arrival]] = {}
        for arrival in ready:
            job = self._make_job(arrival, taken)
            jobs[job.number] = job, arrival

        def hand_out() -> Iterator[Landed]:
            for job, arrival in jobs.values():
                if self._blocked:
                    return
                if not job.known:
                    self.listener.case_begun(arrival)
                yield job

        self._blocked = False
        runner, saved = self._runner(), time.monotonic()
        try:
            for done in runner.run(hand_out()):
                self._take_done(done, jobs[done.number][0], jobs[done.number][1])
                if time.monotonic() - saved > SAVE:
                    self._save_state()
                    saved = time.monotonic()
        finally:
            runner.close()
            self._save_state()

    def _make_job(self, arrival: Arrival, taken: set[str]) -> Landed:
        """Return the job of a thing; `taken` are the results folders of this round."""
        self._number += 1
        results = self.state.results_of(arrival.name, taken)
        taken.add(results.lower())
        source = arrival.paths[0] if len(arrival.paths) == 1 else str(self.folder / arrival.name)
        work = Work(arrival.name, source, arrival.paths, arrival.disk_size)
        known = tuple(self.state.find_alike(arrival.disk_size))
        out = str(self.state.out / results)
        return Landed(self._number, READ, (work,), out=out, known=known)

    def _take_done(self, done: Done, job: Landed, arrival: Arrival) -> None:
        """Remember a case that is done, and tell of it."""
        if done.fatal is not None:
            raise done.fatal
        result = done.results[0]
        if result.state == UNWRITTEN:
            self._cannot_write(result.why)
            return
        self.unwritten = ""
        if (now := folder_scan.key_now(arrival)) != arrival.content_key:
            what = (
                "changed while it was read; it is taken again when it is still"
                if now
                else "disappeared in the meantime"
            )
            self.listener.say_line(f"{arrival.name} {what}")
            return
        same = ""
        if result.state == HASHED:
            same = self.state.find_alike(arrival.disk_size).get(result.id, "")
            before = self.state.cases[same]
            known = _known_case(
                arrival,
                Result("", arrival.name, before.state, before.why, result.id),
                before.results,
            )
        else:
            reported = result.state not in ("refused", FAILED, LOST)
            known = _known_case(arrival, result, Path(job.out).name if reported else "")
            self.bad |= result.state != "ok"
        self.state.cases[arrival.name] = known
        if same != arrival.name:  # else only its time has changed
            self.listener.case_done(arrival, known, same)

    def _cannot_write(self, why: str) -> None:
        if not self.unwritten:
            self.listener.say_line(
                why if self._once else f"{why} Trying again every {PAUSE:.0f} seconds."
            )
        self.unwritten, self._until, self._blocked = why, time.monotonic() + PAUSE, True

    def _save_state(self) -> None:
        """Save the state; a full disk is reported, and no reason to end."""
        try:
            self.state.save_state()
        except BacklineError as error:
            self._cannot_write(str(error))


def _known_case(arrival: Arrival, result: Result, results: str) -> DoneCase:
    state = FAILED if result.state == LOST else result.state
    at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    return DoneCase(
        arrival.content_key,
        result.id,
        arrival.disk_size,
        arrival.mtime_ns,
        state,
        result.why,
        results,
        __version__,
        at,
    )


def wait_for_wakes(folder: Path, pace: Callable[[], float]) -> Iterator[None]:
    """Yield when it is time to look: at once, after events in the folder, and after the pace."""
    from watchfiles import watch  # noqa: PLC0415 - only this command needs it

    yield
    while True:
        looked = time.monotonic()
        try:
            for changes in watch(
                folder, watch_filter=None, debounce=200, step=50, rust_timeout=250, yield_on_timeout=True,
                recursive=False,
            ):  # fmt: skip
                if changes or time.monotonic() - looked >= pace():
                    yield
                    looked = time.monotonic()
                if not folder.is_dir():
                    break
        except OSError:  # the folder is away, or the system watches no more folders
            pass
        time.sleep(max(0.0, min(pace(), looked + pace() - time.monotonic())))
        yield
