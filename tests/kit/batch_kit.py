"""What the tests of a batch share: small cases, a desk, a runner in this process, the command as a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from analyzer.archive.batches.batch import Batch
from analyzer.archive.batches.find import cases_in
from analyzer.archive.batches.jobs import Done, Job
from analyzer.archive.batches.plan import Wishes
from analyzer.archive.batches.run_config import RunConfig, config_of
from analyzer.archive.batches.summary import Summary
from analyzer.archive.batches.work import do_job
from analyzer.archive.store import Archive
from analyzer.rules import run_catalog
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
LONG_AGO = 1_600_000_000  # a file written just now could change once more without a new time
PATIENCE = 240

# Synthetic: a pasted session with counters of a guest, made up for these tests.
SESSION = """root@{host}:~# ethtool -S eth0
NIC statistics:
     Rx Queue#: 0
       LRO pkts rx: {packets}
       ucast pkts rx: 25357213
       pkts rx OOB: 7129
       pkts rx err: 0
       drv dropped rx total: 2305
"""
# Synthetic lines in the form of a vmkernel log.
LOG = """2017-10-14T16:41:02.120Z cpu3:65822)made up line {number}: link of vmnic1 went away
2017-10-14T16:41:05.480Z cpu1:65822)made up line {number}: link of vmnic1 came back
"""
RULE = """rule: {name}
title: A made-up line of a log
source: made up for a test
status: test
revised: 2026-11-21
about: Made up for a test.
each: one in hit per nic
subject: "{{one.node}} {{one.nic}}"
logs:
  hit:
    in: esxi.vmkernel
    match: 'made up line \\d+: {words}'
when: true
outcomes:
  - severity: warning
    confidence: possible
    say: "It stands in the log."
"""


def write(path: Path, content: str | bytes, when: int = LONG_AGO) -> Path:
    """Write a file with an old time, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (when, when))
    return path


def session(number: int) -> str:
    """Return the text of one small synthetic case."""
    return SESSION.format(host=f"guest-{number}", packets=1_000_000 + number)


def small_cases(folder: Path, count: int) -> Path:
    """Write so many small synthetic cases, a folder each; return the folder that holds them."""
    for number in range(count):
        write(folder / f"case-{number:03d}" / "session.txt", session(number))
    return folder


def config(archive: Path, kb: tuple[Path, ...] = (), limits: Limits | None = None) -> RunConfig:
    """Return the desk of a run over the archive of a folder."""
    options = RunOptions(tuple(map(str, kb)), limits=limits or Limits())
    local = run_catalog.Local(packs=False)
    catalog = options.catalog(local)
    assert not catalog.broken, [str(error) for error in catalog.broken]
    return config_of(str(archive), local, catalog, options)


class Here:
    """A runner that does jobs in this process and remembers them."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.jobs: list[Job] = []

    def run(self, jobs: Iterator[Job]) -> Iterator[Done]:
        """Do jobs one after another."""
        for job in jobs:
            self.jobs.append(job)
            yield do_job(job, self.config)

    def close(self) -> None:
        """Nothing is left over."""

    @property
    def acts(self) -> list[str]:
        """What the jobs were."""
        return [job.act for job in self.jobs]


def batch(
    archive: Path,
    *paths: Path,
    kb: tuple[Path, ...] = (),
    runner: Any = None,
    wishes: Wishes | None = None,
    limits: Limits | None = None,
    **over: Any,
) -> tuple[Summary, Here]:
    """Run a batch in this process; return its summary and the runner."""
    own = replace(config(archive, kb, limits), **over)
    here = Here(own) if runner is None else runner(own)
    local = run_catalog.Local(packs=False)
    signatures = run_catalog.load(local, kb).signatures()
    run = Batch(Archive.open(archive, create=True), own, here, wishes, None, signatures)
    found = list(cases_in([str(path) for path in paths], skip=[str(archive)]))
    return (run.triage_cases(found) if paths else run.judge_stored()), here


def documents(archive: Path) -> dict[str, str]:
    """Return the exact case documents of the visible cases by name."""
    opened = Archive.open(archive)
    cases = opened.take_snapshot().list_visible_cases()
    metas = opened.read_metas(cases)
    return {
        metas[case.id]["name"]: opened.document_text(case)
        for case in cases
        if case.judged.kind != "none"
    }


def metas(archive: Path) -> dict[str, dict[str, Any]]:
    """Return the metas of the visible cases by name."""
    opened = Archive.open(archive)
    return {
        meta["name"]: meta
        for meta in opened.read_metas(opened.take_snapshot().list_visible_cases()).values()
    }


def packs(archive: Path) -> list[str]:
    """Return the names of the stored objects that hold cases."""
    return sorted(path.name for path in archive.glob("packs/*/*.zip"))


def backline(*words: str | Path, script: Path | None = None, **over: Any) -> subprocess.Popen[str]:
    """Start `backline WORDS` (or a script that ends in it) as a process group of its own."""
    command = [
        sys.executable,
        *(["-m", "analyzer"] if script is None else [str(script)]),
        *map(str, words),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
        cwd=over.pop("cwd", ROOT), **over,
    )  # fmt: skip


def said(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a process; return exit code, stdout and stderr."""
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in out + err, err
    return process.returncode, out, err
