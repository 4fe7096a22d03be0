"""The desk of the page with real processes: events, queue, cancel, deaths, the archive."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from analyzer.archive.store import Archive
from analyzer.rules.run_options import RunOptions
from analyzer.web.cases.case_manager import CaseManager
from analyzer.web.cases.events import Events
from analyzer.web.cases.web_case import OVER
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.wire import NewFile, Refusal

ROOT = Path(__file__).resolve().parent.parent
BUNDLE = ROOT / "samples" / "cases" / "slow-storage" / "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz"
PATIENCE = 120.0
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")

# The real process, whose reading of members hangs in native code that holds the interpreter: no thread of it
# runs, no signal handler. It leaves a file where it hangs.
HANGS = """
import ctypes, pathlib, sys
import analyzer.ingest.reader
from analyzer.web.cases import analyst
def read(self, member):
    pathlib.Path(sys.argv[1]).touch()
    ctypes.PyDLL(None).sleep(600)
analyzer.ingest.reader.MemberReader.read = read
analyst.main()
"""
# One that says it reads, then does what it is told in one line of Python.
DOES = """
import json, os, signal, sys, time
sys.stdin.readline()
print(json.dumps({"type": "stage", "state": "reading", "say": "Reading the files."}), flush=True)
exec(sys.argv[1])
"""


def hangs(mark: Path) -> list[str]:
    """Return the command of a process that hangs while it reads, and leaves `mark` there."""
    return [sys.executable, "-P", "-c", HANGS, str(mark)]


def does(what: str) -> list[str]:
    """Return the command of a process that does one thing instead of reading."""
    return [sys.executable, "-P", "-c", DOES, what]


class Listener:
    """Collects the events of a desk."""

    def __init__(self, manager: CaseManager) -> None:
        self.manager = manager
        self.seen: list[tuple[int, Any]] = []
        self._come = asyncio.Event()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for number, event in self.manager.events(0):
            self.seen.append((number, event))
            self._come.set()

    async def until(self, fits: Callable[[Any], bool]) -> Any:
        """Return the first event that fits, waiting for it."""
        looked = 0

        async def look() -> Any:
            nonlocal looked
            while True:
                self._come.clear()
                for _, event in self.seen[looked:]:
                    looked += 1
                    if fits(event):
                        return event
                await self._come.wait()

        return await asyncio.wait_for(look(), PATIENCE)

    async def end(self, case: str) -> dict[str, Any]:
        """Return the record of a case at its end."""
        event = await self.until(lambda event: event["kind"] == "state" and event["case"] == case and
                                 event["record"]["state"] in OVER)  # fmt: skip
        record: dict[str, Any] = event["record"]
        return record

    def of(self, case: str, *kinds: str) -> list[Any]:
        """Return the events of a case, of some kinds or of all."""
        return [event for _, event in self.seen if event.get("case") == case and (not kinds or event["kind"] in kinds)]

    def states(self, case: str) -> list[str]:
        """Return the states of a case as they came, each once."""
        states = [event["record"]["state"] for event in self.of(case, "state")]
        return [state for number, state in enumerate(states) if not number or states[number - 1] != state]

    def stop(self) -> None:
        self._task.cancel()


@asynccontextmanager
async def at_desk(folder: Path, archive: str = "", **options: Any) -> AsyncIterator[tuple[CaseManager, Listener]]:
    """Give a desk and its listener; end all processes afterwards."""
    place = PrivatePlace.make(folder)
    manager = CaseManager(place, archive, **options)
    listener = Listener(manager)
    await asyncio.sleep(0)
    try:
        yield manager, listener
    finally:
        listener.stop()
        await manager.close()
        place.close()


def put(manager: CaseManager, name: str, *contents: tuple[str, bytes]) -> str:
    """Give a case of uploaded files to a desk, as uploads do; return its id."""
    case = manager.new(name, [NewFile(label, len(data), 1_600_000_000.0) for label, data in contents])
    for number, (_, data) in enumerate(contents):
        manager._place.file(case.id, number).write_bytes(data)
        manager.file_done(case.id, number)
    return case.id


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine, not for ever."""
    asyncio.run(asyncio.wait_for(main, 2 * PATIENCE))


async def there(path: Path) -> None:
    """Wait until a file is there."""
    began = time.monotonic()
    while not path.exists():
        assert time.monotonic() - began < PATIENCE
        await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    """Tell whether a process runs (a zombie does not)."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def gone(pid: int, seconds: float) -> float:
    """Wait until a process is gone; return how long that took."""
    began = time.monotonic()
    while alive(pid):
        assert time.monotonic() - began < seconds, "the process still runs"
        await asyncio.sleep(0.01)
    return time.monotonic() - began


def pid_of(manager: CaseManager) -> int:
    """Return the id of the process at work."""
    (child,) = manager._running
    assert child.pid is not None
    return child.pid


async def settled(manager: CaseManager) -> None:
    """Wait until no process runs and nothing is on its way."""
    began = time.monotonic()
    while manager._running or manager._later:
        assert time.monotonic() - began < PATIENCE
        await asyncio.sleep(0.01)


def triaged(path: Path) -> str:
    """Return the case document that the command line gives."""
    command = [sys.executable, "-m", "analyzer", "triage", str(path), "--json", "-", "--no-settings"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout


def test_a_dropped_bundle_is_told_from_the_upload_to_its_report(tmp_path: Path) -> None:
    """An uploaded bundle goes through all states in order, with progress and findings, to the report of the CLI."""

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = put(manager, BUNDLE.name, (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start(case)
            record = await heard.end(case)
            assert heard.states(case) == ["waiting", "reading", "judging", "writing", "done"]
            assert all(event["record"]["say"] for event in heard.of(case, "state"))
            assert [event["here"] for event in heard.of(case, "upload")] == [1]
            told = [event["finding"] for event in heard.of(case, "finding")]
            assert {one["rule"] for one in told} == {one["rule"] for one in record["findings"]}
            assert {"title", "severity", "subject", "node", "say"} <= told[0].keys()
            assert record["counts"]["major"] >= 3
            assert record["worst"] == "major"
            assert record["progress"]["bytes"] == record["progress"]["total"] == BUNDLE.stat().st_size
            assert record["progress"]["members"] > 5
            assert record["progress"]["lines"] > 50
            assert record["progress"]["judged"] == record["progress"]["rules"] > 0
            text = manager.result(case, "case.json").read_text()
            assert text == triaged(BUNDLE)
            document = json.loads(text)
            live = [one for one in document["findings"] if one["verdict"] == "match" and not one["muted"]]
            assert sum(record["counts"].values()) == len(live)
            assert "<html" in manager.result(case, "report.html").read_text()
            assert manager.result(case, "report.md").stat().st_size > 100

    run(main())


def test_a_path_of_this_machine_is_read_where_it_lies(tmp_path: Path) -> None:
    """A case given as a path copies nothing, and its document is that of the command line."""

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = manager.new("", BUNDLE)
            manager.start(case.id)
            record = await heard.end(case.id)
            assert (record["state"], record["name"], record["path"]) == ("done", BUNDLE.name, str(BUNDLE))
            folder = manager._place.case_folder(case.id)
            assert [path.name for path in folder.iterdir()] == ["results"]
            assert manager.result(case.id, "case.json").read_text() == triaged(BUNDLE)

    run(main())


def test_a_path_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """A path at which nothing lies makes no case, and the answer says why."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            with pytest.raises(Refusal, match="nothing can be read there") as caught:
                manager.new("", tmp_path / "nothing")
            assert (caught.value.status, bool(caught.value.why)) == (404, True)
            assert manager.cases() == []

    run(main())


def test_bytes_that_are_nothing_are_refused_with_the_reason(tmp_path: Path) -> None:
    """Random bytes end as refused, with what, why and what to give; there is no report."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = put(manager, "noise", ("noise.bin", bytes(range(256)) * 64))
            manager.start(case)
            record = await heard.end(case)
            assert (record["state"], record["report"]) == ("refused", False)
            error = record["error"]
            assert error["what"] == "nothing that Backline can read"
            assert (error["where"], error["why"]) == ("noise.bin", "looks like binary data")
            assert error["do"].startswith("Give a support bundle")
            assert record["say"] == "Nothing that Backline can read: looks like binary data"
            with pytest.raises(Refusal, match="no report"):
                manager.result(case, "report.html")

    run(main())


def test_a_cut_bundle_is_partial_and_says_what_is_missing(tmp_path: Path) -> None:
    """Half an archive gives a report, the state partial and a note of what could not be read."""

    async def main() -> None:
        data = BUNDLE.read_bytes()
        async with at_desk(tmp_path) as (manager, heard):
            case = put(manager, "half", (BUNDLE.name, data[: len(data) // 2]))
            manager.start(case)
            record = await heard.end(case)
            assert (record["state"], record["report"]) == ("partial", True)
            assert record["notes"][0].startswith("Not everything could be read: ")
            assert BUNDLE.name in record["notes"][0]

    run(main())


def test_hostile_names_are_plain_text_in_events(tmp_path: Path) -> None:
    """Names with escapes, markup, newlines, bidi marks and paths upwards come out as visible text of one line."""
    hostile = "../../\x1b[31m<script>\n\u202e\u2028\ud800/../x.tgz"

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = put(manager, hostile, (hostile, BUNDLE.read_bytes()), ("!/../etc/passwd", b"made up text\n" * 9))
            manager.start(case)
            record = await heard.end(case)
            assert record["state"] in ("done", "partial")
            for _, event in heard.seen:
                text = json.dumps(event)  # strict JSON, and ASCII
                told = json.dumps(event, ensure_ascii=False)
                assert json.loads(text) == event
                assert not set("\x1b\u202e\u2028\ud800") & set(told)
                assert "\n" not in told
            member = [
                event["progress"]["member"] for event in heard.of(case, "progress") if event["progress"]["member"]
            ]
            assert any("<script>" in name for name in member)
            assert sorted(path.name for path in manager._place.case_folder(case).iterdir()) == ["0", "1", "results"]

    run(main())


@posix
def test_ten_cases_wait_in_a_queue_and_are_done_in_order(tmp_path: Path) -> None:
    """One case is read at a time; the others know their place, which moves up, and all are done."""

    async def main() -> None:
        command = does("print(json.dumps({'type': 'end', 'state': 'refused', 'error': {'what': 'no'}}))")
        async with at_desk(tmp_path, command=command) as (manager, heard):
            cases = [put(manager, f"case {number}", ("x", b"x")) for number in range(10)]
            for case in cases:
                manager.start(case)
            records = [one.record() for one in reversed(manager.cases())]
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
                manager.start(case)
            manager.cancel(second)
            assert [manager.case(case).record()["state"] for case in (first, second, third)] == [
                "reading", "cancelled", "queued",
            ]  # fmt: skip
            assert manager.case(third).record()["place"] == 1
            await asyncio.sleep(0)
            assert heard.states(second) == ["waiting", "queued", "cancelled"]
            manager.cancel(first)
            await heard.until(
                lambda event: event.get("case") == third and event.get("record", {}).get("state") == "reading"
            )
            assert heard.states(first)[-1] == "cancelled"

    run(main())


@linux
def test_cancel_kills_a_process_that_hangs_in_native_code(tmp_path: Path) -> None:
    """A process that holds its interpreter in native code is gone within a second of the cancel, and the next begins."""

    async def main() -> None:
        mark = tmp_path / "hangs"
        async with at_desk(tmp_path, command=hangs(mark)) as (manager, heard):
            case = put(manager, "hangs", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start(case)
            await there(mark)
            pid = pid_of(manager)
            assert alive(pid)
            manager.cancel(case)
            assert manager.case(case).record()["state"] == "cancelled"
            assert await gone(pid, PATIENCE) < 1
            mark.unlink()
            manager.start(case)
            await there(mark)
            assert manager.case(case).record()["state"] == "reading"
            states = [state for state in heard.states(case) if state != "queued"]  # it may wait for the old process
            assert states == ["waiting", "reading", "cancelled", "reading"]

    run(main())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic bundle whose reading takes seconds."""
    path = tmp_path_factory.mktemp("large") / "esx-bench.tgz"
    command = [sys.executable, "tools/make_bundle.py", "--size", "50M", "-o", str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return path


@linux
@pytest.mark.slow
def test_a_large_bundle_is_cancelled_while_it_is_read(tmp_path: Path, large: Path) -> None:
    """Progress of a large bundle comes a few times a second, never backwards; a cancel in the middle ends its process."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = manager.new("", large).id
            began = time.monotonic()
            manager.start(case)
            await heard.until(lambda event: event["kind"] == "progress" and event["progress"]["lines"] > 0)
            pid = pid_of(manager)
            manager.cancel(case)
            seconds = time.monotonic() - began
            assert await gone(pid, PATIENCE) < 1
            told = [event["progress"] for event in heard.of(case, "progress")]
            assert 0 < told[-1]["bytes"] < large.stat().st_size
            assert [one["bytes"] for one in told] == sorted(one["bytes"] for one in told)
            stages = len(heard.of(case, "state"))
            assert len(told) <= 5 * seconds + stages + 1
            manager.remove(case)
            await settled(manager)
            assert not manager._place.case_folder(case).exists()
            assert heard.states(case) == ["waiting", "reading", "cancelled"]

    run(main())


@posix
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "the system killed it, most often for lack of memory"),
        ("sys.stderr.write('made up last words\\n'); os.kill(os.getpid(), signal.SIGSEGV)", "made up last words"),
        ("sys.exit(3)", "exit status 3"),
        ('print(\'{"type": "end"\'); sys.exit(0)', "exit status 0"),
    ],
)
def test_a_process_that_dies_fails_its_case_and_no_other(tmp_path: Path, what: str, said: str) -> None:
    """Whatever ends the process, its case is failed with a plain sentence, and the next case goes on."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does(what)) as (manager, heard):
            first = put(manager, "dies", ("x", b"x"))
            second = put(manager, "next", ("x", b"x"))
            manager.start(first)
            manager.start(second)
            manager._command = does("print(json.dumps({'type': 'end', 'state': 'refused', 'error': {'what': 'no'}}))")
            record = await heard.end(first)
            assert record["state"] == "failed"
            assert said in record["error"]["why"]
            assert record["error"]["what"]
            assert record["error"]["do"]
            assert "Traceback" not in json.dumps(record)
            assert (await heard.end(second))["state"] == "refused"

    run(main())


@linux
def test_a_process_killed_from_outside_fails_its_case(tmp_path: Path) -> None:
    """kill -9 of the real process in the middle of reading gives the state failed, and it can be started again."""

    async def main() -> None:
        mark = tmp_path / "hangs"
        async with at_desk(tmp_path, command=hangs(mark)) as (manager, heard):
            case = put(manager, "killed", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start(case)
            await there(mark)
            os.kill(pid_of(manager), signal.SIGKILL)
            record = await heard.end(case)
            assert record["state"] == "failed"
            assert "the system ended" in record["error"]["what"]
            manager._command = ()
            manager.start(case)
            await heard.until(lambda event: event.get("record", {}).get("state") == "done")

    run(main())


@linux
def test_a_process_that_takes_too_much_memory_or_time_is_ended(tmp_path: Path) -> None:
    """The bounds of memory and of wall time end a process, and the case says which of them it was."""

    async def main() -> None:
        greedy = does("kept = b'x' * (300 << 20); time.sleep(600)")
        async with at_desk(tmp_path, command=greedy, how=RunOptions(memory=200 << 20)) as (manager, heard):
            case = put(manager, "greedy", ("x", b"x"))
            manager.start(case)
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
    desk = CaseManager(PrivatePlace.make(Path(sys.argv[1])), command=sys.argv[3:])
    case = desk.new("", Path(sys.argv[2]))
    desk.start(case.id)
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
        command[3] = HANGS.replace("ctypes.PyDLL(None).sleep(600)", "import time; time.sleep(600)").replace(
            "analyst.main()", "analyst.sys.platform = 'other'; analyst.main()"
        )
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
            manager.start(case)
            await heard.until(lambda event: event.get("record", {}).get("say") == "Reading the files.")
            (child,) = manager._running
        assert child.join(0)
        assert not list(tmp_path.iterdir())

    run(main())


@posix
def test_a_removed_case_leaves_nothing_behind(tmp_path: Path) -> None:
    """Removing a case at work kills its process first; then its folder is gone, and the list does not know it."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, heard):
            case = put(manager, "gone", ("x", b"x" * 1000))
            manager.start(case)
            await heard.until(lambda event: event.get("record", {}).get("say") == "Reading the files.")
            (child,) = manager._running
            manager.remove(case)
            assert manager.cases() == []
            with pytest.raises(Refusal, match="no such case"):
                manager.case(case)
            assert await asyncio.to_thread(child.join, PATIENCE)
            await settled(manager)
            assert not manager._place.case_folder(case).exists()
            assert [event["kind"] for event in heard.of(case)][-1] == "removed"

    run(main())


def test_a_case_with_missing_files_is_not_started(tmp_path: Path) -> None:
    """A case says how many files it waits for, takes more of them, and is refused a start before all are here."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            case = manager.new("two", [NewFile("a", 1), NewFile("b", 1)])
            assert case.say == "It waits for 2 of 2 files."
            manager.file_done(case.id, 0)
            assert manager.add(case.id, [NewFile("c", 5)]) == 2
            assert case.say == "It waits for 2 of 3 files."
            with pytest.raises(Refusal, match="still waits for files") as caught:
                manager.start(case.id)
            assert caught.value.status == 409
            manager.cancel(case.id)
            with pytest.raises(Refusal, match="takes no more files"):
                manager.add(case.id, [NewFile("d", 5)])

    run(main())


def test_a_queued_case_that_takes_more_files_leaves_the_queue(tmp_path: Path) -> None:
    """Files for a queued case: it waits again, the case behind it moves up; one that is read takes none."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, _):
            first, second, third = (put(manager, name, ("x", b"x")) for name in ("one", "two", "three"))
            for case in (first, second, third):
                manager.start(case)
            with pytest.raises(Refusal, match="takes no more files") as caught:
                manager.add(first, [NewFile("late", 1)])
            assert caught.value.status == 409
            assert manager.add(second, [NewFile("x", 1)]) == 1
            told = {case: manager.case(case).record() for case in (second, third)}
            assert (told[second]["state"], told[second]["place"]) == ("waiting", 0)
            assert (told[third]["state"], told[third]["place"]) == ("queued", 1)
            with pytest.raises(Refusal, match="still waits for files"):
                manager.start(second)
            manager._place.file(second, 1).write_bytes(b"y")
            manager.file_done(second, 1)
            manager.start(second)
            assert manager.case(second).record()["place"] == 2

    run(main())


def test_thousands_of_files_are_told_in_few_events(tmp_path: Path) -> None:
    """Uploads of small files tell how many are here a few times a second, and always when the last one came."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = manager.new("many", [NewFile(f"{number}.log", 1) for number in range(3000)])
            for number in range(3000):
                manager.file_done(case.id, number)
            await heard.until(lambda event: event["kind"] == "upload" and event["here"] == 3000)
            assert len(heard.of(case.id, "upload")) < 300
            assert case.say == "All files are here: it waits to be started."

    run(main())


def test_events_are_resumed_by_their_number(tmp_path: Path) -> None:
    """Who names the last number gets exactly what came after; who names one that is gone, or none, gets everything."""

    async def take(events: AsyncIterator[tuple[int, Any]], count: int) -> list[tuple[int, Any]]:
        return [await asyncio.wait_for(anext(events), PATIENCE) for _ in range(count)]

    async def main() -> None:
        events = Events(lambda: {"kind": "snapshot"}, kept=10)
        for number in range(1, 26):
            events.add({"n": number})
        assert await take(events.since(20), 5) == [(number, {"n": number}) for number in range(21, 26)]
        assert await take(events.since(15), 1) == [(16, {"n": 16})]
        for since in (0, 14, 26, -3):
            assert await take(events.since(since), 1) == [(25, {"kind": "snapshot"})]
        slow = events.since(25)
        waiting = asyncio.ensure_future(anext(slow))
        await asyncio.sleep(0)
        events.add({"n": 26})
        assert await asyncio.wait_for(waiting, PATIENCE) == (26, {"n": 26})
        for number in range(27, 60):
            events.add({"n": number})
        assert await take(slow, 1) == [(59, {"kind": "snapshot"})]

    run(main())
    del tmp_path


def test_a_snapshot_tells_all_cases(tmp_path: Path) -> None:
    """A page that comes later gets one event with the record of every case, newest first."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            names = ["first", "second"]
            for name in names:
                put(manager, name, ("x", b"x"))
            _, event = await anext(manager.events(0))
            assert event["kind"] == "snapshot"
            assert [case["name"] for case in event["cases"]] == names[::-1]

    run(main())


@pytest.mark.slow
def test_an_archive_keeps_the_case_as_a_batch_would(tmp_path: Path) -> None:
    """With an archive a finished case is stored; a batch then finds it done, and a later desk shows and opens it."""
    archive = tmp_path / "archive"

    async def main() -> None:
        async with at_desk(tmp_path, str(archive), how=RunOptions(settings="")) as (manager, heard):
            case = manager.new("", BUNDLE).id
            manager.start(case)
            record = await heard.end(case)
            assert record["notes"] == []
            stored = record["stored"]
            await heard.until(lambda event: event["kind"] == "history")
            first = manager.result(case, "case.json").read_text()
            dropped = put(manager, "dropped", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start(dropped)
            other = (await heard.end(dropped))["stored"]
        assert len({stored, other}) == 2
        said = subprocess.run(
            [sys.executable, "-m", "analyzer", "batch", str(BUNDLE), "--archive", str(archive), "--no-settings",
             "--json", "-"],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        summary = json.loads(said.stdout)
        assert (summary["read"], summary["done"]) == (0, 1)
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            past = (await heard.until(lambda event: event["kind"] == "history"))["cases"]
            assert [one["id"] for one in past] == [other, stored]
            assert [one.id for one in manager.cases()] == [other, stored]
            assert past[1] | {"created": 0} == {
                "id": stored, "name": BUNDLE.name, "state": "done", "path": str(BUNDLE), "created": 0, "archived": True,
                "report": True, "notes": [], "error": {}, "worst": "major",
                "counts": record["counts"], "unknowns": record["unknowns"],
            }  # fmt: skip
            assert manager.case(stored).record()["name"] == BUNDLE.name
            assert manager.result(stored, "case.json").read_text() == first
            assert "<html" in manager.result(stored, "report.html").read_text()
            for strange in ("0" * 32, "../../etc", ""):
                with pytest.raises(Refusal, match="no such case"):
                    manager.result(strange, "report.html")

    run(main())
    (one,) = [
        one
        for one in Archive.open(archive).snapshot().current()
        if Archive.open(archive).meta(one)["name"] == "dropped"
    ]
    assert Archive.open(archive).meta(one)["source"].startswith("dropped:")


def test_an_archive_notes_why_a_case_has_no_report(tmp_path: Path) -> None:
    """A refused case is stored as refused, and the history of a later desk says why."""
    archive = tmp_path / "archive"

    async def main() -> None:
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            case = put(manager, "noise", ("noise.bin", bytes(range(256)) * 64))
            manager.start(case)
            assert (await heard.end(case))["state"] == "refused"
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            (past,) = (await heard.until(lambda event: event["kind"] == "history"))["cases"]
            assert (past["state"], past["report"]) == ("refused", False)
            assert "nothing that Backline can read" in past["error"]["what"]

    run(main())


def test_an_archive_that_cannot_be_used_costs_no_report(tmp_path: Path) -> None:
    """When the case cannot be stored, the report is there all the same and a note says what happened."""
    strange = tmp_path / "archive"
    strange.mkdir()
    (strange / "holiday.txt").write_text("made up")

    async def main() -> None:
        async with at_desk(tmp_path, str(strange)) as (manager, heard):
            case = manager.new("", BUNDLE).id
            manager.start(case)
            record = await heard.end(case)
            assert (record["state"], record["stored"]) == ("done", "")
            assert record["notes"][0].startswith("The case is not stored in the archive: ")
            assert manager.result(case, "report.html").is_file()

    run(main())
