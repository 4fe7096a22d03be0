"""What a text means once a reader's program has decoded it: entities, percent signs, escapes, base64, hexadecimal."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from analyzer.kept_patterns import compiled

_SPLITS = compiled(
    "[\u00ad\u200b-\u200f\u2060\ufeff]|<wbr ?/?>|&shy;|&(?:#8203|#173|zwsp|ZeroWidthSpace);", re.IGNORECASE
)
_TAGS = compiled(r"</?(?:b|i|em|mark|span|code|strong|a)\b[^<>]{0,200}>", re.IGNORECASE)
_JSON = compiled(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_ESCAPED = compiled(r"\\[ux]")
_COLOURS = compiled("\x1b\\[[0-9;]{0,20}m")
TWICE = 2  # an address within an address
OCTAL = compiled(r"\\([01][0-7]{2})(?![0-9])")
BASE64 = compiled(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,}={0,2}")
HEXED = compiled(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){5,}(?![0-9A-Za-z])")
LEAST_ENCODED = 5  # characters of a name that is sought in what may be base64 or hexadecimal
_NO_TEXT = bytes(sign for sign in range(256) if not 32 <= sign < 127)
LONGEST = 4096  # characters of such a word that are decoded


def _reads(raw: bytes) -> bool:
    """Tell whether bytes may hold a name: so many of them are letters and signs."""
    return len(raw.translate(None, _NO_TEXT)) >= LEAST_ENCODED


def _read(raw: bytes) -> Iterator[str]:
    yield raw.decode("latin-1").replace("\x00", " ")
    if not raw.isascii() and len(plain := raw.decode("utf-8", errors="ignore")) >= LEAST_ENCODED:
        yield plain.replace("\x00", " ")


def decoded(text: str) -> str:
    """Return a text with all that a reader's program takes away or decodes."""
    plain = html.unescape(text) if "&" in text else text
    for _ in range(TWICE):
        plain = unquote(plain, errors="replace") if "%" in plain else plain
    if "\\" in plain:
        plain = _JSON.sub(lambda one: chr(int(one[1] or one[2], 16)), plain) if _ESCAPED.search(plain) else plain
        plain = OCTAL.sub(lambda one: chr(int(one[1], 8)), plain)
    plain = _COLOURS.sub("", plain) if "\x1b" in plain else plain
    plain = plain if plain.isascii() else unicodedata.normalize("NFKC", plain)
    return _TAGS.sub("", _SPLITS.sub("", plain)) if "<" in plain or not plain.isascii() else plain


def from_base64(word: str) -> Iterator[str]:
    """Yield what a word means as base64, from each of its first four places; only what reads as text."""
    if word.islower() or word.isupper() or word.isdecimal():
        return
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    for start in range(4):
        part = plain[start : len(plain) - ((len(plain) - start) % 4 == 1)]
        raw = base64.b64decode(part + "=" * (-len(part) % 4))
        if _reads(raw):
            yield from _read(raw)


def from_hex(word: str) -> Iterator[str]:
    """Yield what a word means as hexadecimal, read as bytes and as UTF-16; only what reads as text."""
    raw = binascii.unhexlify(word[: len(word) // 2 * 2])
    if _reads(raw):
        yield from _read(raw)
        yield raw.decode("utf-16-le", errors="replace").replace("\x00", " ")


ENCODED = (("in base64", BASE64, from_base64), ("in hexadecimal", HEXED, from_hex))


def encoded_words(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (how, word, what it means) of words that may be base64 or hexadecimal, each word once."""
    for how, pattern, decode in ENCODED:
        for word in dict.fromkeys(pattern.findall(text)):
            for part in decode(word[:LONGEST]):
                yield how, word, part
