"""Raw deflate by two engines that return the same bytes.

igzip (package isal) is 2.7 times as fast as zlib, but after an error the bytes
of that call are gone. So it is used only where the stream can be replayed by
zlib, which can be walked up to the very byte of the fault.
"""

from __future__ import annotations

import platform
import sys
import zlib
from typing import Any

from analyzer.sources.stream import BLOCK, Block

try:
    from isal import igzip_lib, isal_zlib
except ImportError:  # optional: only speed depends on it
    igzip_lib = isal_zlib = None  # type: ignore[assignment, unused-ignore]

# ISA-L has no assembly for Apple's processors and is slower than zlib there.
FAST: bool = igzip_lib is not None and not (
    sys.platform == "darwin" and platform.machine() == "arm64"
)

_STEP = 64 << 10


def crc32(data: Block, start: int = 0) -> int:
    """Return the CRC-32 of `data` continued from `start`."""
    if FAST:
        return int(isal_zlib.crc32(data, start))
    return zlib.crc32(data, start)


class InflateError(Exception):
    """The deflate data is damaged.

    before  the bytes of text that came before the fault in this call (exact engine only)
    left    the input from the faulty byte on (exact engine only)
    """

    def __init__(self, before: bytes = b"", left: Block = b"") -> None:
        super().__init__("deflate data damaged")
        self.before, self.left = before, left


class FastInflater:
    """Raw deflate by igzip; the bytes of a failing call are lost, so the caller replays.

    hungry  more input is needed
    eof     the last deflate block is done; `unused` is the input behind it
    """

    exact = False

    def __init__(self) -> None:
        self._engine: Any = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
        self.hungry, self.eof, self.unused = True, False, b""

    def inflate(self, data: Block) -> bytes:
        """Return up to 1 MiB; `data` is b"" unless the engine is hungry."""
        try:
            out: bytes = self._engine.decompress(data, BLOCK)
        except Exception as error:
            raise InflateError from error
        self.hungry = self._engine.needs_input
        if self._engine.eof:
            self.eof, self.unused = True, self._engine.unused_data
        return out


class ExactInflater:
    """Raw deflate by zlib, which keeps each byte that comes before a fault.

    Same attributes as the fast one.
    """

    exact = True

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(-15)
        self._pending: Block = b""
        self._full = False  # zlib may hold output although it took all input
        self.hungry, self.eof, self.unused = True, False, b""

    def inflate(self, data: Block) -> bytes:
        """Return up to 1 MiB; `data` is b"" unless the engine is hungry."""
        source = data if len(data) else self._pending
        feed, rest = source[:_STEP], source[_STEP:]
        before = self._engine.copy()
        try:
            out = self._engine.decompress(feed, BLOCK)
        except zlib.error as error:
            kept, used = _walk_to_fault(before, feed)
            raise InflateError(kept, b"".join((feed[used:], rest))) from error
        tail = self._engine.unconsumed_tail
        if self._engine.eof:
            self.eof, self.unused = True, b"".join((self._engine.unused_data, rest))
            return out
        self._pending = b"".join((tail, rest)) if tail else rest
        self.hungry = not len(self._pending) and len(out) < BLOCK
        return out


def _walk_to_fault(engine: Any, feed: Block) -> tuple[bytes, int]:
    """Return the text before the fault in `feed`, and how many bytes of `feed` are sound."""
    parts: list[bytes] = []
    used = 0
    for step in (1024, 1):
        while used < len(feed):
            before = engine.copy()
            try:
                parts.append(engine.decompress(feed[used : used + step]))
            except zlib.error:
                engine = before
                break
            used += step
    # The faulty byte can still end some symbols before the bad one: take them one by one.
    data: Block = feed[used : used + 1]
    try:
        while out := engine.decompress(data, 1):
            parts.append(out)
            data = engine.unconsumed_tail
    except zlib.error:
        pass
    return b"".join(parts), min(used, len(feed))
