"""One member of the case, as the readers of content see it."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.runtime.limits import LimitHit
from analyzer.sources.inflate import crc32
from analyzer.sources.ledger import Ledger, SourceRecord
from analyzer.sources.stream import BLOCK, Feed

# Stands where bytes are missing inside a text: NULs so that no value is read across the hole, and a
# line end so that the first line behind it is alone.
GAP = b"\0" * 8 + b"\n"


class Member:
    """A file of the case, read forward once; compression of a single file is undone already.

    address     `outer.tgz!top/var/log/x.log`, with one `!` for each archive on the way
    path        normalised path inside its innermost archive or folder, top directory included
    root        key of the tree it belongs to: the innermost archive, "!", the top directory;
                a loose file's own address
    size        bytes as its container lists it (packed when `packed` is set), None when unknown
    mtime       UTC epoch seconds, None when unknown
    packed      compressions undone, outermost first ("gzip", "xz")
    measured    only its size is known, it has no content here (sparse files, VSI cache)
    record      its row in the ledger; the reader sets `state`, `read_by`, `lines`, `faults`
    cut         "" or why it ended early or has a hole; set while reading
    read_bytes  bytes handed out so far
    """

    __slots__ = (
        "_crc", "_feed", "_ledger", "_left", "_limit", "address", "cut", "in_archive", "measured", "mtime", "packed",
        "path", "read_bytes", "record", "root", "size",
    )  # fmt: skip

    def __init__(
        self,
        record: SourceRecord,
        feed: Feed,
        ledger: Ledger,
        *,
        path: str,
        root: str,
        in_archive: bool,
        mtime: float | None,
        packed: tuple[str, ...] = (),
        measured: bool = False,
        limit: int,
    ) -> None:
        self.record, self.address, self.size = record, record.address, record.size
        self.path, self.root, self.in_archive, self.mtime = path, root, in_archive, mtime
        self.packed, self.measured = packed, measured
        self.cut = ""
        self.read_bytes = 0
        self._feed, self._ledger, self._limit, self._left = feed, ledger, limit, limit
        self._crc = 0

    def __repr__(self) -> str:
        return f"Member({self.address!r}, size={self.size})"

    def _read_next(self, most: int) -> memoryview:
        """Return the next bytes without copying, empty at the end."""
        piece = self._feed.chunk(min(most, self._left))
        if piece:
            self._left -= len(piece)
            self.read_bytes += len(piece)
            self._crc = crc32(piece, self._crc)
            return piece
        if not self._left:
            if not self.cut and self._feed.peek(1):
                self.cut = f"limit member_bytes={self._limit} reached"
                self._ledger.add_limit(
                    LimitHit(self.address, "member_bytes", self._limit, self.read_bytes)
                )
            return piece
        if self._feed.gap:
            self.cut = self.cut or self._feed.gap.what
            self._feed.cross()
            return memoryview(GAP)[:most]
        if self._feed.last_fault:
            self.cut = self.cut or self._feed.last_fault.what
        return piece

    def chunks(self, size: int = BLOCK) -> Iterator[memoryview]:
        """Yield the content in blocks of 1 to `size` bytes; blocks stay valid."""
        while piece := self._read_next(size):
            yield piece

    def readinto(self, buffer: bytearray | memoryview) -> int:
        """Fill `buffer` and return the count of bytes, less than its length only at the end."""
        view = memoryview(buffer).cast("B")
        done, size = 0, len(view)
        while done < size and (piece := self._read_next(size - done)):
            view[done : done + len(piece)] = piece
            done += len(piece)
        return done

    def read(self, count: int = -1) -> bytes:
        """Return up to `count` bytes, all that is left when it is negative."""
        parts: list[memoryview] = []
        left = count if count >= 0 else self._limit + len(GAP)
        while left > 0 and (piece := self._read_next(min(left, BLOCK))):
            parts.append(piece)
            left -= len(piece)
        return b"".join(parts)

    @property
    def print(self) -> tuple[int, int]:
        """Size and CRC-32 of the bytes handed out so far: where they differ, the content does.

        A stronger hash would cost half as much again as searching a log. Whoever takes equal prints for equal
        content compares what was read as well.
        """
        return self.read_bytes, self._crc

    def text_head(self, count: int = 4096) -> bytes:
        """Return up to `count` of the next bytes without taking them."""
        return self._feed.peek(count)
