"""One 512-byte tar header and PAX records, read without trusting any field."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from zlib import adler32

from analyzer.lazy_dataclass import dataclass

BLOCK = 512
SIZE_MOST = 1 << 60
_OLDEST, _NEWEST = 315_532_800, 4_102_444_800  # 1980 .. 2100


@dataclass(slots=True)
class TarHeader:
    """Fields of a header; `size` is -1 and `mtime` None when the field is junk.

    junk  mode, owner, group or time is no number, which no writer of tars does
    """

    name: bytes
    size: int
    mtime: float | None
    kind: bytes
    link: bytes
    raw: bytes = field(repr=False, default=b"")
    junk: bool = False


@lru_cache(512)  # mode, owner, group and time are mostly those of the member before
def number(raw: bytes) -> int | None:
    """Return a numeric field (octal text or base-256), None for junk."""
    if raw[0] & 0x80:
        value = int.from_bytes(raw, "big", signed=False) & ~(0x80 << (8 * (len(raw) - 1)))
        return value if raw[0] < 0xC0 else int.from_bytes(raw, "big", signed=True)
    text = raw.split(b"\0", 1)[0].strip()
    if not text:
        return 0
    if text.translate(None, b"01234567"):
        return None
    return int(text, 8)


def checksum_good(block: bytes) -> bool:
    """Tell whether a block carries its own checksum (unsigned, or signed as old tars made it)."""
    told = number(block[148:156])
    if told is None:
        return False
    plain = _sum(block) - sum(block[148:156]) + 256
    if plain == told:
        return True
    high = sum(1 for byte in block[:148] + block[156:] if byte > 127)
    return plain - 256 * high == told


def _sum(block: bytes) -> int:
    """Return the sum of the bytes of a block: the lower part of Adler-32, below its modulus for half a block."""
    half = BLOCK // 2
    return (adler32(block[:half]) & 0xFFFF) + (adler32(block[half:]) & 0xFFFF) - 2


def parse(block: bytes) -> TarHeader | None:
    """Return the header in a 512-byte block, None when its checksum is wrong."""
    if len(block) < BLOCK or not checksum_good(block):
        return None
    name = block[:100].split(b"\0", 1)[0]
    magic = block[257:265]
    if magic.startswith(b"ustar") and magic != b"ustar  \0" and block[345]:
        end = 131 if block[475:476] == b"\0" and block[508:512] == b"tar\0" else 155  # star keeps times there
        prefix = block[345 : 345 + end].split(b"\0", 1)[0]
        name = prefix + b"/" + name
    size = number(block[124:136])
    if size is None or not 0 <= size <= SIZE_MOST:
        size = -1
    link = block[157:257].split(b"\0", 1)[0]
    mtime = number(block[136:148])
    junk = mtime is None or None in (number(block[100:108]), number(block[108:116]), number(block[116:124]))
    return TarHeader(name, size, sane_time(mtime), block[156:157], link, block, junk)


def sane_time(value: float | None) -> float | None:
    """Return a time between 1980 and 2100, else None."""
    return float(value) if value is not None and _OLDEST <= value <= _NEWEST else None


def pax_records(data: bytes) -> tuple[dict[str, bytes], str]:
    """Return the records `length key=value\\n` of a PAX header, and what is wrong with the rest."""
    records: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 20)
        digits = data[at:space] if space > 0 else b""
        if not digits.isdigit():
            return records, "" if not data[at:].strip(b"\0") else "PAX record without a length"
        end = at + int(digits)
        if end <= space + 1 or end > len(data) or data[end - 1 : end] != b"\n":
            return records, "PAX record with a wrong length"
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if not equals or not key or b"\0" in key:
            return records, "PAX record without a valid key"
        records[key.decode("utf-8", "replace")] = value
        at = end
    return records, ""


def pax_int(value: bytes | None) -> int | None:
    """Return a PAX decimal number, None when it is absent or junk."""
    if value is None or not value.strip().isdigit() or len(value) > 20:
        return None
    return int(value)


def pax_time(value: bytes | None) -> float | None:
    """Return a PAX time in seconds, None when it is absent or junk."""
    try:
        return sane_time(float(value)) if value is not None and len(value) < 40 else None
    except ValueError:
        return None
