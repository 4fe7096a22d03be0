"""The desk of the page: its queue, and processes that hang, die, outgrow their bounds or are cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.rules.run_options import RunOptions
from tests.kit.desk_kit import (
    BUNDLE,
    HANGS,
    PATIENCE,
    ROOT,
    alive,
    at_desk,
    does,
    gone,
    hangs,
    linux,
    pid_of,
    posix,
    put,
    run,
    settled,
    there,
)


@posix
def test_ten_cases_wait_in_a_queue_and_are_done_in_order(tmp_path: Path) -> None:
    """One case is read at a time; the others know their place, which moves up, and all are done."""

    async def main() -> None:
        command = does(
            "print(json.dumps({'type': 'end', 'state': 'refused', 'error': {'what': 'no'}}))"
        )
        async with at_desk(tmp_path, command=command) as (manager, heard):
            cases = [put(manager, f"case {number}", ("x", b"x")) for number in range(10)]
            for case in cases:
                manager.start_case(case)
            records = [one.record() for one in reversed(manager.list_cases())]
            assert [record["place"] for record in records] == list(range(10))
            assert [record["state"] for record in records] == ["reading", *["queued"] * 9]
            assert '"case 0"' in records[1]["say"]
            assert "Number 9" in records[9]["say"]
            for case in cases:
                await heard.end(case)
            ended = [event["case"] for _, event in heard.seen
                     if event["kind"] == "state" and event["record"]["state"] == "refused"]  # fmt: skip
            assert ended == cases
            places = [event["record"]["place"] for event in heard.of(cases[9], "state")]
            assert places == [0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
            assert len(manager._running) <= 1

    run(main())


@posix
def test_a_queued_case_is_cancelled_without_having_begun(tmp_path: Path) -> None:
    """A case cancelled in the queue leaves it; the one behind moves up and the one at work goes on."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, heard):
            first, second, third = (put(manager, name, ("x", b"x")) for name in "abc")
            for case in (first, second, third):
                manager.start_case(case)
            manager.cancel_case(second)
            assert [manager.find_case(case).record()["state"] for case in (first, second, third)] == [
                "reading", "cancelled", "queued",
            ]  # fmt: skip
            assert manager.find_case(third).record()["place"] == 1
            await asyncio.sleep(0)
            assert heard.states(second) == ["waiting", "queued", "cancelled"]
            manager.cancel_case(first)
            await heard.until(
                lambda event: (
                    event.get("case") == third and event.get("record", {}).get("state") == "reading"
                )
            )
            assert heard.states(first)[-1] == "cancelled"

    run(main())


@pytest.mark.process
@linux
def test_cancel_kills_a_process_that_hangs_in_native_code(tmp_path: Path) -> None:
    """A process that holds its interpreter in native code is gone within a second of the cancel, and the next begins."""

    async def main() -> None:
        mark = tmp_path / "hangs"
        async with at_desk(tmp_path, command=hangs(mark)) as (manager, heard):
            case = put(manager, "hangs", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start_case(case)
            await there(mark)
            pid = pid_of(manager)
            assert alive(pid)
            manager.cancel_case(case)
            assert manager.find_case(case).record()["state"] == "cancelled"
            assert await gone(pid, PATIENCE) < 1
            mark.unlink()
            manager.start_case(case)
            await there(mark)
            assert manager.find_case(case).record()["state"] == "reading"
            states = [
                state for state in heard.states(case) if state != "queued"
            ]  # it may wait for the old process
            assert states == ["waiting", "reading", "cancelled", "reading"]

    run(main())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic bundle whose reading takes seconds."""
    path = tmp_path_factory.mktemp("large") / "esx-bench.tgz"
    command = [sys.executable, "tools/make_bundle.py", "--size", "50M", "-o", str(path)]
    subprocess.run(
        command,
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return path


@pytest.mark.process
@linux
def test_a_large_bundle_is_cancelled_while_it_is_read(tmp_path: Path, large: Path) -> None:
    """Progress of a large bundle comes a few times a second, never backwards; a cancel in the middle ends its process."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = manager.add_case("", large).id
            began = time.monotonic()
            manager.start_case(case)
            await heard.until(
                lambda event: event["kind"] == "progress" and event["progress"]["lines"] > 0
            )
            pid = pid_of(manager)
            manager.cancel_case(case)
            seconds = time.monotonic() - began
            assert await gone(pid, PATIENCE) < 1
            told = [event["progress"] for event in heard.of(case, "progress")]
            assert 0 < told[-1]["bytes"] < large.stat().st_size
            assert [one["bytes"] for one in told] == sorted(one["bytes"] for one in told)
            stages = len(heard.of(case, "state"))
            assert len(told) <= 5 * seconds + stages + 1
            manager.remove_case(case)
            await settled(manager)
            assert not manager._place.case_folder(case).exists()
            assert heard.states(case) == ["waiting", "reading", "cancelled"]

    run(main())


@posix
@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "the system killed it, most often for lack of memory",
        ),
        (
            "sys.stderr.write('made up last words\\n'); os.kill(os.getpid(), signal.SIGSEGV)",
            "made up last words",
        ),
        ("sys.exit(3)", "exit status 3"),
        ('print(\'{"type": "end"\'); sys.exit(0)', "exit status 0"),
    ],
)
def test_a_process_that_dies_fails_its_case_and_no_other(
    tmp_path: Path, what: str, said: str
) -> None:
    """Whatever ends the process, its case is failed with a plain sentence, and the next case goes on."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does(what)) as (manager, heard):
            first = put(manager, "dies", ("x", b"x"))
            second = put(manager, "next", ("x", b"x"))
            manager.start_case(first)
            manager.start_case(second)
            manager._command = does(
                "print(json.dumps({'type': 'end', 'state': 'refused', 'error': {'what': 'no'}}))"
            )
            record = await heard.end(first)
            assert record["state"] == "failed"
            assert said in record["error"]["why"]
            assert record["error"]["what"]
            assert record["error"]["do"]
            assert "Traceback" not in json.dumps(record)
            assert (await heard.end(second))["state"] == "refused"

    run(main())


@pytest.mark.process
@linux
def test_a_process_killed_from_outside_fails_its_case(tmp_path: Path) -> None:
    """kill -9 of the real process in the middle of reading gives the state failed, and it can be started again."""

    async def main() -> None:
        mark = tmp_path / "hangs"
        async with at_desk(tmp_path, command=hangs(mark)) as (manager, heard):
            case = put(manager, "killed", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start_case(case)
            await there(mark)
            os.kill(pid_of(manager), signal.SIGKILL)
            record = await heard.end(case)
            assert record["state"] == "failed"
            assert "the system ended" in record["error"]["what"]
            manager._command = ()
            manager.start_case(case)
            await heard.until(lambda event: event.get("record", {}).get("state") == "done")

    run(main())


@linux
def test_a_process_that_takes_too_much_memory_or_time_is_ended(tmp_path: Path) -> None:
    """The bounds of memory and of wall time end a process, and the case says which of them it was."""

    async def main() -> None:
        greedy = does("kept = b'x' * (300 << 20); time.sleep(600)")
        async with at_desk(tmp_path, command=greedy, how=RunOptions(memory=200 << 20)) as (
            manager,
            heard,
        ):
            case = put(manager, "greedy", ("x", b"x"))
            manager.start_case(case)
            record = await heard.end(case)
            assert record["state"] == "failed"
            assert "MiB of memory, 200 are allowed" in record["error"]["why"]

    run(main())


DRIVER = """
import asyncio, sys
from pathlib import Path
from analyzer.web.cases.case_manager import CaseManager
from analyzer.web.guard.place import PrivatePlace
async def main():
    desk = CaseManager(PrivatePlace.make_folder(Path(sys.argv[1])), command=sys.argv[3:])
    case = desk.add_case("", Path(sys.argv[2]))
    desk.start_case(case.id)
    while True:
        for child in desk._running:
            if child.pid:
                print(child.pid, flush=True)
                await asyncio.sleep(600)
        await asyncio.sleep(0.01)
asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("how", ["hangs in native code", "waits"])
def test_no_process_outlives_a_server_that_is_killed(tmp_path: Path, how: str) -> None:
    """kill -9 of the server ends the process of the analysis, even while native code holds its interpreter."""
    mark = tmp_path / "hangs"
    command = hangs(mark)
    if how == "waits":  # in Python, without the kernel's help: the end of stdin alone must do
        command[3] = HANGS.replace(
            "ctypes.PyDLL(None).sleep(600)", "import time; time.sleep(600)"
        ).replace("analyst.main()", "analyst.sys.platform = 'other'; analyst.main()")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path), str(BUNDLE), *command],
        env=env, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    pid = 0
    try:
        assert driver.stdout is not None
        pid = int(driver.stdout.readline())
        asyncio.run(there(mark))
        assert alive(pid)
        driver.send_signal(signal.SIGKILL)
        driver.communicate(timeout=PATIENCE)
        asyncio.run(gone(pid, 20))
    finally:
        driver.kill()
        driver.communicate(timeout=PATIENCE)
        if pid and alive(pid):
            os.kill(pid, signal.SIGKILL)


def test_close_ends_the_process_at_work(tmp_path: Path) -> None:
    """When the server stops, the process of the analysis is gone before its folder is removed."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, heard):
            case = put(manager, "long", ("x", b"x"))
            manager.start_case(case)
            await heard.until(
                lambda event: event.get("record", {}).get("say") == "Reading the files."
            )
            (child,) = manager._running
        assert child.join(0)
        assert not list(tmp_path.iterdir())

    run(main())
