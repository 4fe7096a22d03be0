"""Real processes of a Dask cluster on loopback, and what tests of it compare."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.archive.batches import run_config
from analyzer.archive.batches.batch import Batch
from analyzer.archive.batches.find import cases_in
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.runner import Runner, start_processes
from analyzer.archive.batches.summary import Summary
from analyzer.archive.clusters import worker_protocol
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.rules.run_catalog import Local
from analyzer.rules.run_options import RunOptions

ROOT = Path(__file__).resolve().parents[2]
# A rule made up for these tests; it holds for every pasted `ethtool -S` of a guest.
RULE = """rule: {name}
title: A guest has counters, made up for a test
source: made up for a test
status: test
revised: 2026-11-21
about: Made up for a test.
each: row in guest.ethtool_stats
subject: "{{row.node}}"
let:
  many: 1
when: row.lro_pkts_rx >= many
outcomes:
  - severity: warning
    confidence: possible
    say: "{words}"
fix:
  - where: customer
    do: Nothing, it is made up.
not_this:
  - Anything real.
"""
PATIENT = 90.0  # seconds a busy machine may take for anything that is waited for


def until(what: Callable[[], Any], seconds: float = PATIENT) -> Any:
    """Return the first true answer of `what`; an AssertionError when it does not come in time."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.05)
    return found


def in_background(what: Any, *args: Any) -> tuple[threading.Thread, list[Any]]:
    """Run something in a thread; its result, or what it raised, comes into the list."""
    out: list[Any] = []

    def run() -> None:
        try:
            out.append(what(*args))
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            out.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, out


def finished(thread: threading.Thread, out: list[Any]) -> Any:
    """Wait for a thread of `in_background` and return its result."""
    thread.join(120)
    assert not thread.is_alive(), "the run does not end"
    if isinstance(out[0], BaseException):
        raise out[0]
    return out[0]


class Processes:
    """A scheduler and workers, each a process of its own; all are gone when the block ends."""

    def __init__(self, folder: Path, env: dict[str, str] | None = None) -> None:
        self.folder, self.env = folder, env or {}
        self.all: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.address = ""
        self.tls: tuple[str, ...] = ()  # options by which scheduler and workers prove who they are

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.all:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
            process.kill()
        for process in self.all:
            process.wait(30)

    def start(self) -> None:
        """Start the scheduler, at the address of the one before if there was one."""
        port = self.address.rpartition(":")[2] or "0"
        file = self.folder / f"scheduler-{len(self.all)}.json"
        self.scheduler = self._process(
            "dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show",
            "--scheduler-file", str(file), *self.tls, *(("--protocol", "tls") if self.tls else ()),
        )  # fmt: skip
        self.address = until(lambda: _address(file))

    def worker(
        self, *, python_path: str = "", env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a worker of one thread; without a nanny, so that killing it is killing it."""
        return self._process(
            "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--host", "127.0.0.1", "--local-directory", str(self.folder), "--name", f"w{len(self.all)}",
            *self.tls, *(("--protocol", "tls") if self.tls else ()),
            python_path=python_path, env=env,
        )  # fmt: skip

    def _process(
        self, module: str, *words: str, python_path: str = "", env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        path = python_path or str(ROOT)
        log = (self.folder / f"{len(self.all)}-{module}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *words],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, **self.env, **(env or {}), "PYTHONPATH": path},
            )  # fmt: skip
        self.all.append(process)
        return process


def _address(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError):
        return ""


def config_of(archive: str, local: Local | None = None, kb: tuple[str, ...] = ()) -> RunConfig:
    """Return the desk of a run, as the command makes it."""
    local, options = local or Local(packs=False), RunOptions(kb)
    return run_config.config_of(
        archive, local, options.catalog(local), options, run=os.urandom(4).hex()
    )


def batch(cases: str, config: RunConfig, runner: Runner) -> Summary:
    """Run a batch over the cases of a folder or URL."""
    archive = Archive.open(config.archive, create=True)
    return Batch(archive, config, runner).triage_cases(list(cases_in([cases])))


def local_documents(
    cases: str, folder: Path, kb: tuple[str, ...] = (), local: Local | None = None
) -> dict[str, str]:
    """Return the case documents of a run on this machine, by id."""
    config = config_of(str(folder), local, kb)
    batch(cases, config, start_processes(config, 2))
    return documents(str(folder))


def documents(archive: str) -> dict[str, str]:
    """Return the stored case documents, by id; states of cases without one in their place."""
    opened = Archive.open(archive)
    return {
        one.id: opened.document_text(one)
        if one.judged.kind != "none"
        else str(opened.read_meta(one)["state"])
        for one in opened.take_snapshot().list_visible_cases()
    }


def sound(archive: str) -> bool:
    """Tell whether `archive verify` finds nothing."""
    report = verify_archive(Archive.open(archive))
    return not report.problems and report.cases > 0


def stage_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder by whose files workers can be met in the midst of a case (`staged`)."""
    stage = folder / "stage"
    stage.mkdir()
    monkeypatch.setattr(worker_protocol, "job_runner", staged(stage))
    return stage


def kill_in_the_midst(
    cluster: Processes, victim: subprocess.Popen[bytes], stage: Path, archive: str
) -> None:
    """Kill the only worker while it has a case in hand, when two others have come and stored some."""
    until((stage / "met").exists)
    cluster.worker()
    cluster.worker()
    until(lambda: len(documents(archive)) > 2)
    victim.kill()


def staged(folder: Path) -> Callable[[], Callable[[str, bytes], Any]]:
    """Return a job in whose midst a worker can be met: what it does is told by files of a folder.

    A worker started with CLUSTER_TEST=victim writes `met` when it has a case in hand, goes on when `go` is
    there, and writes `done` when it has done the case. A case named poison kills the process that reads it.
    """
    place = str(folder)

    def job_runner() -> Callable[[str, bytes], Any]:
        def run(want: str, parcel: bytes) -> Any:
            import os
            import pickle
            import signal
            import time
            from pathlib import Path

            from analyzer.archive.clusters.worker_protocol import _kits, here

            folder = Path(place)
            job, _, key, kit, _ = pickle.loads(parcel)
            if job.act != "read" or not (kit or key in _kits):
                return here(want, parcel)
            if any(work.name.startswith("poison") for work in job.works):
                os.kill(os.getpid(), signal.SIGKILL)
            if os.environ.get("CLUSTER_TEST") == "victim":
                (folder / "met").write_text(str(os.getpid()))
                while not (folder / "go").exists():
                    time.sleep(0.02)
            answer = here(want, parcel)
            if os.environ.get("CLUSTER_TEST") == "victim":
                (folder / "done").write_text(answer[0])
            return answer

        return run

    return job_runner
