"""Which job is blamed when a worker of a cluster dies: a made-up connection, whose workers die at any moment."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.archive.batches.jobs import JUDGE, LOST, OK, READ, Done, Job, Result, Work
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.clusters import cluster, worker_protocol
from analyzer.workers.pool import STARTS


class Future:
    """The answer to come of a job."""

    def __init__(self, key: str) -> None:
        self.key, self.status = key, "pending"

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self.status = "cancelled"


@dataclass
class Held:
    """A job that a worker has; `unsaid`: it is done, and the scheduler was not told yet."""

    future: Future
    job: Job
    heard: Any = None
    unsaid: bool = False


@dataclass
class Cluster:
    """A scheduler and its workers: each look of the command lets some of them get on with their jobs.

    `lie` is how often a worker is done with a job and cannot say so before the next one kills it.
    """

    chance: random.Random
    lie: float = 0.0
    workers_: dict[str, list[Held]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    suspicious: set[str] = field(default_factory=set)
    address: str = "made up"
    why: str = ""

    def connect(self) -> bool:
        """It is always there."""
        return True

    def close(self) -> None:
        """Nothing to do."""

    def list_workers(self) -> set[str]:
        """Let some workers work, then tell which are left."""
        for name in list(self.workers_):
            if self.chance.random() < 0.6:
                self._step(name)
        return set(self.workers_)

    def submit_parcel(self, parcel: bytes, worker: str, key: str) -> Future:
        """Give a job to a worker."""
        future = Future(key)
        if worker in self.workers_:
            self.workers_[worker].append(Held(future, pickle.loads(parcel)[0]))
        return future

    def when_done(self, future: Future, heard: Any) -> None:
        """Take note of who waits."""
        for held in self._all():
            if held.future is future:
                held.heard = heard

    def was_there(self, key: str) -> bool:
        """Tell what Dask knows of a job whose worker died."""
        return key in self.suspicious

    def ask_worker(self, _worker: str) -> Future:
        """Answer at once."""
        future = Future("sign of life")
        future.status = "finished"
        return future

    def _all(self) -> list[Held]:
        return [held for queue in self.workers_.values() for held in queue]

    def _step(self, name: str) -> None:
        queue = self.workers_[name] = [
            held for held in self.workers_[name] if held.future.status != "cancelled"
        ]
        for held in queue:
            poison = next(
                (work.name for work in held.job.works if work.name.startswith("poison")), ""
            )
            if poison:
                self.killed[poison] += 1
                self.suspicious |= {one.future.key for one in queue}
                del self.workers_[name]
                return
            if self.chance.random() < self.lie:
                held.unsaid = True
                continue
            break
        for held in [one for one in queue if one.unsaid] or queue[:1]:
            queue.remove(held)
            done = Done(
                held.job.number,
                held.job.act,
                tuple(Result(w.source, w.name, OK) for w in held.job.works),
            )
            held.future.status = "finished"
            held.heard((worker_protocol.DONE, pickle.dumps(done)))


def run(
    jobs: list[Job], workers: int, seed: int, lie: float
) -> tuple[Cluster, list[Result], list[str]]:
    """Do jobs on a made-up cluster; return it, the results, and what was told."""
    made = Cluster(random.Random(seed), lie, {f"w{number:02}": [] for number in range(workers)})
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "Link", lambda *_: made)
        patch.setattr(cluster, "TICK", 0.0)
        patch.setattr(worker_protocol, "kit_of", lambda _config: "rules")
        runner = cluster.Cluster(
            RunConfig("/archive"), "made up", patience=0.2, slow=0.0, tell=told.append
        )
        results = [result for done in runner.run(iter(jobs)) for result in done.results]
    return made, results, told


def reads(names: list[str]) -> list[Job]:
    """Return one job for each case."""
    return [Job(number, READ, (Work(name, f"/cases/{name}"),)) for number, name in enumerate(names)]


@settings(max_examples=150, deadline=None)
@given(
    poisons=st.integers(0, 3), good=st.integers(0, 12), spare=st.integers(1, 4), seed=st.integers(0, 1 << 32),
    lie=st.sampled_from([0.0, 0.3, 1.0]),
)  # fmt: skip
def test_a_case_takes_two_workers_at_most_and_no_other_case_is_blamed(
    poisons: int, good: int, spare: int, seed: int, lie: float
) -> None:
    """Whatever a dying worker had and did not say: each case is answered once, and only those that kill are given up."""
    names = [f"poison {number}" for number in range(poisons)] + [
        f"case {number}" for number in range(good)
    ]
    random.Random(seed).shuffle(names)
    made, results, _ = run(reads(names), STARTS * poisons + spare, seed, lie)
    assert sorted(result.name for result in results) == sorted(names)
    assert {result.name for result in results if result.state == LOST} == {
        n for n in names if n.startswith("poison")
    }
    assert all(deaths <= STARTS for deaths in made.killed.values())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32), where=st.integers(0, 5), lie=st.sampled_from([0.0, 0.5]))
def test_of_stored_cases_that_are_judged_together_the_one_that_kills_is_found(
    seed: int, where: int, lie: float
) -> None:
    """A job of several stored cases that killed two workers is done one by one; one of them is given up."""
    names = [f"case {number}" for number in range(6)]
    names[where] = "poison"
    jobs = [Job(0, JUDGE, tuple(Work(name, f"/cases/{name}") for name in names)), *reads(["other"])]
    made, results, told = run(jobs, 2 * STARTS, seed, lie)
    assert sorted(result.name for result in results) == sorted([*names, "other"])
    assert [result.name for result in results if result.state == LOST] == ["poison"]
    assert made.killed["poison"] <= STARTS + 1
    assert any("is done on another one" in line for line in told)
