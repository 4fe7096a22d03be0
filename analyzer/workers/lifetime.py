"""How child processes begin and end: without Ctrl-C, with the modules loaded that they need, and with their parent."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from analyzer.runtime import safepath

KILL_WHEN_PARENT_DIES = 1  # PR_SET_PDEATHSIG


def make_context(preload: str) -> Any:
    """Return how processes are started: from a server that has the module `preload` loaded, where there is one."""
    safepath.for_children()
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload([preload])
    return found


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach before they can ignore it."""
    mask = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """In a process of `make_context`: ignore Ctrl-C, which the parent answers, and end when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        _end_when(parent.join)


def own_stdout() -> BinaryIO:
    """Return the way out for our lines; whatever else prints to stdout from now on lands on stderr."""
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "wb")


def order_line() -> bytes:
    """Return the line on stdin that tells this process what to do; ends it when there is none. stdin stays open."""
    pieces: list[bytes] = []
    while not pieces or not pieces[-1].endswith(b"\n"):
        pieces.append(os.read(0, 1 << 20))
        if not pieces[-1]:
            os._exit(1)
    return b"".join(pieces)


def end_with(parent: int, *, listen: bool = True) -> None:
    """In a process of its own program: end when the parent does, and be killed before it for lack of memory.

    listen  False when the caller itself reads stdin, whose end means that the parent is gone
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    if listen:
        _end_when(_wait_for_stdin_end)
    if sys.platform.startswith(
        "linux"
    ):  # a thread of ours cannot act while native code holds the interpreter
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(KILL_WHEN_PARENT_DIES, signal.SIGKILL, 0, 0, 0)
        if parent and os.getppid() != parent:
            os._exit(1)


def _end_when(over: Callable[[], object]) -> None:
    """End this process when `over` returns, whatever is being done."""

    def wait_and_end() -> None:
        over()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()


def _wait_for_stdin_end() -> None:
    with suppress(OSError):
        while os.read(0, 1 << 12):
            pass
