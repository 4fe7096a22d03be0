"""The parent's side of an analysis: start the process, feed it, read its lines, kill it, notice its death.

A thread of its own starts the process and stays until it is gone: on Linux a process asks to be killed when
the thread that started it ends, so that nothing outlives a server that was killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import analyzer
from analyzer.runtime.text import one_line
from analyzer.workers.resources import MIB, held_by

LONGEST = 256 << 10  # bytes of a line of the process
FIRST, LAST = 4 << 10, 16 << 10  # bytes kept of what it says on stderr
TICK = 0.5  # seconds between two looks at its memory and time
REPORT_IT = "Try again. If it fails again, please report it with these words."
NO_MEMORY = "Give less at once, or end other programs, and try again."


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    code    exit status, negative for a signal, None when it never ran
    killed  why we killed it for what it did, "" when we did not
    stderr  the beginning and the end of what it wrote there
    """

    code: int | None
    killed: str = ""
    stderr: str = ""

    def describe_failure(self) -> dict[str, str]:
        """Return in plain words what became of a process that gave no result: what, where, why, do."""
        if self.killed:
            return _make_failure("the analysis was ended", self.killed, NO_MEMORY)
        if self.code is None:
            return _make_failure(
                "the analysis could not be started", self._find_last_line(), NO_MEMORY
            )
        if self.code == -getattr(signal, "SIGKILL", 9):
            why = "the system killed it, most often for lack of memory"
            return _make_failure("the system ended the analysis", why, NO_MEMORY)
        if self.code < 0 and -self.code in set(signal.Signals):
            name = f"signal {signal.Signals(-self.code).name}"
        else:
            name = f"exit status {self.code}"
        last = self._find_last_line()
        why = f"{name}; its last words: {last}" if last else name
        return _make_failure("the analysis crashed", why, REPORT_IT)

    def _find_last_line(self) -> str:
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return one_line(lines[-1].strip(), 300) if lines else ""


def _make_failure(what: str, why: str, do: str) -> dict[str, str]:
    return {"what": what, "where": "", "why": why, "do": do}


def command_of(module: str) -> list[str]:
    """Return the command that runs a module of ours; the current folder is no place to import from (-P)."""
    return [sys.executable, "-P", "-m", module]


class LineProcess:
    """One process and the order it is given.

    order    what it is to do, as JSON
    on_line  called with each object it sends; on_end: called once, when it is gone and was reaped.
             Both from a thread of this object.
    command  that starts it, as of `command_of`
    memory   bytes it may hold (Linux), seconds: wall time; 0 for no bound
    longest  bytes of a line of it; a longer one is none of ours
    """

    def __init__(
        self,
        order: Mapping[str, Any],
        on_line: Callable[[dict[str, Any]], None],
        on_end: Callable[[Ended], None],
        *,
        command: Sequence[str],
        memory: int = 0,
        seconds: float = 0.0,
        longest: int = LONGEST,
    ) -> None:
        self._order, self._on_line, self._on_end = order, on_line, on_end
        self._command = list(command)
        self._memory, self._seconds, self._longest = memory, seconds, longest
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._why: str | None = None
        self._first, self._tail = b"", b""
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._run_thread, daemon=True, name="backline-case")

    def start(self) -> None:
        """Start the process; returns at once."""
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """The id of the process, None before it runs."""
        return self._process.pid if self._process is not None else None

    def kill(self, why: str = "") -> None:
        """Kill the process and all that it started, whatever it is doing; returns at once."""
        with self._lock:
            if self._why is None:
                self._why = why
            if self._process is not None:
                _kill_group(self._process)

    def send(self, data: Mapping[str, Any]) -> None:
        """Send an object as a line; a process that is gone is noticed by its end."""
        process = self._process
        if process is None or process.stdin is None:
            return
        with suppress(OSError, ValueError):
            process.stdin.write(json.dumps(data).encode("ascii") + b"\n")
            process.stdin.flush()

    def join(self, seconds: float) -> bool:
        """Wait until the process is gone; False when it is not after so long."""
        return self._gone.wait(seconds)

    def _run_thread(self) -> None:
        try:
            ended = self._run_process()
        except OSError as error:
            ended = Ended(None, self._why or "", error.strerror or str(error))
        try:
            self._on_end(ended)
        finally:
            self._gone.set()

    def _run_process(self) -> Ended:
        """Start the process in a group of its own, which Ctrl-C does not reach; take what it sends, reap it."""
        ours = str(Path(analyzer.__file__).resolve().parent.parent)
        # It imports what this process imports, also from a zip file.
        places = dict.fromkeys([ours, *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        own_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            start_new_session=True, creationflags=own_group | no_window,
        )  # fmt: skip
        assert process.stdout is not None
        with self._lock:
            self._process = process
            if self._why is not None:
                _kill_group(process)
        keeper = threading.Thread(target=self._keep_words, args=(process.stderr,), daemon=True)
        keeper.start()
        threading.Thread(target=self._watch_limits, args=(process,), daemon=True).start()
        self.send(self._order)
        with suppress(OSError, ValueError):
            while raw := process.stdout.readline(self._longest):
                with suppress(ValueError, RecursionError):
                    line = json.loads(raw)
                    if isinstance(line, dict):
                        self._on_line(line)
        code = process.wait()
        keeper.join(5)
        assert process.stdin is not None  # open until now: its end means that we are gone
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()
        words = b"\n...\n".join(part for part in (self._first, self._tail) if part)
        return Ended(code, self._why or "", words.decode("utf-8", "replace"))

    def _keep_words(self, stderr: IO[bytes]) -> None:
        """Keep the beginning and the end of stderr."""
        with suppress(OSError, ValueError), stderr:
            while piece := os.read(stderr.fileno(), 1 << 16):
                missing = FIRST - len(self._first)
                self._first += piece[:missing]
                self._tail = (self._tail + piece[missing:])[-LAST:]

    def _watch_limits(self, process: subprocess.Popen[bytes]) -> None:
        """End a process that takes too much memory or time."""
        waited = 0.0
        while (self._memory or self._seconds) and not self._gone.wait(TICK):
            waited += TICK
            if self._memory and (held := held_by(process.pid)) > self._memory:
                self.kill(
                    f"it held {held // MIB:,} MiB of memory, {self._memory // MIB:,} are allowed"
                )
            elif self._seconds and waited > self._seconds:
                self.kill(f"it took more than {self._seconds:,.0f} seconds")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group, unless it is gone."""
    if process.poll() is not None:
        return
    with suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
