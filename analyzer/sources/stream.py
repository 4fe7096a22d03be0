"""Streams of byte blocks with faults reported in band, and the reader on top.

A `Stream` gives one block after another and never raises for bad input: what
goes wrong is a `StreamFault` given before the block that follows it. A `Feed`
reads a stream with look-ahead, counts, and stops at a gap until it is crossed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from analyzer.runtime.limits import LimitHit

BLOCK = 1 << 20
Block = bytes | memoryview


@dataclass(frozen=True, slots=True)
class StreamFault:
    """A fault of a stream.

    kind   "cut" (nothing follows), "gap" (bytes are missing here, more follows),
           "suspect" (all bytes came, a checksum says they are wrong), "note" (nothing is lost)
    noted  it is in the ledger already
    """

    what: str
    offset: int
    kind: str
    left_out: str = ""
    noted: bool = False
    limit: LimitHit | None = None


class Stream:
    """Blocks of bytes; `faults` holds what was met since the reader last took them.

    consumed  bytes taken of what lies below (compressed bytes), for offsets and ratios
    total     size of what lies below when known, else 0
    """

    def __init__(self) -> None:
        self.faults: list[StreamFault] = []
        self.consumed = 0
        self.total = 0

    def block(self) -> Block:
        """Return the next bytes, b"" at the end; may be called again after the end."""
        raise NotImplementedError

    def at(self, offset: int) -> Stream | None:
        """Return a second stream of the same bytes from `offset` on, or None when there is no way back."""
        del offset
        return None

    def close(self) -> None:
        """Let go of files and threads."""

    def take_faults(self) -> list[StreamFault]:
        """Return the faults met since the last call."""
        faults, self.faults = self.faults, []
        return faults


class SeekableSource(Protocol):
    """Bytes that can be read at any place: a regular file or a small archive in memory."""

    size: int

    def pread(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`; OSError when the medium fails."""
        ...


class FileSource:
    """A regular file, opened by the caller; may be read from two threads.

    on_read  called with the count of bytes of each read, for a progress bar
    """

    def __init__(
        self, handle: BinaryIO, size: int, on_read: Callable[[int], None] | None = None
    ) -> None:
        self._handle, self.size, self._on_read = handle, size, on_read
        self._lock = threading.Lock()

    def pread(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`."""
        with self._lock:
            self._handle.seek(offset)
            data = self._handle.read(length)
        if self._on_read:
            self._on_read(len(data))
        return data

    def close(self) -> None:
        """Close the file."""
        self._handle.close()


class MemorySource:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data, self.size = data, len(data)

    def pread(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`."""
        return self._data[offset : offset + length]


class SliceStream(Stream):
    """The bytes `start` to `end` of a source, in blocks."""

    step = 256 << 10

    def __init__(self, source: SeekableSource, start: int = 0, end: int | None = None) -> None:
        super().__init__()
        self._source, self._start, self._pos = source, start, start
        self._end = source.size if end is None else end
        self.total = max(0, self._end - start)

    def block(self) -> Block:
        """Return the next bytes; a failing medium is a fault."""
        want = min(self.step, self._end - self._pos)
        if want <= 0:
            return b""
        try:
            data = self._source.pread(self._pos, want)
        except OSError as error:
            self._end_feed(f"cannot be read: {error.strerror or error}")
            return b""
        if not data:
            self._end_feed("ends before the size it states")
        self._pos += len(data)
        self.consumed += len(data)
        return data

    def _end_feed(self, why: str) -> None:
        self.faults.append(StreamFault(why, self._pos, "cut", "the rest"))
        self._end = self._pos

    def at(self, offset: int, length: int | None = None) -> Stream:
        """Return the same bytes from `offset` on, `length` of them or all."""
        start = self._start + offset
        end = self._start + self.total
        return SliceStream(self._source, start, end if length is None else min(end, start + length))


OnFault = Callable[[StreamFault], None]
Meter = Callable[[int, int], StreamFault | None]


def _ignore_fault(fault: StreamFault) -> None:
    del fault


class Feed:
    """Reads a stream: look-ahead, exact counts, blocks without copying.

    on_fault  called with each fault as it is met
    meter     called with (bytes of a new block, compressed bytes: all of them where their number
              is known, else those so far); a fault it returns ends the feed: that is how limits work
    position  bytes handed out so far
    gap       the fault before which the data ended; `cross()` goes on behind it
    ended     the stream has no more data, `gap` not counted
    """

    def __init__(
        self, stream: Stream, on_fault: OnFault = _ignore_fault, meter: Meter | None = None
    ) -> None:
        self.stream = stream
        self.position = 0
        self.gap: StreamFault | None = None
        self.ended = False
        self.last_fault: StreamFault | None = None
        self._on_fault, self._meter = on_fault, meter
        self._view = memoryview(b"")
        self._behind: list[memoryview] = []  # blocks already fetched behind the current one
        self._after_gap: Block = b""
        self._stopped = False

    def _fetch_block(self) -> memoryview:
        """Return the next block, empty at the end or at a gap."""
        if self._behind:
            return self._behind.pop(0)
        return self._pull_block()

    def _pull_block(self) -> memoryview:
        if self.ended or self.gap:
            return memoryview(b"")
        block = b"" if self._stopped else self.stream.block()
        if self.stream.faults:
            for fault in self.stream.take_faults():
                self._report_faults(fault)
        if self._meter and len(block):
            stop = self._meter(len(block), max(self.stream.consumed, self.stream.total))
            if stop:  # the block that crosses a limit is still given
                self._report_faults(stop)
                self._stopped = True
        if not block:
            self.ended = True
            self.gap = None
        elif self.gap:
            self._after_gap = block
            return memoryview(b"")
        return memoryview(block)

    def _report_faults(self, fault: StreamFault) -> None:
        if fault.kind != "note":
            self.last_fault = fault
        if fault.kind == "gap":
            self.gap = fault
        self._on_fault(fault)

    def cross(self) -> None:
        """Go on behind the gap."""
        if self.gap:
            self.gap = None
            self._behind.append(memoryview(self._after_gap))
            self._after_gap = b""

    def peek(self, count: int) -> bytes:
        """Return up to `count` next bytes without taking them."""
        while len(self._view) < count:
            if not self._view:
                self._view = self._fetch_block()
                if not self._view:
                    return b""
                continue
            more = self._pull_block() if not self._behind else self._behind.pop(0)
            if not more:
                break
            # Joined only while the look-ahead is short of one block, so this stays linear.
            self._view = memoryview(b"".join((self._view, more)))
        return bytes(self._view[:count])

    def chunk(self, limit: int = BLOCK) -> memoryview:
        """Return 1 to `limit` next bytes, empty at the end or at a gap; no copy is made."""
        if not self._view:
            self._view = self._fetch_block()
        piece = self._view[:limit]
        self._view = self._view[len(piece) :]
        self.position += len(piece)
        return piece

    def take(self, count: int) -> bytes:
        """Return exactly `count` bytes, fewer only at the end or at a gap."""
        piece = self.chunk(count)
        if len(piece) == count:
            return bytes(piece)
        parts = [bytes(piece)]
        left = count - len(piece)
        while left and (piece := self.chunk(left)):
            parts.append(bytes(piece))
            left -= len(piece)
        return b"".join(parts)

    def readinto(self, buffer: memoryview) -> int:
        """Fill `buffer` as far as data goes and return the count."""
        done, size = 0, len(buffer)
        while done < size:
            piece = self.chunk(size - done)
            if not piece:
                break
            buffer[done : done + len(piece)] = piece
            done += len(piece)
        return done

    def skip(self, count: int) -> int:
        """Drop up to `count` bytes and return how many there were."""
        left = count
        while left and (piece := self.chunk(min(left, 1 << 30))):
            left -= len(piece)
        return count - left


class FeedStream(Stream):
    """The rest of a feed as a stream for the layer above it."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed = feed
        self._ended = False
        self.total = feed.stream.total

    def block(self) -> Block:
        """Return the next bytes; the feed's own faults are given here as already noted."""
        piece = self._feed.chunk()
        if not piece and self._feed.gap:
            fault = self._feed.gap
            self.faults.append(StreamFault(fault.what, self.consumed, "gap", noted=True))
            self._feed.cross()
            piece = self._feed.chunk()
        if not piece and not self._ended:
            self._ended = True
            last = self._feed.last_fault
            if last and last.kind == "cut":
                self.faults.append(StreamFault(last.what, self.consumed, "cut", noted=True))
        self.consumed += len(piece)
        return piece

    def at(self, offset: int) -> Stream | None:
        """Return the same bytes again, where the layer below can."""
        return self._feed.stream.at(offset)


class SkippedStream(Stream):
    """A stream without its first `count` bytes."""

    def __init__(self, below: Stream, count: int) -> None:
        super().__init__()
        self._below, self._count = below, count
        self.total = max(0, below.total - count) if below.total else 0

    def block(self) -> Block:
        """Return the next bytes behind the skipped ones."""
        while True:
            block = self._below.block()
            self.faults += self._below.take_faults()
            if not self._count or not len(block):
                self.consumed += len(block)
                return block
            drop = min(self._count, len(block))
            self._count -= drop
            if drop < len(block):
                self.consumed += len(block) - drop
                return memoryview(block)[drop:]

    def at(self, offset: int) -> Stream | None:
        """Return None: no one needs to go back twice."""
        del offset
        return None
