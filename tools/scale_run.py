"""Runs of real processes for `tools/scale.py`: wall clock, processor time, memory of the parent and its workers."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_S = 0.2


@dataclass(frozen=True, slots=True)
class Run:
    """One run: seconds of wall clock and of processor, memory in MB, what it printed.

    cpu             of the process and all its descendants, as last sampled: no one waits for those of a fork server
    parent, worker  the most memory the process itself and the biggest of its descendants ever held (VmHWM)
    together        the most that all held at one sampled moment; memory that they share counts in each
    """

    wall: float
    cpu: float
    parent: float
    worker: float
    together: float
    code: int
    out: str
    err: str


class Failed(Exception):
    """A measured command ended in a way that no figure may be taken from."""


def run_backline(*words: str | Path, codes: Sequence[int] = (0,), cwd: Path | None = None) -> Run:
    """Run `backline WORDS` and measure it. Raises Failed when its exit code is none of `codes`."""
    command = [sys.executable, "-m", "analyzer", *map(str, words)]
    run = measure_command(command, cwd)
    if run.code not in codes:
        tail = "\n".join((run.err or run.out).splitlines()[-5:])
        raise Failed(f"backline {' '.join(map(str, words))}: exit code {run.code}\n{tail}")
    return run


def measure_command(command: Sequence[str], cwd: Path | None = None) -> Run:
    """Run a command to its end; its memory is sampled from /proc where there is one, else it is 0."""
    modules = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": modules, "NO_COLOR": "1"}
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        cwd=cwd,
    ) as child:
        watch = _Watch(child.pid)
        watch.start()
        out, err = child.communicate()
        wall = time.perf_counter() - start
        watch.stop.set()
        watch.join()
    cpu = sum(watch.seconds.values())
    worker = max((peak for pid, peak in watch.peaks.items() if pid != child.pid), default=0.0)
    return Run(
        wall,
        cpu,
        watch.peaks.get(child.pid, 0.0),
        worker,
        watch.together,
        child.returncode,
        out,
        err,
    )


class _Watch(threading.Thread):
    """Samples the memory and the processor time of a process and its descendants."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.stop = threading.Event()
        self.peaks: dict[int, float] = {}
        self.seconds: dict[int, float] = {}
        self.together = 0.0

    def run(self) -> None:
        """Sample until `stop` is set."""
        while not self.stop.wait(SAMPLE_S):
            total = 0.0
            for pid in list_family(self.pid):
                now, peak = read_memory(pid)
                total += now
                self.peaks[pid] = max(self.peaks.get(pid, 0.0), peak)
                self.seconds[pid] = max(self.seconds.get(pid, 0.0), read_processor(pid))
            self.together = max(self.together, total)


def list_family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(word) for word in task.read_text(encoding="ascii").split()]
            except OSError:
                continue
    return found


def read_memory(pid: int) -> tuple[float, float]:
    """Return (MB now, MB at the most) of a process, zeros when it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0, 0.0
    values = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    now, peak = (int(values.get(key, "0").split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return now, peak


def read_processor(pid: int) -> float:
    """Return the seconds of processor that a process has used, 0 when it is gone."""
    try:
        words = (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def find_median_wall(rounds: int, run: Callable[[], Run]) -> float:
    """Return the median wall clock of `rounds` runs, in seconds."""
    return statistics.median(run().wall for _ in range(rounds))


def describe_machine() -> dict[str, str | int | float]:
    """Return what the machine is, in general words: no names of hosts or people."""
    memory = 0.0
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):
        memory = 0.0
    return {
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "architecture": platform.machine().replace("_", "-"),
        "system": platform.system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "memory_gb": round(memory),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else -1.0,
    }


def measure_tree(folder: Path) -> tuple[int, int]:
    """Return (files, bytes) below a folder."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)
