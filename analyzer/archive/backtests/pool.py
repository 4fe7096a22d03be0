"""The worker processes of a back-test and what each of them loads before its first job."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from analyzer import safepath

PRELOADED = "analyzer.archive.backtests.preload"


def pool(processes: int) -> ProcessPoolExecutor:
    """Return so many processes; they end with this one, and Ctrl-C is not for them."""
    return ProcessPoolExecutor(processes, mp_context=_context(), initializer=_begin)


def end(executor: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they are at."""
    running = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()


def _context() -> Any:
    """Return how processes are started: from a server that has the heavy modules loaded, where there is one."""
    safepath.for_children()
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the parent is gone, then end at once, whatever is being done."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
