"""What this machine has for processes: processors and memory, and what one of them holds."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

MIB = 1 << 20


def count_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def find_memory() -> int:
    """Return how many bytes of memory may be used here; a guess where the system does not tell."""
    found = 4 << 30
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = next(
            int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")
        )
    with suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return found


def held_by(pid: int | None) -> int:
    """Return how many bytes of memory a process holds, 0 where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, ValueError, IndexError):
        return 0
