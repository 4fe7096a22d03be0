"""Streams for bzip2, xz and Zstandard, and the choice of a stream by content."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from functools import partial
from typing import Any

from analyzer.sources.gzipstream import GAPS_MOST, TRIALS, GzipStream
from analyzer.sources.gzipstream import MAGIC as GZIP_MAGIC
from analyzer.sources.stream import BLOCK, Block, Stream, StreamFault

_XZ_MAGIC = b"\xfd7zXZ\0"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGIC = {"bzip2": b"BZh", "xz": _XZ_MAGIC, "zstd": _ZSTD_MAGIC}
_TRIAL = 4096  # bytes that have to unpack before a magic counts as the start of a frame
_MEMORY = 256 << 20  # a larger dictionary is an attack, not a log


_BZIP2_BLOCKS = (
    b"1AY&SY",
    b"\x17\x72\x45\x38\x50\x90",
)  # the first block, or the end of an empty file


def kind_of(head: bytes) -> str:
    """Return gzip, bzip2, xz or zstd by the first bytes, "" for anything else."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    if head.startswith(b"BZh") and head[3:4] in b"123456789" and head[4:10] in _BZIP2_BLOCKS:
        return "bzip2"
    if head.startswith(_XZ_MAGIC):
        return "xz"
    is_skippable = len(head) >= 4 and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F
    return "zstd" if is_skippable or head.startswith(_ZSTD_MAGIC) else ""


def open_codec(kind: str, below: Stream) -> Stream:
    """Return the text of the compressed stream `below`."""
    if kind == "gzip":
        return GzipStream(below)
    return FramedStream(kind, below)


class _Zstd:
    """Zstandard with the interface of the stdlib decompressors; input is cut small to bound the output."""

    step = 2048

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - only archives of this kind need it

        self._engine = zstandard.ZstdDecompressor(max_window_size=128 << 20).decompressobj()
        self._rest: Block = b""
        self.needs_input, self.eof = True, False
        self.unused_data: Block = b""

    def decompress(self, data: Block, most: int) -> bytes:
        """Return the next bytes of text; `most` is kept only roughly."""
        del most
        data = data if len(data) else self._rest
        feed, self._rest = data[: self.step], data[self.step :]
        out: bytes = self._engine.decompress(feed)
        self.needs_input = not len(self._rest)
        if self._engine.eof:
            self.eof, self.unused_data = True, b"".join((self._engine.unused_data, self._rest))
        return out


class FramedStream(Stream):
    """Text of a bzip2, xz or zstd stream: all its frames.

    Zero padding between and behind frames is skipped in silence. Anything else that is no frame, and a frame
    that does not unpack, is damage; reading goes on at the next frame that can be found behind it.
    """

    def __init__(self, kind: str, below: Stream) -> None:
        super().__init__()
        make: dict[str, Callable[[], Any]] = {
            "bzip2": bz2.BZ2Decompressor,
            "xz": partial(lzma.LZMADecompressor, format=lzma.FORMAT_XZ, memlimit=_MEMORY),
            "zstd": _Zstd,
        }
        self._kind, self._below, self._make = kind, below, make[kind]
        self.total = below.total
        self._engine: Any = self._make()
        self._input: Block = b""
        self._given: Block = (
            b""  # the input the engine got last: it may hold the frame behind a damaged one
        )
        self._cause = ""
        self._ended = False
        self._gaps = 0

    def at(self, offset: int) -> Stream | None:
        """Return None: a second pass is only needed by gzip."""
        del offset
        return None

    def close(self) -> None:
        """Let go of what lies below."""
        self._below.close()

    def block(self) -> Block:
        """Return the next bytes of text."""
        while not self._ended:
            if self._engine.eof:
                self._next_frame()
                continue
            data: Block = b""
            if self._engine.needs_input:
                data = self._input or self._fetch_more()
                self._input = b""
                if not len(data):
                    what = f"{self._kind} data ends early, the file is cut{self._cause}{self._format_share()}"
                    self.faults.append(StreamFault(what, self.consumed, "cut", "the rest"))
                    self._ended = True
                    break
                self._given = data
            try:
                out: bytes = self._engine.decompress(data, BLOCK)
            except Exception as error:  # noqa: BLE001 - bz2, lzma and zstd raise a dozen kinds
                # Go on behind a frame that does not unpack
                why = f"{self._kind} data damaged"
                if isinstance(error, MemoryError) or "emory" in str(error):
                    why = f"{self._kind} data asks for more than {_MEMORY >> 20} MiB of memory"
                given = bytes(self._given)
                own = 1 if kind_of(given) == self._kind else 0  # not the header of this very frame
                self._go_on_behind(
                    given[own:],
                    why + self._cause + self._format_share(),
                    self.consumed - len(given),
                )
                continue
            if out:
                return out
        return b""

    def _fetch_more(self) -> Block:
        block = self._below.block()
        for fault in self._below.take_faults():
            if fault.kind == "cut":
                self._cause = f" ({fault.what})"
            elif not fault.noted:
                self.faults.append(fault)
        self.consumed += len(block)
        return block

    def _format_share(self) -> str:
        return f" ({min(100, self.consumed * 100 // self.total)} %)" if self.total else ""

    def _next_frame(self) -> None:
        """Go on with the frame behind this one."""
        rest = bytes(self._engine.unused_data)
        while True:
            rest = rest.lstrip(b"\0")
            if len(rest) >= 12:
                break
            more = self._fetch_more()
            if not len(more):
                break
            rest += bytes(more)
        if kind_of(rest) == self._kind:
            self._go_on(rest)
        elif rest:
            at = self.consumed - len(rest)
            self._go_on_behind(
                rest, f"what follows the {self._kind} data is not {self._kind} data", at
            )
        else:
            self._ended = True

    def _go_on(self, data: bytes) -> None:
        self._engine, self._input = self._make(), data

    def _go_on_behind(self, window: bytes, what: str, at: int) -> None:
        """Go on at the next frame in `window` or behind it; tell what was lost from `at` on."""
        self._gaps += 1
        found = self._find_frame(window) if self._gaps <= GAPS_MOST else b""
        kind = "gap" if found else "cut"
        lost = (
            f"{max(0, self.consumed - len(found) - at)} bytes"
            if self._gaps <= GAPS_MOST
            else "the rest"
        )
        self.faults.append(StreamFault(what, at, kind, lost))
        if found:
            self._go_on(found)
        else:
            self._ended = True

    def _find_frame(self, window: bytes) -> bytes:
        """Return the input from the next frame that unpacks on, b"" when there is none."""
        magic = _MAGIC[self._kind]
        trials = 0
        while trials < TRIALS:
            at = window.find(magic)
            window = window[at:] if at >= 0 else window[-len(magic) + 1 :]
            if (at < 0 or len(window) < _TRIAL) and len(more := self._fetch_more()):
                window += bytes(more)
            elif at < 0:
                break
            elif self._is_frame(window):
                return window
            else:
                window = window[1:]
                trials += 1
        return b""

    def _is_frame(self, data: bytes) -> bool:
        """Say whether a frame starts here: its first kilobytes unpack."""
        if kind_of(data) != self._kind:
            return False
        try:
            self._make().decompress(data[:_TRIAL], BLOCK)
        except Exception:  # noqa: BLE001 - whatever these raise
            return False
        return True
