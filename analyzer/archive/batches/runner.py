"""Runs the jobs of a batch in processes of this machine.

What a job makes is in the archive before its answer comes, so ending a process at any moment loses at most the
case in work.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Protocol

from analyzer.archive.batches.jobs import Done, Job
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.work import do_job
from analyzer.workers.pool import WorkerPool

PRELOADED = "analyzer.archive.batches.preload"


class Doer(Protocol):
    """A function that can be imported, and does a job as a run configuration says."""

    def __call__(self, job: Job, config: RunConfig) -> Done:
        """Do it."""
        ...


class Runner(Protocol):
    """Where jobs are done."""

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs, asking for the next when there is room for one; yield each answer as it comes."""
        ...

    def close(self) -> None:
        """End all processes; what they were at is given up."""
        ...


def start_processes(
    config: RunConfig, workers: int = 0, do: Doer = do_job
) -> WorkerPool[Job, Done]:
    """Return a pool that does jobs as a run configuration says; `do` is what each process does with a job."""
    wall = ("bundle_wall_s", config.options.limits.bundle_wall_s)
    return WorkerPool(partial(do, config=config), workers, preload=PRELOADED, wall=wall)
