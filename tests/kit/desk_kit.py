"""The desk of the page with real processes, for its tests: what hangs, who listens, when it is over."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from analyzer.web.cases.case_manager import CaseManager
from analyzer.web.cases.web_case import OVER
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import NewFile

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = (
    ROOT
    / "samples"
    / "cases"
    / "slow-storage"
    / "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz"
)
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
analyzer.ingest.reader.MemberReader.read_member = read
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
        async for number, event in self.manager.follow_events(0):
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
        return [
            event
            for _, event in self.seen
            if event.get("case") == case and (not kinds or event["kind"] in kinds)
        ]

    def states(self, case: str) -> list[str]:
        """Return the states of a case as they came, each once."""
        states = [event["record"]["state"] for event in self.of(case, "state")]
        return [
            state
            for number, state in enumerate(states)
            if not number or states[number - 1] != state
        ]

    def stop(self) -> None:
        self._task.cancel()


@asynccontextmanager
async def at_desk(
    folder: Path, archive: str = "", **options: Any
) -> AsyncIterator[tuple[CaseManager, Listener]]:
    """Give a desk and its listener; end all processes afterwards."""
    place = PrivatePlace.make_folder(folder)
    manager = CaseManager(place, archive, **options)
    listener = Listener(manager)
    await asyncio.sleep(0)
    try:
        yield manager, listener
    finally:
        listener.stop()
        await manager.close()
        place.remove_all()


def put(manager: CaseManager, name: str, *contents: tuple[str, bytes]) -> str:
    """Give a case of uploaded files to a desk, as uploads do; return its id."""
    case = manager.add_case(
        name, [NewFile(label, len(data), 1_600_000_000.0) for label, data in contents]
    )
    for number, (_, data) in enumerate(contents):
        manager._place.find_file(case.id, number).write_bytes(data)
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
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "triage",
        str(path),
        "--json",
        "-",
        "--no-settings",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
    ).stdout
