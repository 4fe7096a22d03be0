"""A batch that is killed, interrupted, starved or run twice at once: nothing lost, nothing twice, no process left."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from analyzer.archive.batches.jobs import READ, Done, Job, Result, Work
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.runner import start_processes
from analyzer.archive.batches.work import do_job
from analyzer.archive.entry import Entry
from analyzer.archive.store import Archive
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.limits import Limits
from tests.kit.batch_kit import (
    PATIENCE,
    backline,
    batch,
    config,
    documents,
    metas,
    packs,
    said,
    small_cases,
)
from tests.kit.full_size import FULL

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
COUNT = 60


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Sixty small cases and the documents that an undisturbed run gives."""
    top = tmp_path_factory.mktemp("undisturbed")
    cases = small_cases(top / "cases", COUNT)
    code, out, err = said(backline("batch", cases, "--archive", top / "archive", "--quiet"))
    assert (code, out, err) == (0, "", "")
    return cases, documents(top / "archive")


def wait_for(what: Callable[[], object], why: str) -> None:
    """Wait until something is so; fail after a long time."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, why
        time.sleep(0.02)


def family(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def workers(session: int) -> list[int]:
    """Return the processes of a batch that hold much memory: those that read cases, and the server that starts them."""
    found = []
    for pid in family(session):
        with suppress(OSError):
            if pid != session and b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def _came_further(run: subprocess.Popen[str], archive: Path, than: int) -> bool:
    """Tell whether a run has stored more cases than so many, or has ended."""
    return run.poll() is not None or len(packs(archive)) > than


def _all_gone(run: subprocess.Popen[str]) -> bool:
    """Tell whether no process of a run is left."""
    return not family(run.pid)


def each_once(archive: Path) -> None:
    """Every case is stored once, and every stored case can be read back whole."""
    entries = [Entry.parse_name(f"packs/{name[:2]}/{name}") for name in packs(archive)]
    assert None not in entries
    counts = Counter(entry.id for entry in entries if entry is not None)
    assert len(counts) == COUNT
    assert set(counts.values()) == {1}
    code, out, err = said(backline("archive", "verify", "--archive", archive))
    assert code == 0, out + err


@pytest.mark.process
@pytest.mark.parametrize("kills", [6, 20] if FULL else [6])
def test_a_run_killed_at_any_moment_loses_and_doubles_nothing(
    kills: int, undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Killed with -9 again and again, the runs together store what one undisturbed run stores, each case once."""
    cases, expected = undisturbed
    archive, dice = tmp_path / "archive", random.Random(20171014)
    kept: set[str] = set()
    for number in range(kills):
        run = backline("batch", cases, "--archive", archive, "--quiet", "--jobs", "2")
        if (
            number % 3 == 0
        ):  # somewhere behind the first case; the others anywhere, most while processes start
            wait_for(partial(_came_further, run, archive, len(kept)), "nothing is stored")
        with suppress(subprocess.TimeoutExpired):
            run.wait(timeout=dice.uniform(0, 0.4 if number % 3 == 0 else 1.2))
        run.kill()
        run.communicate(timeout=PATIENCE)
        wait_for(partial(_all_gone, run), "a process outlives its command")
        now = set(packs(archive))
        assert kept <= now, "a stored case is gone"
        kept = now
    assert len(kept) >= kills // 5, "hardly a run came as far as a case"
    code, out, _ = said(backline("batch", cases, "--archive", archive))
    assert code == 0, out
    assert documents(archive) == expected
    each_once(archive)


@pytest.mark.process
def test_killed_workers_cost_nothing(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Processes that read cases are killed with -9 while they work: their cases are read by others, none is lost."""
    cases, expected = undisturbed
    archive = tmp_path / "archive"
    run = backline("batch", cases, "--archive", archive, "--quiet", "--jobs", "2")
    killed = 0
    for wanted in (2, 8, 16):
        wait_for(partial(_came_further, run, archive, wanted - 1), "nothing is stored")
        found = sorted(workers(run.pid))[1:]  # the first is the server that starts the others
        if found:
            with suppress(ProcessLookupError):
                os.kill(found[-1], signal.SIGKILL)
                killed += 1
    code, out, err = said(run)
    assert (code, out, err) == (0, "", "")
    assert killed
    assert documents(archive) == expected
    each_once(archive)


@pytest.mark.process
def test_two_runs_at_once_share_the_work(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Two runs over the same cases into one archive: both end well, every case is stored once."""
    cases, expected = undisturbed
    archive = tmp_path / "archive"
    runs = [backline("batch", cases, "--archive", archive, "--jobs", "1") for _ in range(2)]
    ends = [said(run) for run in runs]
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert documents(archive) == expected
    each_once(archive)
    assert list((archive / "claims").glob("*")) == []


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_stored(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path, number: signal.Signals
) -> None:
    """Ctrl-C and SIGTERM end a run soon with 130 and a summary; what was stored stays, no process and no claim does."""
    cases, _ = undisturbed
    archive = tmp_path / "archive"
    run = backline("batch", cases, "--archive", archive, "--jobs", "1")
    wait_for(lambda: len(packs(archive)) >= 3, "nothing is stored")
    began = time.monotonic()
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # as a terminal does: to all processes
    else:
        run.send_signal(number)
    code, out, _ = said(run)
    assert code == 130
    assert time.monotonic() - began < 20
    assert "interrupted" in out
    assert "left for the next run" in out
    assert 3 <= len(packs(archive)) < COUNT
    assert list((archive / "claims").glob("*")) == []
    wait_for(lambda: not family(run.pid), "a process outlives its command")


@pytest.mark.parametrize(
    "limit",
    [3000, 500],
    ids=["the head of the archive fits, a case does not", "no table of a case fits"],
)
def test_a_full_disk_is_a_plain_error(
    limit: int, undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """When a stored case cannot be written the run ends with one line that names the file and the reason."""
    cases, _ = undisturbed

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, out, err = said(
        backline("batch", cases, "--archive", tmp_path / "archive", preexec_fn=small)
    )
    assert code == 6, err
    assert "cannot write in the archive" in err
    assert "File too large" in err
    assert err.count("\n") == 1
    assert out == ""
    assert packs(tmp_path / "archive") == []


# --- the pool itself ---------------------------------------------------------------------------------


def job(number: int, name: str) -> Job:
    """Return a job that reads a case of this name."""
    return Job(number, READ, (Work(name, f"/made-up/{name}"),))


def answers(job: Job, config: RunConfig) -> Done:
    """Do nothing but what the name of the case asks for; used in other processes."""
    del config
    name = job.works[0].name
    if name.startswith("poison"):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("once"):  # dies at the first start only
        marker = Path(name.partition(" ")[2])
        if not marker.exists():
            marker.touch()
            os.abort()
    if name.startswith("greedy"):
        held = bytearray(300 << 20)
        held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
        time.sleep(60)
    if name.startswith("slow"):
        time.sleep(600)
    return Done(
        job.number, job.act, (Result(job.works[0].source, name, "ok", id=str(os.getpid())),)
    )


def run_pool(names: list[str], workers: int = 2, **options: object) -> dict[str, Result]:
    """Return what became of cases by their names."""
    limits = options.pop("limits", Limits())
    pool = start_processes(
        RunConfig("", RunOptions(settings="", limits=limits)), workers, do=answers, **options
    )  # type: ignore[arg-type]
    try:
        done = list(pool.run(iter([job(number, name) for number, name in enumerate(names)])))
    finally:
        pool.close()
    return {result.name: result for one in done for result in one.results}


def test_a_poison_case_costs_two_starts_and_the_others_go_on(tmp_path: Path) -> None:
    """A case that kills its process is given up after the second start, with the signal; one that does so once is read."""
    once = f"once {tmp_path / 'marker'}"
    found = run_pool(["a", "poison", "b", once, *(f"case {number}" for number in range(20))])
    assert found["poison"].state == "lost"
    assert (
        found["poison"].why
        == "the process that read it died twice (SIGKILL, often for lack of memory)"
    )
    assert {result.state for name, result in found.items() if name != "poison"} == {"ok"}
    assert len(found) == 24


def test_processes_that_cannot_begin_end_the_run(tmp_path: Path) -> None:
    """A program that starts a run without a guard, so that its processes start it anew: one error, soon, and no loop."""
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from analyzer.archive.batches.runner import start_processes\n"
        "from analyzer.archive.batches.run_config import RunConfig\n"
        "from analyzer.runtime.errors import BacklineError\n"
        "from tests.archive.test_batch_kill import answers, job\n"
        "pool = start_processes(RunConfig(''), 1, do=answers)\n"
        "try:\n"
        "    print(list(pool.run(iter([job(number, 'a') for number in range(50)]))))\n"
        "except BacklineError as error:\n"
        "    print('TOLD', error)\n"
        "finally:\n"
        "    pool.close()\n",
        encoding="utf-8",
    )
    own = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=own,
        timeout=PATIENCE,
        check=False,
    )
    assert run.stdout.count("TOLD") == 1, run.stderr
    assert "cannot start" in run.stdout and "3 of them ended before they took a case" in run.stdout
    assert "__main__" in run.stdout
    assert run.stderr.count("RuntimeError") <= 6


def test_processes_stay_warm() -> None:
    """Two processes do all jobs, as long as none of them dies."""
    assert len({result.id for result in run_pool([f"case {n}" for n in range(30)]).values()}) <= 2


def test_a_process_is_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a number of jobs a process is sent home and another one goes on."""
    monkeypatch.setattr("analyzer.workers.pool.JOBS_EACH", 4)
    assert (
        len({result.id for result in run_pool([f"case {n}" for n in range(12)], 1).values()}) == 3
    )


def test_a_case_that_takes_all_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that outgrows the memory of the run is ended; its case fails with the reason, the others go on."""
    monkeypatch.setattr("analyzer.workers.pool.find_memory", lambda: 250 << 20)  # of which 8/10
    found = run_pool(["greedy", "a", "b"])
    assert found["greedy"].state == "lost"
    assert "it held" in found["greedy"].why
    assert "200 MiB" in found["greedy"].why
    assert {found[name].state for name in "ab"} == {"ok"}


@pytest.mark.size
def test_a_case_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is still at a case long after the time of a bundle is ended, once."""
    monkeypatch.setattr("analyzer.workers.pool.GRACE", 0.5)
    found = run_pool(["slow", "a"], limits=Limits(bundle_wall_s=1))
    assert found["slow"].why == "given up: it took more than twice bundle_wall_s=1 seconds"
    assert found["a"].state == "ok"


def test_a_real_case_that_dies_twice_is_stored_as_failed(tmp_path: Path) -> None:
    """With real processes: a case that kills its process is in the archive as failed, all others as read."""
    cases = small_cases(tmp_path / "cases", 3)
    summary, _ = batch(
        tmp_path / "archive", cases, runner=lambda own: start_processes(own, 2, do=dies_at_one)
    )
    assert (summary.read, summary.failed) == (3, 1)
    assert metas(tmp_path / "archive")["case-001"]["why"].startswith(
        "the process that read it died twice"
    )
    assert sorted(documents(tmp_path / "archive")) == ["case-000", "case-002"]
    assert Archive.open(tmp_path / "archive").claim_case("x" * 32)


def dies_at_one(job: Job, config: RunConfig) -> Done:
    """Do a job as always, but die where one case is read."""
    if job.act == READ and job.works[0].name == "case-001":
        os.kill(os.getpid(), signal.SIGSEGV)
    return do_job(job, config)


def test_other_rules_in_the_processes_end_the_run(tmp_path: Path) -> None:
    """Processes that see other rules than the command end the run before a case is stored."""
    cases = small_cases(tmp_path / "cases", 2)
    with pytest.raises(Exception, match="other rules or settings"):
        batch(
            tmp_path / "archive",
            cases,
            runner=lambda own: start_processes(own, 1),
            catalog="1" * 64,
        )
    assert packs(tmp_path / "archive") == []
    assert config(tmp_path / "archive").catalog != "1" * 64
