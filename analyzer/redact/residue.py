"""Looks for names that are left in what is handed out: as they are, in other case, split, and encoded."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from analyzer.redact import addresses
from analyzer.redact.replacing import Replacer, lowered

_SPLITS = re.compile(
    "[\u00ad\u200b-\u200f\u2060\ufeff]|<wbr ?/?>|&shy;|&(?:#8203|#173|zwsp|ZeroWidthSpace);", re.IGNORECASE
)
_TAGS = re.compile(r"</?(?:b|i|em|mark|span|code|strong|a)\b[^<>]{0,200}>", re.IGNORECASE)
_JSON = re.compile(r"\\u([0-9a-fA-F]{4})")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,}={0,2}")
_HEXED = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){5,}(?![0-9A-Za-z])")
LEAST_ENCODED = 5  # characters of a name that is sought in what may be base64 or hexadecimal
LONGEST = 4096  # characters of such a word that are decoded


class LeftName(NamedTuple):
    """A name that is left: in which result, at which line, and how it is written; never the name itself."""

    result: str
    line: int
    how: str
    kind: str

    def __str__(self) -> str:
        return f"{self.result}, line {self.line}: a name ({self.kind}) {self.how}"


class Residue:
    """Seeks the names that a replacer replaced.

    Names that are words of the product are sought where they stand for a name alone (`Replacer.placed`), in the
    document that results are made of.
    """

    def __init__(self, replacer: Replacer, names: Iterable[tuple[str, str]]) -> None:
        self.replacer = replacer
        self._kinds = {lowered(name): kind for kind, name in names}
        self._issued = {other.lower() for other in replacer.all_forms.values()}

    def survivors(self, result: str, text: str) -> Iterator[LeftName]:
        """Yield what is left in the text of a result, the first of each kind of spelling."""
        for how, read in _readings(text):
            if found := self._first(lowered(read)):
                yield self._survivor(result, read, found[0], how, found[1])
                return
        yield from self._encoded(result, text)

    def _first(self, low: str) -> tuple[int, str] | None:
        """Return place and kind of the first name in a text in lower case."""
        if self.replacer.pattern is not None:
            for found in self.replacer.pattern.finditer(low):
                if found[0] not in self._issued:
                    return found.start(), self._kinds.get(found[0], "another form of one")
        shapes = self.replacer.shapes
        for one in shapes.found(low):
            word = low[one.start : one.end]
            if one.other != word and word not in shapes.issued and addresses.digits_of(word) not in shapes.issued:
                return one.start, one.kind
        return None

    def _encoded(self, result: str, text: str) -> Iterator[LeftName]:
        """Look into words that may be base64 or hexadecimal."""
        for how, pattern, decode in (("in base64", _BASE64, _from_base64), ("in hexadecimal", _HEXED, _from_hex)):
            words = dict.fromkeys(word[:LONGEST] for word in pattern.findall(text))
            plain = [(word, part) for word in words for part in decode(word)]
            every = lowered("\x00".join(part for _, part in plain))
            pattern_of_names = self.replacer.pattern
            for found in pattern_of_names.finditer(every) if pattern_of_names is not None else ():
                if len(found[0]) >= LEAST_ENCODED and found[0] not in self._issued:
                    word = plain[every.count("\x00", 0, found.start())][0]
                    yield self._survivor(
                        result, text, text.find(word), how, self._kinds.get(found[0], "another form of one")
                    )
                    break

    @staticmethod
    def _survivor(result: str, text: str, at: int, how: str, kind: str) -> LeftName:
        return LeftName(result, text.count("\n", 0, at) + 1, how, kind)


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (how, text): as it is, and with all that a reader's program takes away or decodes, where that differs."""
    yield "as it is", text
    plain = html.unescape(text) if "&" in text else text
    plain = unquote(plain, errors="replace") if "%" in plain else plain
    plain = _JSON.sub(lambda one: chr(int(one[1], 16)), plain) if "\\u" in plain else plain
    plain = _TAGS.sub("", _SPLITS.sub("", plain)) if "<" in plain or not plain.isascii() else plain
    if plain != text:
        yield "encoded or split", plain


def _from_base64(word: str) -> Iterator[str]:
    """Yield what a word means as base64, from each of its first four places; only what reads as text."""
    if word.islower() or word.isupper() or word.isdecimal():
        return
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    for start in range(4):
        part = plain[start : len(plain) - ((len(plain) - start) % 4 == 1)]
        raw = base64.b64decode(part + "=" * (-len(part) % 4))
        if sum(32 <= sign < 127 for sign in raw) >= LEAST_ENCODED:
            yield raw.decode("latin-1").replace("\x00", " ")


def _from_hex(word: str) -> Iterator[str]:
    raw = binascii.unhexlify(word[: len(word) // 2 * 2])
    if sum(32 <= sign < 127 for sign in raw) >= LEAST_ENCODED:
        yield raw.decode("latin-1").replace("\x00", " ")
        yield raw.decode("utf-16-le", errors="replace").replace("\x00", " ")
