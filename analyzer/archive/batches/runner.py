"""Runs jobs in processes of this machine: a bad case never stops the run, a dead worker costs its case two attempts.

A process keeps its rules and its archive for many jobs; it ends when its parent does, when it has grown too
large, and after some hundred jobs. What a job makes is in the archive before its answer comes, so ending a
process at any moment loses at most the case in work.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from analyzer import safepath
from analyzer.archive.batches.jobs import JUDGE, LOST, Done, Job, Result
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.work import do
from analyzer.errors import BacklineError

JOBS_EACH = 200  # then a process is replaced, whatever it holds
GROWN = 1 << 30  # bytes a process may hold between two jobs
MIB = 1 << 20
UNBORN = 3  # processes that may die one after the other before they could take a job
STARTS = 2  # of one case, when the process that reads it dies
GRACE = 60.0  # seconds beyond twice the time of a bundle
TICK = 1.0  # seconds between two looks at the processes

Doer = Callable[[Job, RunConfig], Done]


class Runner(Protocol):
    """Where jobs are done."""

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs, asking for the next when there is room for one; yield each answer as it comes."""
        ...

    def close(self) -> None:
        """End all processes; what they were at is given up."""
        ...


class WorkerPool:
    """A pool of processes on this machine.

    workers  how many at once; do: what each does with a job (a function that can be imported)
    memory   bytes that all of them together may hold, 0 for what the machine has
    """

    def __init__(self, desk: RunConfig, workers: int = 0, do: Doer = do, memory: int = 0) -> None:
        self.desk, self.do = desk, do
        self.most = workers or cores()
        self.memory = memory or available() * 8 // 10
        self._workers: list[_Worker] = []
        self._alone: deque[tuple[Job, int]] = deque()  # jobs whose process died, and how often they were started
        self._looked = 0.0
        self._unborn = 0  # processes in a row that died before they were ready

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs, asking for the next when a process is free; yield each answer as it comes.

        Raises BacklineError when processes of this machine end before they can begin.
        """
        jobs, more = iter(jobs), True
        while True:
            while more and len(busy := self._busy()) < self.most:
                job = next(jobs, None)
                more = job is not None
                if job is not None:
                    self._give(job, 1)
            busy = self._busy()
            if not busy and self._alone:  # one at a time: another case may have taken the memory
                self._give(*self._alone.popleft())
                busy = self._busy()
            if not busy:
                return
            things = [thing for worker in busy for thing in (worker.pipe, worker.process.sentinel)]
            wait(things, timeout=TICK)
            for worker in busy:
                yield from self._look(worker)
            self._watch()

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.gone()
        self._workers.clear()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.job is not None]

    def _give(self, job: Job, starts: int) -> None:
        """Hand a job to an idle process, or to a new one."""
        worker = next((one for one in self._workers if one.job is None), None)
        if worker is None:
            worker = _Worker(self.desk, self.do)
            self._workers.append(worker)
        worker.give(job, starts)

    def _look(self, worker: _Worker) -> Iterator[Done]:
        """Take the answer of a process, or learn that it died."""
        job, done = worker.job, worker.answer()
        self._unborn = 0 if worker.ready else self._unborn
        if job is None or (done is None and worker.alive()):
            return
        if done is not None:
            if worker.served >= JOBS_EACH or done.memory > GROWN:
                self._workers.remove(worker)
                worker.send_off()
            yield done
            return
        self._workers.remove(worker)
        worker.gone()
        if not worker.ready and not worker.ended:  # it never saw the job
            self._unborn += 1
            if self._unborn >= UNBORN:
                raise _stillborn(self._unborn, worker)
            self._alone.append((job, worker.starts))
            return
        job = replace(job, again=job.again or worker.given)
        if job.act == JUDGE and len(job.works) > 1:  # which of them it was is found out one by one
            self._alone += [(replace(job, works=(work,)), STARTS) for work in job.works]
        elif worker.starts < STARTS and not worker.final:
            self._alone.append((job, worker.starts + 1))
        else:
            work = job.works[0]
            yield Done(job.number, job.act, (Result(work.source, work.name, LOST, worker.why()),))

    def _watch(self) -> None:
        """End processes that take too much memory or time."""
        now = time.monotonic()
        if now - self._looked < TICK:
            return
        self._looked = now
        busy = self._busy()
        held = {worker: held_by(worker.process.pid) for worker in busy}
        if sum(held.values()) > self.memory:
            largest = max(held, key=lambda worker: held[worker])
            much = f"{held[largest] // MIB} of the {self.memory // MIB} MiB that all may take"
            largest.end(f"it held {much}", final=len(busy) == 1)
        wall = self.desk.limits.bundle_wall_s
        for worker in busy:
            # The reader stops by itself when its time is up; then the rules still have to be judged.
            if wall and worker.job is not None and now - worker.since > 2 * wall * len(worker.job.works) + GRACE:
                worker.end(f"it took more than twice bundle_wall_s={wall} seconds", final=True)


class _Worker:
    """One process, seen from the command."""

    def __init__(self, desk: RunConfig, do: Doer) -> None:
        context = _context()
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, desk, do), daemon=True)
        with _deaf_to_ctrl_c():
            self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.starts = self.served = 0
        self.since, self.given = 0.0, 0
        self.ended = ""
        self.final = self.ready = False

    def give(self, job: Job, starts: int) -> None:
        """Hand over a job."""
        self.job, self.starts, self.since, self.given = job, starts, time.monotonic(), int(time.time() * 1000)
        with suppress(OSError):  # a process that died is noticed where its answer is awaited
            self.pipe.send(job)

    def answer(self) -> Done | None:
        """Return the answer when it is there; the process is idle then."""
        try:
            if not self.pipe.poll():
                return None
            done = self.pipe.recv()
            if not self.ready:  # the first thing it says is that it is there
                self.ready = True
                return self.answer()
        except Exception:  # noqa: BLE001 - cut off in the middle of an answer
            return None
        self.job = None
        self.served += 1
        return done if isinstance(done, Done) else None

    def alive(self) -> bool:
        """Tell whether the process runs."""
        return bool(self.process.is_alive())

    def end(self, why: str, *, final: bool = False) -> None:
        """Kill the process because of what its case does; a `final` end is not tried again."""
        self.ended, self.final = why, final
        self.kill()

    def why(self) -> str:
        """Return what happened to a process that is gone."""
        name = self.code()
        times = "once" if self.starts == 1 else "twice"
        said = self.ended or (f"{name}, often for lack of memory" if name == "SIGKILL" else name)
        return f"the process that read it died {times} ({said})" if not self.final else f"given up: {said}"

    def code(self) -> str:
        """Return how a process ended: the name of a signal or its status."""
        code = self.process.exitcode or 0
        return signal.Signals(-code).name if code < 0 and -code in set(signal.Signals) else f"exit status {code}"

    def kill(self) -> None:
        """Kill the process."""
        with suppress(OSError):
            self.process.kill()

    def send_off(self) -> None:
        """Let an idle process end by itself."""
        with suppress(OSError):
            self.pipe.send(None)
        self.pipe.close()

    def gone(self) -> None:
        """Put away what is left of a process."""
        self.process.join(10)
        self.pipe.close()


def _stillborn(count: int, worker: _Worker) -> BacklineError:
    """Return the error of a run whose processes end before they can begin."""
    return BacklineError(
        "the processes of this run cannot start",
        why=f"{count} of them ended before they took a case, the last with {worker.code()}; see what they print above",
        do="A program that starts a run must do so below `if __name__ == '__main__':` and lie in a file; "
        "else the memory or the number of processes of this machine is used up.",
    )


def _serve(pipe: Connection, desk: RunConfig, do: Doer) -> None:
    """Do jobs until there are no more, or nobody is there to take the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command decides what Ctrl-C means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe.send(os.getpid())  # it is there: what kills it from now on is a job
    gc.freeze()  # the modules are not looked through after each job
    while True:
        try:
            job = pipe.recv()
            if job is None:
                return
            done = do(job, desk)
            gc.collect()
            pipe.send(replace(done, memory=held_by(os.getpid())))
        except (EOFError, OSError):
            return


def _end_with_parent() -> None:
    """Wait until the parent is gone, then end at once, whatever is being done."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _context() -> Any:
    """Return how processes are started: from a server that has the heavy modules loaded, where there is one."""
    safepath.for_children()
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["analyzer.archive.batches.preload"])
    return context


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach before they can ignore it."""
    mask = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def available() -> int:
    """Return how many bytes of memory may be used here; a guess where the system does not tell."""
    found = 4 << 30
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return found


def held_by(pid: int | None) -> int:
    """Return how many bytes of memory a process holds, 0 where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
