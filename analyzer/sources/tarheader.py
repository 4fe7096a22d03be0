"""One 512-byte tar header and PAX records, read without trusting any field."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from zlib import adler32

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
def parse_number(raw: bytes) -> int | None:
    """Return a numeric field (octal text or base-256), None for junk."""
    if raw[0] & 0x80:
        value = int.from_bytes(raw, "big", signed=False) & ~(0x80 << (8 * (len(raw) - 1)))
        return value if raw[0] < 0xC0 else int.from_bytes(raw, "big", signed=True)
    text = cut_at_nul(raw).strip()
    if not text:
        return 0
    if text.translate(None, b"01234567"):
        return None
    return int(text, 8)


def has_good_checksum(block: bytes) -> bool:
    """Say whether a block carries its own checksum (unsigned, or signed as old tars made it)."""
    stated = parse_number(block[148:156])
    if stated is None:
        return False
    plain = _sum_bytes(block) - sum(block[148:156]) + 256
    if plain == stated:
        return True
    high = sum(1 for byte in block[:148] + block[156:] if byte > 127)
    return plain - 256 * high == stated


def _sum_bytes(block: bytes) -> int:
    """Return the sum of the bytes of a block: the lower part of Adler-32, below its modulus for half a block."""
    half = BLOCK // 2
    return (adler32(block[:half]) & 0xFFFF) + (adler32(block[half:]) & 0xFFFF) - 2


def parse_header(block: bytes) -> TarHeader | None:
    """Return the header in a 512-byte block, None when its checksum is wrong."""
    if len(block) < BLOCK or not has_good_checksum(block):
        return None
    name = cut_at_nul(block[:100])
    magic = block[257:265]
    if magic.startswith(b"ustar") and magic != b"ustar  \0" and block[345]:
        is_star = block[475:476] == b"\0" and block[508:512] == b"tar\0"
        end = 476 if is_star else 500  # star keeps times behind a shorter prefix
        name = cut_at_nul(block[345:end]) + b"/" + name
    size = parse_number(block[124:136])
    if size is None or not 0 <= size <= SIZE_MOST:
        size = -1
    mode, owner = parse_number(block[100:108]), parse_number(block[108:116])
    group, mtime = parse_number(block[116:124]), parse_number(block[136:148])
    is_odd = None in (mode, owner, group, mtime)
    kind, link = block[156:157], cut_at_nul(block[157:257])
    return TarHeader(name, size, keep_sane_time(mtime), kind, link, block, is_odd)


def cut_at_nul(raw: bytes) -> bytes:
    """Return the text of a field that ends at its first NUL."""
    return raw.split(b"\0", 1)[0]


def keep_sane_time(value: float | None) -> float | None:
    """Return a time between 1980 and 2100, else None."""
    return float(value) if value is not None and _OLDEST <= value <= _NEWEST else None


def parse_pax(data: bytes) -> tuple[dict[str, bytes], str]:
    """Return the records `length key=value\\n` of a PAX header, and what is wrong with the rest."""
    records: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 20)
        digits = data[at:space] if space > 0 else b""
        if not digits.isdigit():
            is_padding = not data[at:].strip(b"\0")
            return records, "" if is_padding else "PAX record without a length"
        end = at + int(digits)
        record = data[space + 1 : end]
        if end > len(data) or not record.endswith(b"\n"):
            return records, "PAX record with a wrong length"
        key, equals, value = record[:-1].partition(b"=")
        if not equals or not key or b"\0" in key:
            return records, "PAX record without a valid key"
        records[key.decode("utf-8", "replace")] = value
        at = end
    return records, ""


def parse_pax_int(value: bytes | None) -> int | None:
    """Return a PAX decimal number, None when it is absent or junk."""
    if value is None or not value.strip().isdigit() or len(value) > 20:
        return None
    return int(value)


def parse_pax_time(value: bytes | None) -> float | None:
    """Return a PAX time in seconds, None when it is absent or junk."""
    try:
        return keep_sane_time(float(value)) if value is not None and len(value) < 40 else None
    except ValueError:
        return None
