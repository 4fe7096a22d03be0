"""Zip archives: by the central directory, or by local headers where that is lost.

Sizes, offsets and names of a zip are claims; each is checked against the file
before it is used, and entries that overlap are left out (overlap bombs).
"""

from __future__ import annotations

import calendar
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.runtime.limits import LimitHit, Limits
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
_LOCAL_SIZE = 30  # bytes of a local header before its name
_DESCRIPTOR = b"PK\x07\x08"
_DIRECTORY_MOST = 128 << 20
ENCRYPTED = "encrypted with a password"
_WIDE_32 = 0xFFFFFFFF  # is in a 32-bit field whose value is in the zip64 extra field
_WIDE_16 = 0xFFFF
# Of an entry of the directory: system, the 20 bytes that local headers have as well, lengths of name, extra field and
# comment, disk, attributes, offset.
_CENTRAL_HEAD = struct.Struct("<4xxBxx20sHHHHxxII")
_UNIX = (3, 19)  # systems whose attributes hold a file mode
_LINK_MODE = 0xA
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
    noted: bool = False  # the damage is in the ledger


class ZipBody(Stream):
    """The bytes of one entry, compared with the size and checksum that the zip states."""

    def __init__(self, below: Stream, entry: ZipEntry) -> None:
        super().__init__()
        self._below, self._entry = below, entry
        self._crc = self._given = 0
        self._ended = False
        self.total = entry.packed

    def block(self) -> Block:
        """Return the next bytes; more than the stated size are not given."""
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
            self._ended = True
            entry = self._entry
            if not any(fault.kind == "cut" for fault in self.faults):
                if self._given < entry.size:
                    what = f"{self._given} bytes instead of {entry.size}"
                    self.faults.append(StreamFault(what, self.consumed, "cut", "the rest"))
                elif self._crc != entry.crc:
                    what = "checksum of the zip entry is wrong"
                    self.faults.append(StreamFault(what, self.consumed, "suspect"))
        return block

    def at(self, offset: int) -> Stream | None:
        """Return the entry's bytes again from `offset` on."""
        return self._below.at(offset)


class ZipReader:
    """Reads the entries of one zip in the order of their place in the file."""

    def __init__(
        self, source: SeekableSource, address: str, limits: Limits, ledger: Ledger
    ) -> None:
        self._source, self._address, self._limits, self._ledger = source, address, limits, ledger
        self._shift = 0  # bytes in front of the zip (self-extracting archives)
        self._starts: Sequence[int] = source.starts if isinstance(source, JoinedSource) else (0,)

    def read_entries(self) -> list[ZipEntry]:
        """Return all entries, each checked; damage is in the ledger."""
        try:
            found = self._read_directory()
            if found is None:
                self._ledger.add_damage(
                    self._address, self._source.size, "the zip's directory is missing or cut",
                    "read by the headers of its entries; what follows the cut is lost",
                )  # fmt: skip
                found = self._read_local_headers()
            found.sort(key=lambda entry: entry.offset)
            # Find where each entry's data starts; mark those whose claims do not fit the file
            end_of_last = 0
            for entry in found:
                if entry.data_at:
                    continue
                at = entry.offset + self._shift
                head = self._source.pread(at, _LOCAL_SIZE) if at < self._source.size else b""
                if len(head) < _LOCAL_SIZE or not head.startswith(_LOCAL):
                    self._mark_bad(entry, at, "no entry where the zip's directory says")
                    continue
                name_size, extra_size = struct.unpack("<HH", head[26:30])
                entry.data_at = at + _LOCAL_SIZE + name_size + extra_size
                if entry.why:
                    continue
                end = entry.data_at + entry.packed
                if at < end_of_last:
                    self._mark_bad(entry, at, "overlaps the entry before it")
                elif end > self._source.size:
                    left = max(0, self._source.size - entry.data_at)
                    self._mark_bad(entry, at, f"{entry.packed} bytes promised, only {left} there")
                else:
                    end_of_last = end
            return found
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            self._ledger.add_damage(self._address, -1, what, "all of it")
            return []

    def open_entry(self, entry: ZipEntry) -> Stream:
        """Return the unpacked bytes of a file entry whose `why` is empty."""
        packed = SliceStream(self._source, entry.data_at, entry.data_at + entry.packed)
        if entry.method == 0:
            below: Stream = packed
        elif entry.method == 8:
            below = GzipStream(packed, raw=True)
        else:
            below = open_codec(_METHODS[entry.method], packed)
        return ZipBody(below, entry)

    def _read_directory(self) -> list[ZipEntry] | None:
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
        if offset != _WIDE_32:
            offset += self._find_piece_start(disk)
        end = tail_at + at
        if count == _WIDE_16 or _WIDE_32 in (length, offset):
            wide = self._read_zip64_end(end)
            if wide is not None:
                count, length, offset, end = wide
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
        return self._parse_directory(data, count)

    def _find_piece_start(self, disk: int) -> int:
        """Return where a piece of a split zip begins; the places of a whole one count from its start."""
        return self._starts[disk] if disk < len(self._starts) else 0

    def _read_zip64_end(self, end: int) -> tuple[int, int, int, int] | None:
        """Return count, length, offset and end of a directory whose numbers take 64 bits."""
        locator = self._source.pread(end - 20, 20) if end >= 20 else b""
        if not locator.startswith(_LOCATOR):
            return None
        (claimed,) = struct.unpack("<Q", locator[8:16])
        for at in (claimed, end - 20 - 56):
            if not 0 <= at < end:
                continue
            record = self._source.pread(at, 56)
            if record.startswith(_END64) and len(record) == 56:
                count, length, offset = struct.unpack("<QQQ", record[32:56])
                return count, length, offset, at
        return None

    def _parse_directory(self, data: bytes, count: int) -> list[ZipEntry]:
        """Return the entries of the directory's bytes, up to the limit on members."""
        most = self._limits.members
        entries: list[ZipEntry] = []
        at = 0
        while data[at : at + 4] == _CENTRAL and at + _CENTRAL_HEAD.size <= len(data):
            system, fields, name_size, extra_size, comment_size, disk, attributes, offset = (
                _CENTRAL_HEAD.unpack_from(data, at)
            )
            if offset != _WIDE_32:
                offset += self._find_piece_start(disk)
            name_at = at + _CENTRAL_HEAD.size
            extra_at = name_at + name_size
            comment_at = extra_at + extra_size
            entry = self._make_entry(
                fields, data[name_at:extra_at], data[extra_at:comment_at], offset
            )
            if system in _UNIX and attributes >> 28 == _LINK_MODE:
                entry.kind = "link"
            entries.append(entry)
            at = comment_at + comment_size
            if len(entries) > most:
                self._ledger.add_limit(LimitHit(self._address, "members", most, len(entries)))
                return entries
        if len(entries) < count < _WIDE_16:
            what = f"the zip's directory is damaged: {len(entries)} of {count} entries"
            self._ledger.add_damage(self._address, -1, what, "the other entries")
        elif at != len(data) and data[at : at + 4] != _SIGNATURE:
            self._ledger.add_damage(
                self._address, -1, "the zip's directory does not have the length it states"
            )
        return entries

    def _make_entry(self, fields: bytes, raw: bytes, extra: bytes, offset: int) -> ZipEntry:
        """Return the entry of the 20 bytes that local and central headers share, its name and extra field."""
        flags, method, time, date, crc, packed, size = struct.unpack("<HHHHIII", fields)
        try:
            text = decode(raw) if flags & 0x800 else raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("cp437")
        mtime = _convert_dos_time(date, time)
        at = 0
        while at + 4 <= len(extra):
            tag, length = struct.unpack("<HH", extra[at : at + 4])
            value = extra[at + 4 : at + 4 + length]
            at += 4 + length
            if tag == 1:
                # The 64-bit values of those fields that are full, in this order.
                wide = iter(struct.unpack(f"<{len(value) // 8}Q", value[: len(value) // 8 * 8]))
                if size == _WIDE_32:
                    size = next(wide, size)
                if packed == _WIDE_32:
                    packed = next(wide, packed)
                if offset == _WIDE_32:
                    offset = next(wide, offset)
            elif tag == 0x5455 and len(value) >= 5 and value[0] & 1:
                (seconds,) = struct.unpack("<i", value[1:5])
                mtime = tarheader.keep_sane_time(seconds) or mtime
        why = ""
        if flags & 1:
            why = ENCRYPTED
        elif method not in _METHODS:
            why = f"packed by a method that Backline cannot read ({_UNREAD.get(method, method)})"
        kind = "dir" if text.endswith(("/", "\\")) else "file"
        name = normalise(text, self._limits.name_bytes)
        return ZipEntry(name, kind, size, mtime, method, packed, crc, offset, why)

    def _mark_bad(self, entry: ZipEntry, at: int, why: str) -> None:
        entry.why, entry.noted = why, True
        self._ledger.add_damage(
            self._address, at, f"{entry.name.path or 'an entry'}: {why}", "this entry"
        )

    def _read_local_headers(self) -> list[ZipEntry]:
        """Return the entries found by their local headers."""
        entries: list[ZipEntry] = []
        at = self._find_mark(_LOCAL, 0)
        while at >= 0 and len(entries) < self._limits.members:
            head = self._source.pread(at, _LOCAL_SIZE)
            if len(head) < _LOCAL_SIZE:
                break
            name_size, extra_size = struct.unpack("<HH", head[26:30])
            rest = self._source.pread(at + _LOCAL_SIZE, name_size + extra_size)
            entry = self._make_entry(head[6:26], rest[:name_size], rest[name_size:], at)
            entry.data_at = at + _LOCAL_SIZE + name_size + extra_size
            if head[6] & 8 and not entry.packed:
                self._measure_entry(entry)
            left = self._source.size - entry.data_at
            entry.packed = max(0, min(entry.packed, left))
            entries.append(entry)
            end = entry.data_at + entry.packed
            at = self._find_mark(_LOCAL, max(end, at + 4))
        return entries

    def _measure_entry(self, entry: ZipEntry) -> None:
        """Find the size of an entry written without one: its descriptor follows the data."""
        at = self._find_mark(_DESCRIPTOR, entry.data_at)
        while at >= 0:
            crc, packed, size = struct.unpack(
                "<III", self._source.pread(at + 4, 12).ljust(12, b"\0")
            )
            if packed == (at - entry.data_at) & 0xFFFFFFFF:
                entry.crc, entry.packed, entry.size = crc, packed, size
                return
            at = self._find_mark(_DESCRIPTOR, at + 4)
        entry.packed = entry.size = self._source.size - entry.data_at
        entry.size = 1 << 62 if entry.method else entry.packed

    def _find_mark(self, mark: bytes, at: int) -> int:
        while at < self._source.size:
            window = self._source.pread(at, 1 << 20)
            found = window.find(mark)
            if found >= 0:
                return at + found
            if len(window) < 1 << 20:
                return -1
            at += len(window) - 3
        return -1


def _convert_dos_time(date: int, time: int) -> float | None:
    """Return the time of a zip entry; it has no zone and is taken as UTC."""
    year, month, day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    hour, minute, second = time >> 11, time >> 5 & 63, (time & 31) * 2
    seconds = calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0))
    return tarheader.keep_sane_time(seconds)
