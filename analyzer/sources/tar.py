"""A bounded, forward-only tar reader that continues after damage.

It follows GNU tar, POSIX PAX and the rules that keep hidden members out: a PAX
size wins over the header's, and PAX belongs to the next file header, never to
a long-name header. Sparse files are measured and never filled up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.runtime.limits import LimitHit, Limits
from analyzer.sources import tarheader
from analyzer.sources.ledger import Ledger
from analyzer.sources.names import Name, decode, normalise
from analyzer.sources.stream import BLOCK as CHUNK
from analyzer.sources.stream import Block, Feed, SliceStream, Stream, StreamFault
from analyzer.sources.tarheader import BLOCK, TarHeader

_METADATA = b"LKxXg"
_KINDS = {b"1": "hardlink", b"2": "link", b"3": "device", b"4": "device", b"5": "dir", b"6": "fifo"}
_WINDOW = 64 << 10
_CANDIDATES = 200_000


class TarBody(Stream):
    """The bytes of one tar member; ends early when the archive does."""

    def __init__(self, feed: Feed, size: int) -> None:
        super().__init__()
        self._feed, self.left, self.total = feed, size, size
        self._start = feed.position
        self.cut = ""

    def at(self, offset: int) -> Stream | None:
        """Return the bytes again where the tar itself is not compressed, so that this costs nothing."""
        if self.cut or not isinstance(self._feed.stream, SliceStream):
            return None
        return self._feed.stream.at(self._start + offset, self.total - offset)

    def end_early(self) -> None:
        """Say that the archive gave fewer bytes than this member has."""
        cause = self._feed.gap or self._feed.last_fault
        self.cut = cause.what if cause else "the archive ends in the middle of this member"
        self.faults.append(StreamFault(self.cut, self.consumed, "cut", "the rest", noted=True))

    def block(self) -> Block:
        """Return the next bytes of the member."""
        if self.left <= 0 or self.cut:
            return b""
        piece = self._feed.chunk(min(self.left, CHUNK))
        if not piece:
            self.end_early()
        self.left -= len(piece)
        self.consumed += len(piece)
        return piece


@dataclass(slots=True)
class TarEntry:
    """One member of a tar: kind is file, dir, link, hardlink, device, fifo or sparse."""

    name: Name
    kind: str
    size: int
    mtime: float | None
    link: str
    body: TarBody
    finished: bool = False


@dataclass(slots=True)
class _Metadata:
    """What long-name and PAX headers state about the next file header."""

    name: bytes | None = None
    link: bytes | None = None
    pax: dict[str, bytes] = field(default_factory=dict)
    size: int = 0
    headers: int = 0


class TarReader:
    """Reads the members of one tar in one pass.

    feed     the unpacked tar; its faults are reported by its own handler
    address  of the archive, for damage and limits
    """

    def __init__(self, feed: Feed, address: str, limits: Limits, ledger: Ledger) -> None:
        self._feed, self._address, self._limits, self._ledger = feed, address, limits, ledger
        self._global: dict[str, bytes] = {}
        self._zeros = 0
        self._members = 0
        self._ustar = False
        self._last = ""
        self._done = self._junk = False

    def read_entries(self) -> Iterator[TarEntry]:
        """Yield one entry after another; what the caller leaves of a body is skipped."""
        meta = _Metadata()
        while header := self._read_header():
            if header.kind in _METADATA and header.kind:
                self._take_metadata(header, meta)
                continue
            pax = {**self._global, **meta.pax} if self._global else meta.pax
            raw_name = pax.get("GNU.sparse.name") or pax.get("path") or meta.name or header.name
            raw_link = pax.get("linkpath") or meta.link or header.link
            name = normalise(decode(raw_name), self._limits.name_bytes)
            size = tarheader.parse_pax_int(meta.pax.get("size"))
            if size is None:
                size = header.size
            if not 0 <= size <= tarheader.SIZE_MOST:
                what = f"size of {name.path or 'a member'} is not a number"
                self._add_damage(what, "this member", self._feed.position - BLOCK)
                size = 0
            kind = _KINDS.get(header.kind, "file")
            stored = size if kind == "file" else 0
            if kind == "file" and raw_name.endswith(b"/") and header.kind in b"0\0":
                kind = "dir"
            if header.kind == b"S" or any(key.startswith("GNU.sparse.") for key in meta.pax):
                kind = "sparse"
                size = self._measure_sparse(header, meta, size)
            mtime = tarheader.parse_pax_time(pax.get("mtime")) or header.mtime
            body = TarBody(self._feed, stored)
            entry = TarEntry(name, kind, size, mtime, decode(raw_link), body)
            meta = _Metadata()
            self._members += 1
            self._last = entry.name.path
            yield entry
            self.finish_entry(entry)

    def _add_damage(self, what: str, left_out: str = "", at: int | None = None) -> None:
        where = self._feed.position if at is None else at
        self._ledger.add_damage(self._address, where, what, left_out)

    def _add_limit(self, name: str, value: int, at: int, left_out: str) -> None:
        self._ledger.add_limit(LimitHit(self._address, name, value, at, left_out))

    def _read_header(self) -> TarHeader | None:
        """Return the next sound header, None at the end."""
        while not self._done:
            block = self._feed.take(BLOCK)
            if len(block) < BLOCK:
                if not self._feed.gap:
                    self._note_end(block)
                    break
                self._feed.cross()
                self._find_next_header(aligned=False, what="")
                continue
            if not block.strip(b"\0"):
                self._zeros += 1
                continue
            header = tarheader.parse_header(block)
            if header is None:
                self._skip_bad_header(block)
                continue
            if self._zeros and self._members:
                what = "more members follow the end mark of the archive; they are read as well"
                self._ledger.note(f"{self._address}: {what}")
            self._zeros = 0
            self._ustar = self._ustar or block[257:262] == b"ustar"
            if header.junk and not self._junk:
                self._junk = True
                self._add_damage(
                    "tar header with fields that are not numbers", at=self._feed.position - BLOCK
                )
            return header
        self._done = True
        return None

    def _note_end(self, block: bytes) -> None:
        fault = self._feed.last_fault
        is_known = fault is not None and fault.kind == "cut"
        if is_known or not block.strip(b"\0"):
            return
        if self._zeros >= 2:
            self._ledger.note(f"{self._address}: garbage after the end of the tar ignored")
        else:
            self._add_damage(
                "the tar ends in the middle of a header",
                f"what follows {self._last or 'the start'}",
            )

    def _skip_bad_header(self, block: bytes) -> None:
        """Go to the next sound header; garbage behind the end mark costs nothing unless it was a member."""
        start = self._feed.position - BLOCK
        what = "tar header with a wrong checksum"
        if self._zeros < 2:
            self._find_next_header(aligned=True, what=what, start=start)
            return
        self._find_next_header(aligned=True, what="", start=start)
        lost = self._feed.position - start
        if not self._done:
            self._add_damage(
                f"{what} after the end mark", f"{lost} bytes skipped up to the next header", start
            )
        elif block[257:262] == b"ustar":
            self._add_damage(
                f"{what} after the end mark", f"{lost} bytes, no further header found", start
            )
        else:
            what = f"{lost} bytes of garbage after the end of the tar ignored (byte {start})"
            self._ledger.note(f"{self._address}: {what}")

    def _find_next_header(self, *, aligned: bool, what: str, start: int | None = None) -> None:
        """Go to the next sound header; at the end of the data the walk is done."""
        feed = self._feed
        start = feed.position if start is None else start
        tries = 0
        while window := feed.peek(_WINDOW):
            found, tries = self._find_in_window(window, aligned, tries)
            if found >= 0:
                feed.skip(found)
                if what:
                    self._add_damage(
                        what, f"{feed.position - start} bytes skipped up to the next header", start
                    )
                return
            keep = BLOCK - 1 if len(window) == _WINDOW else 0
            step = len(window) - keep
            feed.skip(step - step % BLOCK if aligned and keep else step)
            if tries > _CANDIDATES:
                break
            if len(window) < _WINDOW and feed.gap:
                feed.cross()
                aligned = False
        if what:
            self._add_damage(what, f"{feed.position - start} bytes, no further header found", start)
        self._done = True

    def _find_in_window(self, window: bytes, aligned: bool, tries: int) -> tuple[int, int]:
        """Return the place of the first sound header in `window` (-1: none) and the tries so far."""
        if aligned and not self._ustar:
            for at in range(0, len(window) - BLOCK + 1, BLOCK):
                block = window[at : at + BLOCK]
                if block[0] and block[148:156].strip(b" \0") and tarheader.parse_header(block):
                    return at, tries
            return -1, tries
        mark = window.find(b"ustar", 257)
        while mark >= 0 and tries <= _CANDIDATES:
            at = mark - 257
            if at + BLOCK > len(window):
                break
            if not (aligned and at % BLOCK):
                tries += 1
                if tarheader.parse_header(window[at : at + BLOCK]):
                    return at, tries
            mark = window.find(b"ustar", mark + 1)
        return -1, tries

    def _take_metadata(self, header: TarHeader, meta: _Metadata) -> None:
        """Read the data of a long-name or PAX header into `meta`."""
        limits = self._limits
        meta.headers += 1
        meta.size += max(0, header.size)
        if meta.size > limits.member_metadata or header.size < 0:
            self._add_limit(
                "member_metadata", limits.member_metadata, meta.size, "these headers are skipped"
            )
            meta.size = limits.member_metadata
            self._find_next_header(aligned=True, what="")
            return
        at = self._feed.position
        data = self._feed.take(header.size)
        if len(data) < header.size:
            if not self._feed.gap and not self._feed.last_fault:
                self._add_damage("the tar ends in the middle of a header")
            return
        self._feed.skip(-header.size % BLOCK)
        if meta.headers > limits.header_chain:
            self._add_limit(
                "header_chain", limits.header_chain, meta.headers, "these headers are skipped"
            )
            return
        if header.kind == b"L":
            meta.name = tarheader.cut_at_nul(data)
        elif header.kind == b"K":
            meta.link = tarheader.cut_at_nul(data)
        else:
            records, wrong = tarheader.parse_pax(data)
            if wrong:
                self._add_damage(wrong, "the rest of this PAX header", at)
            target = self._global if header.kind == b"g" else meta.pax
            target.update(records)
            if len(self._global) > 1000:
                self._global.clear()

    def _measure_sparse(self, header: TarHeader, meta: _Metadata, size: int) -> int:
        """Return the size with holes; pass the map blocks of an old GNU sparse header."""
        if header.kind == b"S":
            more = header.raw[482]
            read = 0
            while more and read < self._limits.member_metadata:
                block = self._feed.take(BLOCK)
                if len(block) < BLOCK:
                    break
                more, read = block[504], read + BLOCK
            if more and read >= self._limits.member_metadata:
                most = self._limits.member_metadata
                self._add_limit("member_metadata", most, read, "the sparse map is skipped")
            return tarheader.parse_number(header.raw[483:495]) or size
        real = meta.pax.get("GNU.sparse.realsize") or meta.pax.get("GNU.sparse.size")
        return tarheader.parse_pax_int(real) or size

    def finish_entry(self, entry: TarEntry) -> None:
        """Skip what is left of the body and its padding; a second call does nothing."""
        body, feed = entry.body, self._feed
        if entry.finished:
            return
        entry.finished = True
        skipped = feed.skip(body.left)
        if skipped == body.left and not body.cut:
            padding = -body.total % BLOCK
            if feed.skip(padding) < padding and not feed.gap and not feed.last_fault:
                self._add_damage(
                    "the tar ends in the middle of a block", f"what follows {entry.name.path}"
                )
            return
        if not body.cut:
            body.end_early()
        if not feed.gap and not feed.last_fault:
            missing = body.left - skipped
            what = f"the archive ends in the middle of {entry.name.path}"
            self._add_damage(what, f"{missing} bytes of it and what follows")
