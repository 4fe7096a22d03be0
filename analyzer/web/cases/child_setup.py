"""First steps of a child process of the server: reserve stdout for our lines, end when the server ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

KILL_WHEN_PARENT_DIES = 1  # PR_SET_PDEATHSIG


def own_stdout() -> BinaryIO:
    """Return our way out; whatever else prints to stdout from now on lands on stderr."""
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "wb")


def end_with(parent: int, *, listen: bool = True) -> None:
    """See to it that this process ends when its parent does, and that the system kills it before its parent.

    listen  False when the caller itself reads stdin, whose end means that the parent is gone
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    if listen:
        threading.Thread(target=_wait_for_end, daemon=True).start()
    if sys.platform.startswith("linux"):  # a thread of ours cannot act while native code holds the interpreter
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(KILL_WHEN_PARENT_DIES, signal.SIGKILL, 0, 0, 0)
        if parent and os.getppid() != parent:
            os._exit(1)


def _wait_for_end() -> None:
    while True:
        try:
            if not os.read(0, 1 << 12):
                break
        except OSError:
            break
    os._exit(1)
