"""How a batch goes on: a live line on a terminal, else a line now and then; all of it on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live as Display
from rich.text import Text

from analyzer.archive.batches.jobs import FAILED, HASHED, LOST, PARTIAL, REFUSED, Done, Job
from analyzer.runtime.text import one_line

EVERY = 30.0  # seconds between two lines where there is no terminal
MB = 1_000_000
EACH = 4 << 20  # bytes that can be read in the time it takes to judge and store a case
BAR_WIDTH = 24
NAMES = 3  # current cases that are named


class Progress:
    """Counts what is done and what is being done; a `Watcher` of a batch (batch.py).

    clock  seconds, monotonic
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began = clock()
        self.cases = self.size = self.done = self.read = 0
        self.states: Counter[str] = Counter()
        self.current: dict[int, Job] = {}
        self._lock = threading.Lock()

    def begin_run(self, cases: int, size: int) -> None:
        """So many cases and bytes are to be done."""
        self.cases, self.size, self.began = cases, size, self.clock()

    def note_started(self, job: Job) -> None:
        """A job was handed to a process."""
        with self._lock:
            self.current[job.number] = job

    def note_finished(self, done: Done) -> None:
        """An answer came."""
        with self._lock:
            job = self.current.pop(done.number, None)
            final = [result for result in done.results if result.state not in (HASHED, LOST)]
            self.done += len(final)
            self.read += job.disk_size if job is not None and final else 0
            self.states.update(result.state for result in final)

    def progress_line(self) -> str:
        """Return where the run is, in one line of plain text."""
        spent = max(self.clock() - self.began, 0.001)
        parts = [
            f"{self.done} of {max(self.cases, self.done)} cases",
            f"{self.done / spent:.1f} cases/s",
        ]
        if self.size:
            parts.append(f"{format_size(self.read / spent)}/s")
        if left := self.remaining_seconds():
            parts.append(f"about {format_duration(left)} left")
        parts += [
            f"{self.states[state]} {state}"
            for state in (PARTIAL, REFUSED, FAILED)
            if self.states[state]
        ]
        return ", ".join(parts)

    def remaining_seconds(self) -> float:
        """Return the seconds that are left, 0 when that is unknown."""
        spent, part = self.clock() - self.began, self.done_part()
        return spent / part - spent if 0 < part < 1 else 0.0

    def done_part(self) -> float:
        """Return how much of the work is done, 0 to 1: by bytes, and by cases, each of which costs something."""
        whole = self.size + EACH * self.cases
        return min(1.0, (self.read + EACH * self.done) / whole) if whole else 0.0

    def running_names(self) -> str:
        """Return the names of the cases that are being done."""
        with self._lock:
            jobs = list(self.current.values())
        named = [one_line(job.works[0].name, 40) for job in jobs if len(job.works) == 1][:NAMES]
        return ", ".join(named) + ("…" if len(jobs) > len(named) else "")


class LineProgress(Progress):
    """A line every half minute."""

    def __init__(self, out: Callable[[str], None], every: float = EVERY) -> None:
        super().__init__()
        self._out, self._every = out, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> LineProgress:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _print_lines(self) -> None:
        while not self._stop.wait(self._every):
            if self.cases:
                self._out(self.progress_line())


class Live(Progress):
    """A live display on a terminal; it is gone when the run ends."""

    def __enter__(self) -> Live:
        self._display = Display(
            get_renderable=self._render_lines,
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=2,
        )
        self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._display.stop()

    def _render_lines(self) -> Any:
        if self.cases:
            full = int(self.done_part() * BAR_WIDTH)
            bar = "█" * full + "░" * (BAR_WIDTH - full)
            lines = [f"{bar} {self.progress_line()}"]
        else:
            lines = ["looking for cases …"]
        if names := self.running_names():
            lines.append(f"  {names}")
        return Text("\n".join(lines), overflow="ellipsis", no_wrap=True)


class Nothing(Progress):
    """Counts and shows nothing."""

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return


def choose_progress(out: Callable[[str], None], *, quiet: bool) -> LineProgress | Live | Nothing:
    """Return what shows the progress of a run, by where stderr goes."""
    if quiet:
        return Nothing()
    return Live() if sys.stderr.isatty() else LineProgress(out)


def format_duration(seconds: float) -> str:
    """Return a time in two units at most: `45 s`, `1 min 46 s`, `12 min`, `3 h 05 min`."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def format_size(size: float) -> str:
    """Return bytes in the unit that shows them: `12.3 MB`, `48.1 kB`."""
    return f"{size / MB:.1f} MB" if size >= MB else f"{size / 1000:.1f} kB"
