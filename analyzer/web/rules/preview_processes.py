"""The parent's side of a preview: processes that judge typed rules over a case they have read, and back-tests.

No more than a few live at a time; one that takes too long or too much memory is killed, one that no one asks
for a while is let go. The text of a rule lies in the private folder of the server and nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import Refusal
from analyzer.workers.line_process import Ended, LineProcess, command_of

READ, RUN = 600.0, 20.0  # seconds for reading a case, and for judging one text with its examples
BACKTEST = 3600.0  # seconds of a back-test
IDLE = 900.0  # seconds until a process that no one asks is let go
KEPT = 2  # cases that are held at a time
MEMORY = 4 << 30  # bytes
COMMAND = command_of("analyzer.web.rules.preview")
LONGEST = 16 << 20  # bytes of a line
SIGN = 10.0  # seconds between signs of life
_RULE = re.compile(
    r"^rule:[ \t]*[\"']?([a-z0-9][a-z0-9-]{0,79})[\"']?[ \t]*(?:[ \t]#.*)?$", re.MULTILINE
)


class Talking(LineProcess):
    """A process whose lines come into the queue `messages`, and its end."""

    def __init__(self, order: Mapping[str, Any], *, seconds: float = 0.0) -> None:
        loop = asyncio.get_running_loop()
        self.messages: asyncio.Queue[dict[str, Any] | Ended] = asyncio.Queue()

        def put(what: dict[str, Any] | Ended) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self.messages.put_nowait, what)

        order = {**order, "parent": os.getpid()}
        super().__init__(
            order, put, put, command=COMMAND, memory=MEMORY, seconds=seconds, longest=LONGEST
        )


class PreviewProcess:
    """One case in a process, and the texts that are judged over it one after the other."""

    def __init__(self, order: Mapping[str, Any], folder: Path) -> None:
        self._folder = folder
        self._child = Talking({"do": "watch", **order})
        self._child.start()
        self._lock = asyncio.Lock()
        self._number = 0
        self._ready = False
        self.over = False

    @property
    def pid(self) -> int | None:
        """The id of the process."""
        return self._child.pid

    async def judge_text(self, text: str) -> dict[str, Any]:
        """Return what a text says of the case; Refusal when it took too long or the process died."""
        async with self._lock:
            if not self._ready:
                await self._wait_for_line("ready", READ)
                self._ready = True
            self._number += 1
            self._child.send({"run": self._number, "file": str(write_rule(self._folder, text))})
            return await self._wait_for_line(self._number, RUN)

    async def _wait_for_line(self, wanted: int | str, seconds: float) -> dict[str, Any]:
        """Wait for the line that answers a run, or for one of a type; reading the case may take longer."""
        bound = seconds
        while True:
            try:
                line = await asyncio.wait_for(self.read_line(), bound)
            except TimeoutError:
                self.close()
                do = "Make the rule simpler (patterns, `within`, joins); the next change starts again."
                why = f"it took more than {bound:g} seconds"
                raise Refusal(504, "the rule was stopped", why=why, do=do) from None
            if isinstance(line, Ended):
                self.close()
                failure = line.describe_failure()
                raise Refusal(500, failure["what"], why=failure["why"], do=failure["do"])
            kind = line.get("type")
            if kind == wanted:
                return line
            if kind in ("reading", "read"):
                bound = READ if kind == "reading" else RUN
            elif kind in ("shown", "error") and line.get("run") in (wanted, 0):
                if line.get("run") == 0:
                    self.close()
                return line

    async def read_line(self) -> dict[str, Any] | Ended:
        """Return the next line of the process, or its end."""
        return await self._child.messages.get()

    def close(self) -> None:
        """End the process."""
        self.over = True
        self._child.kill()


def write_rule(folder: Path, text: str) -> Path:
    """Write the text of a rule into a private folder and return its file, which bears the rule's id if it has one."""
    found = _RULE.search(text)
    for old in folder.glob("*.yaml"):
        old.unlink(missing_ok=True)
    path = folder / f"{found[1] if found else 'rule'}.yaml"
    path.write_bytes(text.encode("utf-8", "replace"))
    return path


class PreviewProcesses:
    """All trials of one server."""

    def __init__(self, place: PrivatePlace) -> None:
        self._place = place
        self._watches: OrderedDict[str, tuple[PreviewProcess, str]] = OrderedDict()
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._backtest: Talking | None = None

    async def judge_text(
        self, key: str, order: Mapping[str, Any], text: str, gone: Callable[[], Any]
    ) -> dict[str, Any]:
        """Return what a text says of the case `key`; `order` tells where the case lies.

        gone  gives an awaitable that is done when no one is waiting for the answer any more
        """
        if key not in self._watches:
            while len(self._watches) >= KEPT:
                self.let_go(next(iter(self._watches)))
            folder = self._place.new_case()
            self._watches[key] = (PreviewProcess(order, self._place.case_folder(folder)), folder)
        self._watches.move_to_end(key)
        if key in self._idle:
            self._idle[key].cancel()
        self._idle[key] = asyncio.get_running_loop().call_later(IDLE, self.let_go, key)
        watch = self._watches[key][0]
        answer = asyncio.ensure_future(watch.judge_text(text))
        left = asyncio.ensure_future(gone())
        try:
            await asyncio.wait((answer, left), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                self.let_go(key)
                raise Refusal(499, "nobody is waiting for the answer")
            return answer.result()
        finally:
            for task in (answer, left):
                task.cancel()
            if watch.over:
                self.let_go(key)

    def let_go(self, key: str) -> None:
        """End the process of a case and forget its text."""
        found, timer = self._watches.pop(key, None), self._idle.pop(key, None)
        if timer is not None:
            timer.cancel()
        if found is not None:
            found[0].close()
            self._place.remove_case(found[1])

    async def run_backtest(
        self, order: Mapping[str, Any], text: str
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield what a back-test tells, its report or error last; it ends when no one takes from it any more.

        Raises Refusal (409) while another one runs.
        """
        if self._backtest is not None:
            raise Refusal(
                409,
                "another back-test is running",
                do="Wait for it, or cancel it where it was started.",
            )
        folder = self._place.new_case()
        file = write_rule(self._place.case_folder(folder), text)
        whole = {"do": "backtest", "file": str(file), **order}
        self._backtest = child = Talking(whole, seconds=BACKTEST)
        child.start()
        try:
            while True:
                try:
                    line = await asyncio.wait_for(child.messages.get(), SIGN)
                except TimeoutError:
                    yield {"type": "waiting"}
                    continue
                if isinstance(line, Ended):
                    yield {"type": "error", "error": line.describe_failure()}
                    return
                yield line
                if line.get("type") in ("report", "error", "broken"):
                    return
        finally:
            child.kill()
            self._backtest = None
            self._place.remove_case(folder)

    def close(self) -> None:
        """End all processes."""
        for key in list(self._watches):
            self.let_go(key)
        if self._backtest is not None:
            self._backtest.kill()
