"""Reading one file of a storage: ranges with a bounded read-ahead, the hash of what goes by, small files early."""

from __future__ import annotations

import errno
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from analyzer.sources.storage import Storage

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BLOCK = 4 << 20  # one request; a gzip of this size takes longer to inflate than to fetch
AHEAD = 2  # blocks fetched before they are asked for
HELD = AHEAD + 2  # blocks in memory: these, the one being read and the one before it
SMALL = 256 << 10
SMALL_TOGETHER = 8 << 20  # bytes of small files on their way at once
_SMALL_THREADS = 8


class Digest:
    """SHA-256 of a file as far as its bytes went by in order; `position` is how far.

    tag  what the storage says of the content of a large file (an ETag), None until it was opened
    """

    def __init__(self) -> None:
        self.position = 0
        self.tag: str | None = None
        self._sha = hashlib.sha256()

    def feed(self, offset: int, data: bytes) -> None:
        """Take bytes read at `offset`; those seen before, and those behind a gap, change nothing."""
        skip = self.position - offset
        if 0 <= skip < len(data):
            self._sha.update(memoryview(data)[skip:])
            self.position += len(data) - skip

    def hexdigest(self) -> str:
        """Return the hash of the bytes up to `position`."""
        return self._sha.hexdigest()


def _make_threads(count: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - a run on local files does not need it

    return ThreadPoolExecutor(count, thread_name_prefix="fetch")


class RemoteFile:
    """A file of a storage as a Source of the walk; may be read from two threads.

    whole    size of the file in bytes
    most     bytes that may be read of it, None for all
    on_read  called with the count of bytes of each read, for a progress bar
    data     its content where it was fetched already
    """

    def __init__(
        self,
        storage: Storage,
        key: str,
        whole: int,
        *,
        digest: Digest,
        most: int | None = None,
        on_read: Callable[[int], None] | None = None,
        data: bytes | None = None,
    ) -> None:
        self.size = whole if most is None else min(most, whole)
        self._storage, self._key, self._digest, self._on_read = storage, key, digest, on_read
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()
        self._worker: ThreadPoolExecutor | None = None
        self._handle: Any = None
        self._last, self._run = -1, 0
        if data is None and 0 < self.size <= BLOCK:
            data = _read_whole(storage, key, self.size)
        self._data = data
        if data is None and self.size:
            with self._storage.use() as fs:
                self._handle = fs.open(self._key, "rb", block_size=BLOCK, cache_type="none")
                tag = str(getattr(self._handle, "details", {}).get("ETag", ""))
            if self._digest.tag not in (None, tag):
                raise OSError(errno.EIO, "changed while it was being read")
            self._digest.tag = tag
            self._worker = _make_threads(1)  # the handle is used by this thread only
            try:
                self._read_block(
                    0, 0
                )  # so that a file that may not be read is refused when it is opened, as on a disk
            except OSError:
                self.close()
                raise

    def pread(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`; OSError when the storage fails."""
        with self._lock:
            end = min(offset + length, self.size)
            data = self._read_range(offset, end) if self._data is None else self._data[offset:end]
            self._digest.feed(offset, data)
        if self._on_read:
            self._on_read(len(data))
        return data

    def _read_range(self, offset: int, end: int) -> bytes:
        parts: list[bytes] = []
        while offset < end:
            number, at = divmod(offset, BLOCK)
            try:
                part = self._read_block(number, at)[at : at + end - offset]
            except OSError:
                if parts:  # what came before the fault is given, the fault comes when the rest is asked for
                    break
                raise
            if not part:
                break
            parts.append(part)
            offset += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_block(self, number: int, at: int) -> bytes:
        """Return one block; ask for those behind it when blocks are read one after another."""
        if number != self._last:
            self._run = self._run + 1 if number == self._last + 1 else 0
            self._last = number
        self._ask_for(number)
        if number or at >= BLOCK // 2:  # many a file is given up after a look at its head
            for ahead in range(number + 1, number + 1 + min(self._run, AHEAD)):
                if ahead * BLOCK < self.size:
                    self._ask_for(ahead)
        while len(self._blocks) > HELD:
            _, old = self._blocks.popitem(last=False)
            old.cancel()
        try:
            return self._blocks[number].result()
        except OSError:
            del self._blocks[number]  # asked for again when somebody comes back
            raise

    def _ask_for(self, number: int) -> None:
        if number in self._blocks:
            self._blocks.move_to_end(number)
        elif self._worker:
            self._blocks[number] = self._worker.submit(self._fetch_block, number)

    def _fetch_block(self, number: int) -> bytes:
        with self._storage.use():
            self._handle.seek(number * BLOCK)
            data: bytes = self._handle.read(min(BLOCK, self.size - number * BLOCK))
            return data

    def close(self) -> None:
        """Drop what was fetched and end the thread."""
        if self._worker:
            self._worker.shutdown(wait=True, cancel_futures=True)
            self._worker = None
            self._handle.close()
        self._blocks.clear()
        self._data = b""

    def __enter__(self) -> RemoteFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_whole(storage: Storage, key: str, size: int) -> bytes:
    with storage.use() as fs:
        data: bytes = fs.cat_file(key, start=0, end=size)
        return data[:size]


class SmallFiles:
    """Small files of a folder fetched by some threads before they are opened, in the order in which they will be."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._files: list[tuple[str, int]] = []
        self._place: dict[str, int] = {}
        self._next = 0  # the first file not asked for
        self._coming: OrderedDict[int, Future[bytes]] = OrderedDict()
        self._bytes = 0
        self._pool: ThreadPoolExecutor | None = None

    def expect_files(self, files: Iterable[tuple[str, int]]) -> None:
        """Say which files (name, size) are opened next; what was expected before is forgotten."""
        self._drop_before(len(self._files))
        self._files = [(key, size) for key, size in files if 0 < size <= SMALL]
        self._place = {key: number for number, (key, _) in enumerate(self._files)}
        self._next = 0

    def take_content(self, key: str) -> bytes | None:
        """Return the content of a file that was expected, None for another; those behind it are asked for.

        Raises OSError when it cannot be read.
        """
        number = self._place.get(key, -1)
        if number not in self._coming and number < self._next:
            return None
        self._drop_before(number)  # what lies before it was not opened
        self._next = max(self._next, number)
        while (
            self._next < len(self._files)
            and self._bytes + self._files[self._next][1] <= SMALL_TOGETHER
        ):
            self._ask_for()
        self._bytes -= self._files[number][1]
        return self._coming.pop(number).result()

    def _ask_for(self) -> None:
        key, size = self._files[self._next]
        self._pool = self._pool or _make_threads(_SMALL_THREADS)
        self._coming[self._next] = self._pool.submit(_read_whole, self._storage, key, size)
        self._next += 1
        self._bytes += size

    def _drop_before(self, before: int) -> None:
        for number in [number for number in self._coming if number < before]:
            self._coming.pop(number).cancel()
            self._bytes -= self._files[number][1]
