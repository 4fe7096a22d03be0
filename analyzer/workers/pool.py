"""A pool of processes on this machine: one bad job never stops the run, a dead process costs its job two starts.

A process keeps what it has loaded for many jobs; it ends when its parent does, when it has grown too large, and
after some hundred jobs.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Protocol, Self, TypeVar

from analyzer.runtime import garbage
from analyzer.runtime.errors import BacklineError
from analyzer.workers import lifetime
from analyzer.workers.resources import MIB, count_cores, find_memory, held_by

JOBS_EACH = 200  # then a process is replaced, whatever it holds
FROZEN = 3  # first jobs; what they leave (rules, templates) takes as long to look through as a small case to read
GROWN = 1 << 30  # bytes a process may hold between two jobs
UNBORN = 3  # processes that may die one after the other before they could take a job
STARTS = 2  # of one job, when the process that does it dies
GRACE = 60.0  # seconds beyond twice the time that a case may take
TICK = 1.0  # seconds between two looks at the processes


class PoolJob(Protocol):
    """What a pool asks of a job, which can be pickled, when the process that does it dies."""

    @property
    def case_count(self) -> int:
        """Return how many cases it has; its time is so many times that of one."""
        ...

    def note_start(self, at: int) -> Self:
        """Return the job to be done again, after a start at `at` (ms since 1970) that may have stored something."""
        ...

    def split_cases(self) -> Sequence[Self]:
        """Return a job for each case, to find the one at fault; none when it is not to be split."""
        ...

    def give_up(self, why: str) -> Any:
        """Return the answer to a job that is given up; an error when the run cannot go on without one."""
        ...


Task = TypeVar("Task", bound=PoolJob)
Answer = TypeVar("Answer")


class WorkerPool(Generic[Task, Answer]):
    """A pool of processes.

    do       what each does with a job: a function that can be imported, or a `partial` of one
    workers  how many at once, 0 for one a processor
    preload  name of a module that they have loaded when they start
    memory   bytes that all of them together may hold, 0 for what the machine has
    wall     seconds (and its name) that a case may take by its own count, 0 for no bound
    """

    def __init__(
        self,
        do: Callable[[Task], Answer],
        workers: int = 0,
        *,
        preload: str,
        memory: int = 0,
        wall: tuple[str, int] = ("", 0),
    ) -> None:
        self.do, self.preload, self.wall = do, preload, wall
        self.most = workers or count_cores()
        self.memory = memory or find_memory() * 8 // 10
        self._workers: list[_Worker[Task, Answer]] = []
        self._alone: deque[tuple[Task, int]] = (
            deque()
        )  # jobs whose process died, and how often they were started
        self._looked = 0.0
        self._unborn = 0  # processes in a row that died before they were ready

    def run(self, jobs: Iterator[Task]) -> Iterator[Answer]:
        """Do jobs, asking for the next when a process is free; yield each answer as it comes.

        Raises the BacklineError that a job raises, and one when processes of this machine end before they can begin.
        """
        jobs, more = iter(jobs), True
        while True:
            while more and len(busy := self._list_busy()) < self.most:
                job = next(jobs, None)
                more = job is not None
                if job is not None:
                    self._give_job(job, 1)
            busy = self._list_busy()
            if not busy and self._alone:  # one at a time: another case may have taken the memory
                self._give_job(*self._alone.popleft())
                busy = self._list_busy()
            if not busy:
                return
            things = [thing for worker in busy for thing in (worker.pipe, worker.process.sentinel)]
            wait(things, timeout=TICK)
            for worker in busy:
                yield from self._take_answer(worker)
            self._watch_limits()

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.wait_until_gone()
        self._workers.clear()

    def _list_busy(self) -> list[_Worker[Task, Answer]]:
        return [worker for worker in self._workers if worker.job is not None]

    def _give_job(self, job: Task, starts: int) -> None:
        """Hand a job to an idle process, or to a new one."""
        worker = next((one for one in self._workers if one.job is None), None)
        if worker is None:
            worker = _Worker(self.do, self.preload)
            self._workers.append(worker)
        worker.give_job(job, starts)

    def _take_answer(self, worker: _Worker[Task, Answer]) -> Iterator[Answer]:
        """Take the answer of a process, or learn that it died."""
        job, done = worker.job, worker.take_answer()
        self._unborn = 0 if worker.ready else self._unborn
        if job is None or (done is None and worker.is_alive()):
            return
        if done is not None:
            answer, held = done
            if worker.served >= JOBS_EACH or held > GROWN:
                self._workers.remove(worker)
                worker.send_off()
            if isinstance(answer, BacklineError):
                raise answer
            yield answer
            return
        self._workers.remove(worker)
        worker.wait_until_gone()
        if not worker.ready and not worker.ended:  # it never saw the job
            self._unborn += 1
            if self._unborn >= UNBORN:
                exit_name = worker.name_exit()
                raise BacklineError(
                    "the processes of this run cannot start",
                    why=f"{self._unborn} of them ended before they took a case, the last with {exit_name};"
                    " see their output above",
                    do="A program that starts a run must do so below `if __name__ == '__main__':` and lie in a file; "
                    "else the memory or the number of processes of this machine is used up.",
                )
            self._alone.append((job, worker.starts))
            return
        job = job.note_start(worker.given)
        if parts := job.split_cases():  # which of them it was is found out one by one
            self._alone += [(part, STARTS) for part in parts]
        elif worker.starts < STARTS and not worker.final:
            self._alone.append((job, worker.starts + 1))
        else:
            lost: Answer = job.give_up(worker.explain_end())
            yield lost

    def _watch_limits(self) -> None:
        """End processes that take too much memory or time."""
        now = time.monotonic()
        if now - self._looked < TICK:
            return
        self._looked = now
        busy = self._list_busy()
        held = {worker: held_by(worker.process.pid) for worker in busy}
        if sum(held.values()) > self.memory:
            largest = max(held, key=lambda worker: held[worker])
            much = f"{held[largest] // MIB} of the {self.memory // MIB} MiB that all may take"
            largest.end_because(f"it held {much}", final=len(busy) == 1)
        name, wall = self.wall
        for worker in busy:
            # The reader stops by itself when its time is up; then the rules still have to be judged.
            if (
                wall
                and worker.job is not None
                and now - worker.since > 2 * wall * worker.job.case_count + GRACE
            ):
                worker.end_because(f"it took more than twice {name}={wall} seconds", final=True)


class _Worker(Generic[Task, Answer]):
    """One process, seen from the command."""

    def __init__(self, do: Callable[[Task], Answer], preload: str) -> None:
        context = lifetime.make_context(preload)
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve_jobs, args=(theirs, do), daemon=True)
        with lifetime.deaf_to_ctrl_c():
            self.process.start()
        theirs.close()
        self.job: Task | None = None
        self.starts = self.served = 0
        self.since, self.given = 0.0, 0
        self.ended = ""
        self.final = self.ready = False

    def give_job(self, job: Task, starts: int) -> None:
        """Hand over a job."""
        self.job, self.starts, self.since, self.given = (
            job,
            starts,
            time.monotonic(),
            int(time.time() * 1000),
        )
        with suppress(OSError):  # a process that died is noticed where its answer is awaited
            self.pipe.send(job)

    def take_answer(self) -> tuple[Answer | BacklineError, int] | None:
        """Return the answer when it is there, and the bytes that the process holds; it is idle then."""
        try:
            if not self.pipe.poll():
                return None
            done = self.pipe.recv()
            if not self.ready:  # the first thing it says is that it is there
                self.ready = True
                return self.take_answer()
        except Exception:  # noqa: BLE001 - cut off in the middle of an answer
            return None
        self.job = None
        self.served += 1
        return done if isinstance(done, tuple) and len(done) == 2 else None

    def is_alive(self) -> bool:
        """Say whether the process runs."""
        return bool(self.process.is_alive())

    def end_because(self, why: str, *, final: bool = False) -> None:
        """Kill the process because of what its case does; a `final` end is not tried again."""
        self.ended, self.final = why, final
        self.kill()

    def explain_end(self) -> str:
        """Return what happened to a process that is gone."""
        name = self.name_exit()
        times = "once" if self.starts == 1 else "twice"
        cause = self.ended or (f"{name}, often for lack of memory" if name == "SIGKILL" else name)
        return (
            f"given up: {cause}"
            if self.final
            else f"the process that read it died {times} ({cause})"
        )

    def name_exit(self) -> str:
        """Return how a process ended: the name of a signal or its status."""
        code = self.process.exitcode or 0
        return (
            signal.Signals(-code).name
            if code < 0 and -code in set(signal.Signals)
            else f"exit status {code}"
        )

    def kill(self) -> None:
        """Kill the process."""
        with suppress(OSError):
            self.process.kill()

    def send_off(self) -> None:
        """Let an idle process end by itself."""
        with suppress(OSError):
            self.pipe.send(None)
        self.pipe.close()

    def wait_until_gone(self) -> None:
        """Put away what is left of a process."""
        self.process.join(10)
        self.pipe.close()


def _serve_jobs(pipe: Connection, do: Callable[[Task], Answer]) -> None:
    """Do jobs until there are no more, or no one is there to take the answers."""
    lifetime.end_with_parent()
    garbage.look_seldom()
    pipe.send(os.getpid())  # it is there: what kills it from now on is a job
    gc.freeze()  # the modules are not looked through after each job
    served = 0
    while True:
        try:
            job = pipe.recv()
            if job is None:
                return
            try:
                answer: Answer | BacklineError = do(job)
            except (
                BacklineError
            ) as error:  # of the run and no case: raised where the answer is awaited
                answer = error
            gc.collect()
            served += 1
            if served <= FROZEN:
                gc.freeze()
            pipe.send((answer, held_by(os.getpid())))
        except (EOFError, OSError):
            return
