"""A thread that inflates ahead of the reader; inflating releases the interpreter lock."""

from __future__ import annotations

import ctypes
import queue
import threading
from contextlib import suppress
from functools import cache

from analyzer.sources.stream import Block, Stream, StreamFault

_Item = tuple[Block, list[StreamFault], int]
# Settings of glibc's malloc (malloc.h): from what size on freed memory at the top of the heap goes back to the system,
# what size a block of its own has, and how many heaps there are.
_MALLOC = {-1: 64 << 20, -3: 32 << 20, -8: 1}


class PrefetchStream(Stream):
    """The same blocks and faults as `below`, in the same order, fetched by a thread.

    The thread starts with the first block and ends with the last one or with `close`.
    """

    depth = 8

    def __init__(self, below: Stream) -> None:
        super().__init__()
        self._below = below
        self.total = below.total
        self._queue: queue.Queue[_Item | BaseException] = queue.Queue(self.depth)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended = False

    def block(self) -> Block:
        """Return the next block; an exception of the thread is raised here."""
        if self._ended:
            return b""
        if self._thread is None:
            _keep_freed_blocks()
            self._thread = threading.Thread(target=self._run_thread, name="inflate", daemon=True)
            self._thread.start()
        item = self._queue.get()
        if isinstance(item, BaseException):
            self._ended = True
            raise item
        block, faults, self.consumed = item
        self.faults += faults
        self._ended = not len(block)
        return block

    def at(self, offset: int) -> Stream | None:
        """Return the same text again from `offset` on; it does not disturb the thread."""
        return self._below.at(offset)

    def _run_thread(self) -> None:
        try:
            while not self._stop.is_set():
                block = self._below.block()
                self._queue.put((block, self._below.take_faults(), self._below.consumed))
                if not len(block):
                    return
        except BaseException as error:  # noqa: BLE001 - handed to the reader, which raises it
            self._queue.put(error)

    def close(self) -> None:
        """End the thread and let go of what lies below."""
        self._stop.set()
        self._ended = True
        while self._thread is not None and self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get(timeout=0.05)
        self._below.close()


@cache
def _keep_freed_blocks() -> None:
    """Let the C library keep blocks that were freed: a new megabyte costs as much as to inflate half of one."""

    with suppress(AttributeError, OSError, TypeError):  # only glibc knows how
        mallopt = ctypes.CDLL(None).mallopt
        for name, value in _MALLOC.items():
            mallopt(name, value)
