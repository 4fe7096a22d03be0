"""Runs jobs on a Dask cluster: same jobs, same bytes, on machines that share only the storage.

Each worker has one job in work and one waiting; which, is decided here, so that it is known what a
worker was at when it died, and so that a slow one holds up two cases and not the run. `distributed` is
imported when a connection is made (dasklink.py), never by a module.
"""

from __future__ import annotations

import os
import pickle
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from analyzer.archive.batches.jobs import Done, Job
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.clusters import worker_protocol
from analyzer.archive.clusters.dasklink import Link, Tls
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import one_line
from analyzer.sources.storage import is_url
from analyzer.workers.pool import STARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

EACH = 2  # jobs of a worker: one in work, one waiting, so that it is never idle while an answer travels
SOON = 5.0  # seconds after which it is said that there are no workers
TICK = 0.5  # seconds between two looks at the workers
SLOW = (
    10.0  # seconds, and twice the longest job so far: then an idle worker does a job a second time
)
PATIENCE = 300.0  # seconds to wait for a scheduler or a worker to come back


@dataclass(eq=False, slots=True)
class _Task:
    """A job until its answer was given.

    deaths  of workers that were at it, or may have been: from the first on it is done with nothing next to it
    proved  in one of these deaths it was the only job that the worker had
    """

    job: Job
    deaths: int = 0
    proved: bool = False
    tries: list[_Try] = field(default_factory=list)
    over: bool = False
    sure: bool = False


@dataclass(eq=False, slots=True)
class _Try:
    """A job on one worker. `begun`: since when nothing else was before it, 0 for never."""

    task: _Task
    worker: str
    future: Any
    begun: float = 0.0
    answer: worker_protocol.Answer | None = None


class Cluster:
    """A Runner on a Dask cluster; see `runner.Runner`.

    scheduler  address such as tcp://host:8786, or `local` for a cluster of processes on this machine
    workers    processes of a local cluster, 0 for one a core
    patience   seconds to wait for a scheduler or worker that is gone; slow: see SLOW
    tell       gets a line when a worker or the scheduler is lost
    """

    def __init__(
        self,
        config: RunConfig,
        scheduler: str,
        workers: int = 0,
        *,
        tls: Tls | None = None,
        patience: float = PATIENCE,
        slow: float = SLOW,
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.config = replace(
            config,
            archive=_absolute_path(config.archive),
            options=replace(config.options, kb=(), settings=""),
        )
        self.patience, self.slow, self.tell = patience, slow, tell
        kit = pickle.dumps(worker_protocol.kit_of(config))
        self._kit, self._kit_key = kit, worker_protocol.key_of(kit)
        self._tries: list[_Try] = []
        self._again: deque[_Task] = deque()
        self._answers: queue.SimpleQueue[_Try] = queue.SimpleQueue()
        self._workers: set[str] = set()
        self._sleepy: dict[
            str, Any
        ] = {}  # workers that another one overtook, each with a question to it
        self._looked = self._met = 0.0
        self._alone = False
        self._longest = 0.0
        self._run, self._count = f"{config.run or 'run'}-{os.getpid()}-{time.time_ns():x}", 0
        self._dask = Link(scheduler, workers, tls or Tls())
        try:
            self._meet_scheduler()
        except BaseException:
            self._dask.close()
            raise

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs, asking for the next when a worker has room; yield each answer as it comes.

        Raises BacklineError when the scheduler, or all workers, stay away longer than `patience`.
        """
        jobs, more = iter(jobs), True
        while True:
            self._look_for_workers()
            yield from self._replace_lost_workers()
            while worker := self._find_free_worker(
                alone=bool(self._again and self._again[0].deaths)
            ):
                if not self._again and more:
                    job = next(jobs, None)
                    more = job is not None
                    if job is not None:
                        # A job with paths that do not depend on the current folder
                        works: Sequence[Any] = [
                            replace(work, paths=tuple(map(_absolute_path, work.paths)))
                            for work in job.works
                        ]
                        self._again.append(_Task(replace(job, works=tuple(works))))
                if not self._again:
                    break
                self._send_task(self._again.popleft(), worker)
            if not self._tries and not self._again and not more:
                return
            if not more and not self._again:
                self._hurry_waiting()
            yield from self._receive_answers()

    def close(self) -> None:
        """Take back what was not begun and go; a cluster of others keeps running."""
        for one in self._tries:
            with suppress(Exception):  # it is given up in any case
                one.future.cancel()
        self._tries.clear()
        self._dask.close()

    def _receive_answers(self) -> Iterator[Done]:
        """Wait a moment for answers and take all that are there."""
        wait = TICK
        while True:
            try:
                one = self._answers.get(timeout=wait)
            except queue.Empty:
                return
            wait = 0.001
            if one not in self._tries:
                continue
            self._tries.remove(one)
            one.task.tries.remove(one)
            if one.answer is not None:
                yield from self._handle_answer(one, one.answer)
                continue
            if one.future.status != "error":
                # The scheduler is gone and all it knew, or the worker with its answer.
                self._looked = 0.0
                self._retry_task(one.task)
                continue
            error = one.future.exception()
            kind = type(error).__name__
            if kind != "KilledWorker":
                missing = (worker_protocol.MISSING, f"{kind}: {error}")
                raise worker_protocol.fatal_of(missing, one.worker)
            yield from self._handle_death(one, proved=True)

    def _handle_answer(self, one: _Try, answer: worker_protocol.Answer) -> Iterator[Done]:
        kind, detail = answer
        task = one.task
        if kind == worker_protocol.KIT:
            self._send_task(task, one.worker, self._kit)
        elif kind == worker_protocol.DONE:
            self._longest = max(self._longest, time.monotonic() - (one.begun or time.monotonic()))
            done: Done = pickle.loads(detail)
            if done.fatal is not None:
                done.fatal.where = f"{done.fatal.where} (worker {one.worker})".strip()
            yield from self._finish_task(task, done)
        elif kind == worker_protocol.BROKEN:
            yield from self._finish_task(task, task.job.give_up(detail))
        elif kind == worker_protocol.UNSEEN and not os.path.lexists(
            detail
        ):  # it is gone meanwhile: refused like everywhere
            task.sure = True
            self._retry_task(task)
        else:
            raise worker_protocol.fatal_of(answer, one.worker)

    def _finish_task(self, task: _Task, done: Done) -> Iterator[Done]:
        """Give the answer to a job and forget what else is at it."""
        task.over = True
        for other in list(task.tries):
            self._drop_attempt(other)
            with suppress(Exception):  # the connection may be gone
                self._sleepy.setdefault(other.worker, self._dask.ask_worker(other.worker))
        yield done

    def _retry_task(self, task: _Task) -> None:
        """See to it that a job is done on some worker, unless one is at it."""
        if not task.over and not task.tries and task not in self._again:
            self._again.append(task)

    def _replace_lost_workers(self) -> Iterator[Done]:
        """Give the jobs of workers that are gone to others, or up; give up what takes far too long."""
        now, wall = time.monotonic(), self.config.options.limits.bundle_wall_s
        for one in [one for one in self._tries if wall and one.begun]:
            if one in self._tries and now - one.begun > 2 * wall * len(one.task.job.works) + 60:
                why = f"given up: it took more than twice bundle_wall_s={wall} seconds"
                yield from self._finish_task(one.task, one.task.job.give_up(why))
        for worker in {one.worker for one in self._tries} - self._workers:
            held = [one for one in self._tries if one.worker == worker and one.answer is None]
            # It can be done with one job, at the next, and dead before it said so: each that it had may be the one.
            suspects = [
                one
                for one in held
                if one.future.status != "cancelled" and self._dask.was_there(one.future.key)
            ]
            for one in held:
                self._drop_attempt(one)
            for one in held:
                if one in suspects:
                    yield from self._handle_death(one, proved=len(suspects) == 1)
                else:
                    self._retry_task(one.task)

    def _handle_death(self, one: _Try, *, proved: bool) -> Iterator[Done]:
        """A worker died while it was at a job, or had it."""
        task = one.task
        task.deaths += 1
        task.proved = task.proved or proved
        name = (
            task.job.works[0].name
            if len(task.job.works) == 1
            else f"{len(task.job.works)} stored cases"
        )
        if task.deaths < STARTS or not task.proved:
            self.tell(f"worker {one.worker} is gone; {one_line(name, 100)} is done on another one")
            self._retry_task(task)
        elif parts := task.job.split_cases():  # which of them it was is found out one by one
            task.over = True
            self._again += [_Task(part, STARTS - 1) for part in parts]
        else:
            times = "twice" if task.deaths == STARTS else f"{task.deaths} times"
            yield from self._finish_task(
                task, task.job.give_up(f"the process that read it died {times} (on a cluster)")
            )

    def _send_task(self, task: _Task, worker: str, kit: bytes = b"") -> None:
        self._count += 1
        parcel = worker_protocol.pack_job(task.job, self.config, self._kit_key, kit, sure=task.sure)
        try:
            future = self._dask.submit_parcel(parcel, worker, f"backline-{self._run}-{self._count}")
        except Exception:  # noqa: BLE001 - the connection was lost this moment, which the next look finds out
            self._looked, self._workers = 0.0, set()
            self._retry_task(task)
            return
        one = _Try(task, worker, future)
        if not any(other.worker == worker for other in self._tries):
            one.begun = time.monotonic()
        self._tries.append(one)
        task.tries.append(one)

        def note_answer(answer: worker_protocol.Answer | None) -> None:
            """Take note of an answer, in the thread that fetched it."""
            one.answer = answer
            self._answers.put(one)

        self._dask.when_done(future, note_answer)

    def _find_free_worker(self, *, alone: bool) -> str:
        """Return the worker with the fewest jobs, if one has room; those that were overtaken only when asked back.

        alone  only one that has nothing else; a worker with a job that was asked for so has no room
        """
        for worker, asked in list(self._sleepy.items()):
            if asked.status != "pending":
                del self._sleepy[worker]
        load = dict.fromkeys(self._workers - self._sleepy.keys() or self._workers, 0)
        for one in self._tries:
            if one.worker in load:
                load[one.worker] += EACH if one.task.deaths else 1
        best = min(load, key=lambda worker: (load[worker], worker), default="")
        return best if best and load[best] < (1 if alone else EACH) else ""

    def _hurry_waiting(self) -> None:
        """There is nothing left to hand out: let idle workers do what waits behind, or takes too long.

        A job that killed a worker is never doubled: it could kill two at once.
        """
        now = time.monotonic()
        idle = self._workers - {one.worker for one in self._tries} - set(self._sleepy)
        late = max(self.slow, 2 * self._longest)
        alone = [one for one in self._tries if len(one.task.tries) == 1 and not one.task.deaths]
        waiting = [one for one in alone if not one.begun]
        long = [one for one in alone if one.begun and now - one.begun > late]
        for worker, one in zip(
            sorted(idle), [*waiting, *sorted(long, key=lambda one: one.begun)], strict=False
        ):
            self._send_task(one.task, worker)

    def _drop_attempt(self, one: _Try) -> None:
        """Forget a job on a worker."""
        self._tries.remove(one)
        one.task.tries.remove(one)
        with suppress(Exception):  # the connection may be gone
            one.future.cancel()

    def _look_for_workers(self) -> None:
        """Learn which workers there are; which job of each is in work; come back when the scheduler was lost."""
        now = time.monotonic()
        if now - self._looked >= TICK:
            found = self._dask.list_workers()
            if found is None:
                self._meet_scheduler()
            else:
                self._workers = found
            self._looked = time.monotonic()
        busy: set[str] = set()
        for one in self._tries:
            if one.worker not in busy and not one.begun:
                one.begun = now
            busy.add(one.worker)
        if self._workers:
            self._met, self._alone = now, False
        elif not self._alone and now - self._met > SOON:
            self._alone = True
            self.tell(f"the scheduler at {self._dask.address} has no workers; waiting for some")
        elif now - self._met > self.patience:
            raise BacklineError(
                "the scheduler has no workers", where=self._dask.address, why=f"none appeared in {self.patience:.0f} s",
                do="Start some: dask worker ADDRESS --nthreads 1; then start the run again, what is stored stays.",
            )  # fmt: skip

    def _meet_scheduler(self) -> None:
        """Connect with the scheduler, for the first time or after it was lost; all jobs are sent anew."""
        first, began = not self._met, time.monotonic()
        if not first:
            self.tell(f"the scheduler at {self._dask.address} is gone; waiting for it")
        for one in self._tries:
            one.task.tries.clear()
            self._retry_task(one.task)
        self._tries.clear()
        self._sleepy.clear()
        self._workers = set()
        while not self._dask.connect():
            if first or time.monotonic() - began > self.patience:
                raise BacklineError(
                    "no scheduler answers" if first else "the scheduler did not come back",
                    where=self._dask.address, why=self._dask.why,
                    do="Start one with `dask scheduler`, or use --scheduler local." if first
                    else "Start it and then the run again; what is stored stays.",
                )  # fmt: skip
        self._met = time.monotonic()
        self._looked = 0.0
        if not first:
            self.tell("the scheduler is back; what was not stored is sent again")


def _absolute_path(path: str) -> str:
    return path if is_url(path) else str(absolute_path(path))
