"""Zip archives: by the central directory, or by local headers where that is lost.

Sizes, offsets and names of a zip are claims; each is checked against the file
before it is used, and entries that overlap are left out (overlap bombs).
"""

from __future__ import annotations

import calendar
import struct
from collections.abc import Iterator, Sequence

from analyzer.lazy_dataclass import dataclass
from analyzer.limits import LimitHit, Limits
from analyzer.sources import tarheader
from analyzer.sources.codecs import open_codec
from analyzer.sources.gzipstream import GzipStream
from analyzer.sources.inflate import crc32
from analyzer.sources.ledger import Ledger
from analyzer.sources.names import Name, decode, normalise
from analyzer.sources.split_files import JoinedSource
from analyzer.sources.stream import Block, SeekableSource, SliceStream, Stream, StreamFault

_END, _END64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_SIGNATURE = b"PK\x05\x05"
_CENTRAL, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"
_DIRECTORY_MOST = 128 << 20
ENCRYPTED = "encrypted with a password"
_METHODS = {0: "", 8: "deflate", 12: "bzip2", 93: "zstd", 95: "xz"}
_UNREAD = {1: "shrunk", 6: "imploded", 9: "deflate64", 14: "lzma", 98: "PPMd", 99: "AES"}


@dataclass(slots=True)
class ZipEntry:
    """One entry: kind is file, dir or link; `why` says why its content cannot be read."""

    name: Name
    kind: str
    size: int
    mtime: float | None
    method: int
    packed: int
    crc: int
    offset: int  # of the local header
    why: str = ""
    data_at: int = 0
    told: bool = False  # the damage is in the ledger


class ZipBody(Stream):
    """The bytes of one entry, compared with the size and checksum that the zip tells."""

    def __init__(self, below: Stream, entry: ZipEntry) -> None:
        super().__init__()
        self._below, self._entry = below, entry
        self._crc = self._given = 0
        self._ended = False
        self.total = entry.packed

    def block(self) -> Block:
        """Return the next bytes; more than the told size are not given."""
        if self._ended:
            return b""
        block = self._below.block()
        self.faults += [fault for fault in self._below.take_faults() if fault.kind != "note"]
        block = block[: self._entry.size - self._given]
        self._given += len(block)
        self.consumed = self._below.consumed
        if len(block):
            self._crc = crc32(block, self._crc)
        else:
            self._check()
        return block

    def _check(self) -> None:
        self._ended = True
        entry = self._entry
        if any(fault.kind == "cut" for fault in self.faults):
            return
        if self._given < entry.size:
            what = f"{self._given} bytes instead of {entry.size}"
            self.faults.append(StreamFault(what, self.consumed, "cut", "the rest"))
        elif self._crc != entry.crc:
            what = "checksum of the zip entry is wrong"
            self.faults.append(StreamFault(what, self.consumed, "suspect"))

    def at(self, offset: int) -> Stream | None:
        """Return the entry's bytes again from `offset` on."""
        return self._below.at(offset)


class ZipReader:
    """Reads the entries of one zip in the order of their place in the file."""

    def __init__(self, source: SeekableSource, address: str, limits: Limits, ledger: Ledger) -> None:
        self._source, self._address, self._limits, self._ledger = source, address, limits, ledger
        self._shift = 0  # bytes in front of the zip (self-extracting archives)
        self._starts: Sequence[int] = source.starts if isinstance(source, JoinedSource) else (0,)

    def entries(self) -> list[ZipEntry]:
        """Return all entries, each checked; damage is in the ledger."""
        try:
            found = self._central()
            if found is None:
                self._ledger.add_damage(
                    self._address, self._source.size, "the zip's directory is missing or cut",
                    "read by the headers of its entries; what follows the cut is lost",
                )  # fmt: skip
                found = self._locals()
            found.sort(key=lambda entry: entry.offset)
            return self._checked(found)
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            self._ledger.add_damage(self._address, -1, what, "all of it")
            return []

    def open(self, entry: ZipEntry) -> Stream:
        """Return the unpacked bytes of a file entry whose `why` is empty."""
        packed = SliceStream(self._source, entry.data_at, entry.data_at + entry.packed)
        if entry.method == 0:
            below: Stream = packed
        elif entry.method == 8:
            below = GzipStream(packed, raw=True)
        else:
            below = open_codec(_METHODS[entry.method], packed)
        return ZipBody(below, entry)

    def _central(self) -> list[ZipEntry] | None:
        """Return the entries of the central directory, None when it is not there."""
        size = self._source.size
        tail_at = max(0, size - (1 << 16) - 22)
        tail = self._source.pread(tail_at, size - tail_at)
        at = tail.rfind(_END)
        while at >= 0 and len(tail) - at < 22:
            at = tail.rfind(_END, 0, at)
        if at < 0:
            return None
        disk, count, length, offset = struct.unpack("<H2xHII", tail[at + 6 : at + 20])
        offset += self._start(disk) if offset != 0xFFFFFFFF else 0
        end = tail_at + at
        if 0xFFFF in (count,) or 0xFFFFFFFF in (length, offset):
            count, length, offset, end = self._zip64(tail_at + at) or (count, length, offset, end)
        if length > end or length > _DIRECTORY_MOST:
            return None
        self._shift = max(0, end - length - offset) if offset <= end else 0
        data = self._source.pread(end - length, length)
        if count and not data.startswith(_CENTRAL):
            self._shift = 0
            data = self._source.pread(offset, length)
            if not data.startswith(_CENTRAL):
                return None
            if offset + length > end:
                what = "the zip's directory is damaged: it runs into what follows it"
                self._ledger.add_damage(self._address, offset, what, "names may be wrong")
        return self._parse_central(data, count)

    def _start(self, disk: int) -> int:
        """Return where a piece of a split zip begins; the places of a whole one count from its start."""
        return self._starts[disk] if disk < len(self._starts) else 0

    def _zip64(self, end: int) -> tuple[int, int, int, int] | None:
        locator = self._source.pread(end - 20, 20) if end >= 20 else b""
        if not locator.startswith(_LOCATOR):
            return None
        (at,) = struct.unpack("<Q", locator[8:16])
        for place in (at, end - 20 - 56):
            record = self._source.pread(place, 56) if 0 <= place < end else b""
            if record.startswith(_END64) and len(record) == 56:
                count, length, offset = struct.unpack("<QQQ", record[32:56])
                return count, length, offset, place
        return None

    def _parse_central(self, data: bytes, count: int) -> list[ZipEntry]:
        entries: list[ZipEntry] = []
        at = 0
        while data[at : at + 4] == _CENTRAL and at + 46 <= len(data):
            n, m, k = struct.unpack("<HHH", data[at + 28 : at + 34])
            (disk,) = struct.unpack("<H", data[at + 34 : at + 36])
            attributes, offset = struct.unpack("<II", data[at + 38 : at + 46])
            offset += self._start(disk) if offset != 0xFFFFFFFF else 0
            names = at + 46
            raw, extra = data[names : names + n], data[names + n : names + n + m]
            entry = self._entry(data[at + 8 : at + 28], raw, extra, offset)
            unix = data[at + 5] in (3, 19)
            if unix and attributes >> 28 == 0xA:
                entry.kind = "link"
            at = names + n + m + k
            entries.append(entry)
            if len(entries) > self._limits.members:
                self._limit(len(entries))
                break
        if len(entries) < count and len(entries) <= self._limits.members and count < 0xFFFF:
            what = f"the zip's directory is damaged: {len(entries)} of {count} entries"
            self._ledger.add_damage(self._address, -1, what, "the other entries")
        elif at != len(data) and len(entries) <= self._limits.members and data[at : at + 4] != _SIGNATURE:
            self._ledger.add_damage(self._address, -1, "the zip's directory does not have the length it states")
        return entries

    def _limit(self, at: int) -> None:
        self._ledger.add_limit(LimitHit(self._address, "members", self._limits.members, at))

    def _entry(self, fields: bytes, raw: bytes, extra: bytes, offset: int) -> ZipEntry:
        """Return the entry of the 20 bytes that local and central headers share, its name and extra field."""
        flags, method, time, date, crc, packed, size = struct.unpack("<HHHHIII", fields)
        text = decode(raw) if flags & 0x800 or not _bad_utf8(raw) else raw.decode("cp437")
        name = normalise(text, self._limits.name_bytes)
        mtime = _dos_time(date, time)
        for tag, value in _extras(extra):
            if tag == 1:
                wide = list(struct.unpack(f"<{len(value) // 8}Q", value[: len(value) // 8 * 8]))
                size = wide.pop(0) if size == 0xFFFFFFFF and wide else size
                packed = wide.pop(0) if packed == 0xFFFFFFFF and wide else packed
                offset = wide.pop(0) if offset == 0xFFFFFFFF and wide else offset
            elif tag == 0x5455 and len(value) >= 5 and value[0] & 1:
                mtime = tarheader.sane_time(struct.unpack("<i", value[1:5])[0]) or mtime
        why = ""
        if flags & 1:
            why = ENCRYPTED
        elif method not in _METHODS:
            why = f"packed by a method that Backline cannot read ({_UNREAD.get(method, method)})"
        kind = "dir" if text.endswith(("/", "\\")) else "file"
        return ZipEntry(name, kind, size, mtime, method, packed, crc, offset, why)

    def _checked(self, entries: list[ZipEntry]) -> list[ZipEntry]:
        """Find where each entry's data starts; mark those whose claims do not fit the file."""
        end_of_last = 0
        for entry in entries:
            if entry.data_at:
                continue
            at = entry.offset + self._shift
            head = self._source.pread(at, 30) if at < self._source.size else b""
            if len(head) < 30 or not head.startswith(_LOCAL):
                self._bad(entry, at, "no entry where the zip's directory says")
                continue
            n, m = struct.unpack("<HH", head[26:30])
            entry.data_at = at + 30 + n + m
            if entry.why:
                continue
            if at < end_of_last:
                self._bad(entry, at, "overlaps the entry before it")
            elif entry.data_at + entry.packed > self._source.size:
                left = self._source.size - entry.data_at
                self._bad(entry, at, f"{entry.packed} bytes promised, only {max(0, left)} there")
            else:
                end_of_last = entry.data_at + entry.packed
        return entries

    def _bad(self, entry: ZipEntry, at: int, why: str) -> None:
        entry.why, entry.told = why, True
        self._ledger.add_damage(self._address, at, f"{entry.name.path or 'an entry'}: {why}", "this entry")

    def _locals(self) -> list[ZipEntry]:
        """Return the entries found by their local headers."""
        entries: list[ZipEntry] = []
        at = 0
        while (at := self._find(_LOCAL, at)) >= 0 and len(entries) < self._limits.members:
            head = self._source.pread(at, 30)
            if len(head) < 30:
                break
            n, m = struct.unpack("<HH", head[26:30])
            rest = self._source.pread(at + 30, n + m)
            entry = self._entry(head[6:26], rest[:n], rest[n:], at)
            entry.data_at = at + 30 + n + m
            if head[6] & 8 and not entry.packed:
                self._measure(entry)
            entry.packed = max(0, min(entry.packed, self._source.size - entry.data_at))
            entries.append(entry)
            at = max(entry.data_at + entry.packed, at + 4)
        return entries

    def _measure(self, entry: ZipEntry) -> None:
        """Find the size of an entry written without one: its descriptor follows the data."""
        at = self._find(b"PK\x07\x08", entry.data_at)
        while at >= 0:
            crc, packed, size = struct.unpack("<III", self._source.pread(at + 4, 12).ljust(12, b"\0"))
            if packed == (at - entry.data_at) & 0xFFFFFFFF:
                entry.crc, entry.packed, entry.size = crc, packed, size
                return
            at = self._find(b"PK\x07\x08", at + 4)
        entry.packed = entry.size = self._source.size - entry.data_at
        entry.size = 1 << 62 if entry.method else entry.packed

    def _find(self, mark: bytes, at: int) -> int:
        while at < self._source.size:
            window = self._source.pread(at, 1 << 20)
            found = window.find(mark)
            if found >= 0:
                return at + found
            if len(window) < 1 << 20:
                return -1
            at += len(window) - 3
        return -1


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack("<HH", extra[at : at + 4])
        yield tag, extra[at + 4 : at + 4 + length]
        at += 4 + length


def _bad_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _dos_time(date: int, time: int) -> float | None:
    """Return the time of a zip entry; it has no zone and is taken as UTC."""
    year, month, day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    clock = (time >> 11, time >> 5 & 63, (time & 31) * 2)
    return tarheader.sane_time(calendar.timegm((year, month, day, *clock, 0, 0, 0)))
