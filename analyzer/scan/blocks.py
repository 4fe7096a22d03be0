"""A log as blocks of whole, clean lines in reused buffers; memory does not grow with the log.

What a line is, everywhere in the log scan: the bytes up to a line feed, without NUL bytes (the
holes a crash leaves), cut at `limits.line_bytes`, without carriage returns at its end. Line
numbers are those of the file, so that `sed -n 123p` shows the same line.
"""

from __future__ import annotations

import queue
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

BLOCK = 1 << 20
_ALONE = 2  # blocks of a log that are read without a second thread: to start one costs as much as to inflate them
_RING = 4  # buffers between the reading and the searching thread
NEIGHBOURS = 2  # lines shown before and after a hit
_NOTED = 100  # places kept of holes and of cut lines; the counts are exact

Buffer = bytes | bytearray


@runtime_checkable
class Readable(Protocol):
    """What a member of a source can do; `cut` may be set once it was read to its end."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill `buffer` from the front and return the number of bytes, 0 at the end."""


Source = Readable | Iterable[bytes | bytearray | memoryview]


@dataclass(frozen=True, slots=True)
class NulGap:
    """A hole in a log: the line it is in or before, and its length in bytes."""

    line: int
    bytes: int


@dataclass(slots=True)
class BlockTally:
    """What was met while reading: exact counts, and the first hundred places."""

    bytes: int = 0
    lines: int = 0
    nul_bytes: int = 0
    nul_gaps: list[NulGap] = field(default_factory=list)
    long_lines: int = 0
    long_at: list[int] = field(default_factory=list)
    cut: str = ""


@dataclass(slots=True)
class LineBlock:
    """A block: `data[:end]` is whole lines, each with its line feed; valid until the next block.

    first_line is the number of its first line, lines how many it holds.
    """

    data: Buffer
    end: int
    first_line: int
    lines: int

    def count(self, start: int, end: int) -> int:
        """Return the number of line feeds in `data[start:end]`."""
        return self.data.count(b"\n", start, end)


@dataclass(slots=True)
class SparseBlock(LineBlock):
    """Some lines of a block, numbered as in the file: where others stood, `NEIGHBOURS` blank lines at most are left.

    starts  where each of the lines begins in `data`, after a 0 for what stands before the first
    places  how many lines of the file are before each
    """

    starts: list[int]
    places: list[int]

    def count(self, start: int, end: int) -> int:
        """Return the number of lines of the file between two places."""
        return self._find_place(end) - self._find_place(start)

    def _find_place(self, at: int) -> int:
        if at >= self.end:
            return self.lines
        index = bisect_right(self.starts, at) - 1
        return self.places[index] + self.data.count(b"\n", self.starts[index], at)


def pick_lines(lines: Sequence[bytes], own: Sequence[int], first_line: int) -> LineBlock:
    """Return the block of some lines of another, given by their places; what others wrote is blank in it."""
    if len(own) == len(lines):
        whole = b"\n".join(lines) + b"\n"
        return LineBlock(whole, len(whole), first_line, len(lines))
    kept: list[bytes] = []
    starts, places = [0], [0]
    after = size = 0
    for place in own:
        blank = min(place - after, NEIGHBOURS)
        kept.append(b"\n" * blank + lines[place] + b"\n")
        starts.append(size + blank)
        places.append(place)
        size += len(kept[-1])
        after = place + 1
    kept.append(b"\n" * min(len(lines) - after, NEIGHBOURS))
    data = b"".join(kept)
    return SparseBlock(data, len(data), first_line, len(lines), starts, places)


class BlockSearch(Protocol):
    """The search of one log, block by block."""

    def search_block(self, block: LineBlock) -> None:
        """Search one block."""

    def close(self) -> None:
        """Put the hits in order; call after the last block."""


@dataclass(slots=True)
class _Raw:
    """A filled buffer on its way to be cleaned; `hole` NUL bytes were left out before it."""

    buffer: bytearray
    end: int
    hole: int = 0


class LineBlocks:
    """Iterate the clean blocks of a source; `tally` is complete afterwards.

    source   a member (readinto) or an iterable of bytes-like chunks
    limit    bytes kept of one line
    """

    def __init__(self, source: Source, limit: int, *, first_line: int = 1) -> None:
        self.tally = BlockTally()
        self._limit = limit
        self._line = first_line
        self._reader = _Reader(source, limit, self.tally)

    def __iter__(self) -> Iterator[LineBlock]:
        """Yield the blocks in order."""
        for raw in self._reader.read_blocks():
            data, end = self._clean_raw(raw)
            if end:
                if end < len(data) // 2:
                    feeds = data.count(b"\n", 0, end)
                else:
                    feeds = len(data) - len(data.replace(b"\n", b"")) - data.count(b"\n", end)
                block = LineBlock(data, end, self._line, feeds)
                yield block
                self._line += block.lines
                self.tally.lines += block.lines
            self._reader.give_back(raw)

    def _clean_raw(self, raw: _Raw) -> tuple[Buffer, int]:
        """Return the clean lines of a buffer; most are clean as they are."""
        buffer, end = raw.buffer, raw.end
        if raw.hole:
            self._add_gap(self._line, raw.hole)
        # Notepad puts it before the first line
        has_mark = self.tally.lines == 0 and buffer[: len(_MARK)] == _MARK
        has_dirt = buffer.find(0, 0, end) >= 0 or buffer.find(b"\r", 0, end) >= 0
        if not has_mark and not has_dirt and not _may_hold_long(buffer, end, self._limit):
            return buffer, end
        begin = len(_MARK) if has_mark else 0
        data = bytes(memoryview(buffer)[begin:end])
        if 0 in data:
            line, at = self._line, 0
            for run in _NULS.finditer(data):
                if len(self.tally.nul_gaps) >= _NOTED:
                    break
                line += data.count(b"\n", at, run.start())
                at = run.start()
                self._add_gap(line, run.end() - run.start(), counted=True)
            self.tally.nul_bytes += data.count(0)
            data = data.translate(None, b"\0")
        if _may_hold_long(data, len(data), self._limit):
            lines = data.split(b"\n")
            for index, text in enumerate(lines):
                if len(text) > self._limit:
                    lines[index] = text[: self._limit]
                    self.tally.long_lines += 1
                    if len(self.tally.long_at) < _NOTED:
                        self.tally.long_at.append(self._line + index)
            data = b"\n".join(lines)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
            if b"\r\n" in data:
                data = _RETURNS.sub(b"\n", data)
        return data, len(data)

    def _add_gap(self, line: int, length: int, *, counted: bool = False) -> None:
        gaps = self.tally.nul_gaps
        if gaps and gaps[-1].line == line:  # a hole longer than a block
            gaps[-1] = NulGap(line, gaps[-1].bytes + length)
        elif len(gaps) < _NOTED:
            gaps.append(NulGap(line, length))
        if not counted:
            self.tally.nul_bytes += length


_MARK = "\ufeff".encode()
_NULS = re.compile(rb"\0+")
_RETURNS = re.compile(rb"(?<!\r)\r++\n")


def _may_hold_long(data: Buffer, end: int, limit: int) -> bool:
    """Say whether a line of `data[:end]` may be longer than `limit`, by looking at few places."""
    if end <= limit:
        return False
    window = limit // 2
    if window < 512:
        return True
    # a line longer than the limit covers one window of half the limit wholly
    windows = range(0, end - window + 1, window)
    return any(data.find(b"\n", at, at + window) < 0 for at in windows)


class _Pool:
    """Keeps buffers for the next log: fresh ones cost a page fault for each 4 KiB."""

    def __init__(self) -> None:
        self._kept: list[bytearray] = []

    def take_buffer(self, size: int) -> bytearray:
        """Return a buffer of that size, its content is anything."""
        while self._kept:
            buffer = self._kept.pop()
            if len(buffer) == size:
                return buffer
        return bytearray(size)

    def give_back(self, buffers: list[bytearray]) -> None:
        """Take buffers that are not used any more."""
        self._kept = (self._kept + buffers)[:_RING]


_POOL = _Pool()


class _Reader:
    """Fills buffers with whole lines; behind the first blocks in a thread of its own.

    Inflating and searching both run in C without the interpreter lock, so that two cores
    share the work. A line longer than a buffer is carried on with as many bytes as the
    limit asks for.
    """

    def __init__(self, source: Source, limit: int, tally: BlockTally) -> None:
        self._source = source
        self._read = _make_read(source)
        self._limit = limit
        self._tally = tally
        self._size = max(BLOCK, 4 * (limit + 2))
        self._free: queue.SimpleQueue[bytearray | None] = queue.SimpleQueue()
        self._full: queue.SimpleQueue[_Raw | BaseException | None] = queue.SimpleQueue()
        self._carry = b""
        self._hole = 0
        self._blank = b""
        self._ended = False

    def read_blocks(self) -> Iterator[_Raw]:
        """Yield filled buffers; hand each back with `give_back`."""
        own = [_POOL.take_buffer(self._size + 1)]
        self._free.put(own[0])
        try:
            for _ in range(_ALONE):
                raw = None if self._ended else self._fill_next(self._free.get() or own[0])
                if raw is None:
                    return
                yield raw
            if not self._ended:
                own += [_POOL.take_buffer(self._size + 1) for _ in range(_RING - 1)]
                for buffer in own[1:]:
                    self._free.put(buffer)
                thread = threading.Thread(
                    target=self._run_thread, name="backline-read", daemon=True
                )
                thread.start()
                try:
                    while (filled := self._full.get()) is not None:
                        if isinstance(filled, BaseException):
                            raise filled
                        yield filled
                finally:
                    self._free.put(None)  # also when the consumer gave up
                    thread.join()
        finally:
            _POOL.give_back(own)

    def give_back(self, raw: _Raw) -> None:
        """Let a buffer be filled again."""
        self._free.put(raw.buffer)

    def _run_thread(self) -> None:
        try:
            while not self._ended:
                buffer = self._free.get()
                if buffer is None:
                    break
                if (raw := self._fill_next(buffer)) is not None:
                    self._full.put(raw)
            self._full.put(None)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._full.put(error)

    def _fill_next(self, buffer: bytearray) -> _Raw | None:
        """Fill `buffer` up to a line end; None when there is nothing more."""
        view = memoryview(buffer)
        while True:
            end = len(self._carry)
            view[:end] = self._carry
            while end < self._size:
                got = self._read(view[end : self._size])
                if not got:
                    self._ended = True
                    break
                end += got
                self._tally.bytes += got
            if self._ended:
                # Close the last line; of a source that was cut, leave the broken one out
                self._tally.cut = str(getattr(self._source, "cut", "") or "")
                if end and buffer[end - 1] != 10:
                    if self._tally.cut:
                        end = buffer.rfind(b"\n", 0, end) + 1
                    else:
                        buffer[end] = 10
                        end += 1
                hole, self._hole = self._hole, 0
                return _Raw(buffer, end, hole) if end or hole else None
            cut = buffer.rfind(b"\n", 0, end) + 1
            if cut:
                self._carry = bytes(view[cut:end])
                hole, self._hole = self._hole, 0
                return _Raw(buffer, cut, hole)
            line = bytes(view[:end])
            self._blank = self._blank or bytes(self._size)
            kept = b"" if line == self._blank else line.translate(None, b"\0")
            self._hole += len(line) - len(kept)
            self._carry = kept[: self._limit + 1]


def _make_read(source: Source) -> Callable[[memoryview], int | None]:
    if isinstance(source, Readable):
        return source.readinto
    chunks = iter(source)
    rest = memoryview(b"")

    def readinto(view: memoryview) -> int:
        nonlocal rest
        while not rest:
            chunk = next(chunks, None)
            if chunk is None:
                return 0
            rest = memoryview(chunk)
        size = min(len(view), len(rest))
        view[:size] = rest[:size]
        rest = rest[size:]
        return size

    return readinto


Look = Callable[[bytes], object]  # takes the bytes of one read


def pass_on(source: Source, look: Look) -> Source:
    """Return a source of the same bytes; `look` gets those of each read, in order, before the reader has them."""
    if isinstance(source, Readable):
        return _Passing(source, look)

    def see_chunk(chunk: bytes | bytearray | memoryview) -> bytes:
        data = bytes(chunk)
        look(data)
        return data

    return map(see_chunk, source)


class _Passing:
    """A member whose bytes are seen while they are read."""

    def __init__(self, source: Readable, look: Look) -> None:
        self._source, self._look = source, look

    @property
    def cut(self) -> str:
        """Why the member ended early, as the member says."""
        return str(getattr(self._source, "cut", "") or "")

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer as the member does."""
        count = self._source.readinto(buffer) or 0
        if count:
            self._look(bytes(memoryview(buffer)[:count]))
        return count
