"""Decodes thousands of words at once, to tell whether any of them may mean a name: nearly none of them does.

Each word would be decoded for itself from each of its first places (`encodings`). Here all are joined and decoded by
one call for each place, and of what comes out only the runs of signs that a name may have are kept. A name that a
word means is in these runs for certain; whether it is really there, the words tell one by one.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator

from analyzer.redact.encodings import (
    BREAKS,
    BROKEN,
    ENCODED,
    LEAST_ENCODED,
    digits_in,
    is_no_base64,
)

Word = tuple[int, str]  # which of `ENCODED`, and the word
GAP = "\x01"  # between runs: no sign of a name
PLAIN = re.compile(r"[\x20-\x7e]*")  # names of such signs alone can be told here
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# The last sign of a word that is no whole number of bytes, without the bits that are left over.
_LAST = {
    2: {sign: _SIGNS[nth & 0x30] + "AA" for nth, sign in enumerate(_SIGNS)},
    3: {sign: _SIGNS[nth & 0x3C] + "A" for nth, sign in enumerate(_SIGNS)},
}
_PLAIN_SIGNS = str.maketrans("-_", "+/", "=")
_BASE64_GAP, _HEX_GAP = "AQEB", "010101"  # bytes of the value one
_RUN = re.compile(rf"[\x00\x20-\x7e]{{{LEAST_ENCODED},}}")
_HIGH = bytes(range(128, 256))


def words_in(text: str, chunks: Iterable[str] | None = None) -> set[Word]:
    """Return the words of a text that may be base64 or hexadecimal.

    chunks  what stands between blanks and is to be looked at, each once; without them all that does
    """
    (_, base64, _), (_, hexed, _), (_, paired, _) = ENCODED
    some = "\n".join(set(text.split()) if chunks is None else chunks)
    words = set(base64.findall(some))
    found = {(0, word) for word in words}
    found.update(
        (1, word) for word in hexed.findall("\n".join(words))
    )  # digits are signs of base64, too
    found.update((2, word) for word in paired.findall(text))
    if "\\n" in some:
        for piece in set(BROKEN.findall(some)):
            found |= words_in(BREAKS.sub("", piece))
    return found


def decode_words(words: Iterable[Word]) -> str:
    """Return the runs of signs that words mean, decoded once and twice; signs that no name has stand between them."""
    once = _readable_runs(words)
    return GAP.join((once, _readable_runs(words_in(once))))


def _readable_runs(words: Iterable[Word]) -> str:
    some = [*words]
    raw = b"\x01".join(
        [
            *_from_base64(
                [
                    word.translate(_PLAIN_SIGNS)
                    for nth, word in some
                    if nth == 0 and not is_no_base64(word)
                ]
            ),
            *_from_hex([digits_in(word) for nth, word in some if nth]),
        ]
    )
    runs: list[str] = _RUN.findall(raw.decode("latin-1"))
    if not raw.isascii():
        runs += _RUN.findall(raw.translate(None, _HIGH).decode("ascii"))
    runs += [run.replace("\x00", "") for run in runs if "\x00" in run]  # UTF-16
    return GAP.join(runs).replace("\x00", " ")


def _from_base64(words: list[str]) -> Iterator[bytes]:
    """Yield what words mean as base64 from each of their first four signs."""
    for start in range(4):
        whole = [_fill_word(word[start:]) for word in words]
        yield binascii.a2b_base64(_BASE64_GAP.join(whole))


def _fill_word(word: str) -> str:
    """Return a word that is a whole number of bytes: zeros go on where it ends within one."""
    over = len(word) % 4
    if over < 2:
        return word[:-1] if over else word
    return word[:-1] + _LAST[over][word[-1]]


def _from_hex(words: list[str]) -> Iterator[bytes]:
    """Yield what digits mean from each of their first two."""
    for start in (0, 1):
        whole = [
            word[start : len(word) - (len(word) - start) % 2]
            for word in words
            if not start or len(word) % 2
        ]
        yield binascii.unhexlify(_HEX_GAP.join(whole))
