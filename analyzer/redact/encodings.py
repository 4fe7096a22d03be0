"""What a text means once a reader's program has decoded it: entities, percent signs, escapes, base64, hexadecimal.

Of thousands of words nearly none means a name. To tell that, `decode_words` decodes all of them at once, from each of
the first places at which what is encoded may begin, and keeps the runs of signs that a name may have.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

# Signs that are not seen, and what pages write for them.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SPLITS = re.compile(r"&(?i:#8203|#173|shy|zwsp|ZeroWidthSpace);")
_TAGS = re.compile(r"<(?:/?(?i:b|i|em|mark|span|code|strong|a)\b[^<>]{0,200}|(?i:wbr) ?/?)>")
# A sign and then any of it, not `\\+`: a pattern that begins with a plain sign is found up to twenty times faster.
_JSON = re.compile(r"\\\\*(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_ESCAPED = re.compile(r"\\[ux]")
_COLOURS = re.compile("\x1b\\[[0-9;]{0,20}m")
TWICE = 2  # an address within an address
OCTAL = re.compile(r"\\([01][0-7]{2})(?![0-9])")
# Each begins with a set of signs, which is found fast; what comes before is looked at behind the first sign.
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{7,}={0,2}")
HEXED = re.compile(r"[0-9a-fA-F](?:(?<![0-9A-Za-z].)|(?<=\b0[xX].))[0-9a-fA-F]{9,}(?![0-9A-Za-z])")
# Pairs of digits apart, as dumps have them: `7a 71 65`, `7a:71:65`, `0x7a, 0x71`.
_PAIRED = re.compile(
    r"[0-9a-fA-F](?<![0-9A-Za-z].)(?:x[0-9a-fA-F]{2}|[0-9a-fA-F])"
    r"(?:(?:[ :,-]|, )(?:0x)?[0-9a-fA-F]{2}){4,}(?![0-9A-Za-z])"
)
_NO_DIGITS = re.compile(r"0x|[^0-9a-fA-F]")
BREAKS = re.compile(r"(?:\\r)?\\n")
BROKEN = re.compile(
    r"[A-Za-z0-9+/]{16,}(?:(?:\\r)?\\n[A-Za-z0-9+/]{4,})+={0,2}"
)  # line ends written as signs
LEAST_ENCODED = 5  # characters of a name that is sought in what may be base64 or hexadecimal
LEAST_CUT = 16  # signs of base64 or hexadecimal at the end of a line that may go on in the next
_ID = re.compile(r"[0-9a-f_-]+")
_AGAIN = re.compile(r"[A-Za-z0-9+/_-]{7}")
_AT_END = re.compile(r"[\"'(\[>=:]*([A-Za-z0-9+/_-]{16,}={0,2})[\"',;)\]]*")
_NO_TEXT = bytes(sign for sign in range(256) if not 32 <= sign < 127)
LONGEST = 4096  # characters of such a word that are decoded at once
_OVERLAP = 512  # characters that two parts of a longer one share: more than a name has


def _may_hold_name(raw: bytes) -> bool:
    """Say whether bytes may hold a name: so many of them are letters and signs."""
    return len(raw.translate(None, _NO_TEXT)) >= LEAST_ENCODED


def _decode_readings(raw: bytes) -> Iterator[str]:
    yield raw.decode("latin-1").replace("\x00", " ")
    if raw.count(0) * 3 > len(raw):  # UTF-16, from either end
        yield raw.replace(b"\x00", b"").decode("latin-1")
    if not raw.isascii() and len(plain := raw.decode("utf-8", errors="ignore")) >= LEAST_ENCODED:
        yield plain.replace("\x00", " ")


def decode_text(text: str) -> str:
    """Return a text with all that a reader's program takes away or decodes."""
    plain = text
    if "&" in plain:
        plain = html.unescape(plain)
    for _ in range(TWICE):
        if "%" in plain:
            plain = unquote(plain, errors="replace")
    if "\\" in plain:
        if _ESCAPED.search(plain):
            plain = _JSON.sub(lambda one: chr(int(one[1] or one[2], 16)), plain)
        plain = OCTAL.sub(lambda one: chr(int(one[1], 8)), plain)
    if "\x1b" in plain:
        plain = _COLOURS.sub("", plain)
    if not plain.isascii():
        plain = plain.replace("\u2026", "...").replace("\xa0", " ")  # mostly these are all
        if not unicodedata.is_normalized("NFKC", plain):
            plain = unicodedata.normalize("NFKC", plain)
        plain = _UNSEEN.sub("", plain)
    if "&" in plain:
        plain = _SPLITS.sub("", plain)
    if "<" in plain:
        plain = _TAGS.sub("", plain)
    return plain


def is_no_base64(word: str) -> bool:
    """Say whether a word is a number or an id: by chance no name reads so."""
    return word.isdecimal() or (word.islower() and _ID.fullmatch(word) is not None)


def digits_in(word: str) -> str:
    """Return the digits of a word, or of pairs of digits, without the signs between them."""
    return _NO_DIGITS.sub("", word)


def from_base64(word: str) -> Iterator[str]:
    """Yield what a word means as base64, from each of its first four places; only what reads as text."""
    if is_no_base64(word):
        return
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    for start in range(4):
        part = plain[start : len(plain) - ((len(plain) - start) % 4 == 1)]
        raw = base64.b64decode(part + "=" * (-len(part) % 4))
        if _may_hold_name(raw):
            yield from _decode_readings(raw)


def from_hex(word: str) -> Iterator[str]:
    """Yield what a word means as hexadecimal, from each of its first two digits; only what reads as text."""
    for start in range(1 + len(word) % 2):
        raw = binascii.unhexlify(word[start : start + (len(word) - start) // 2 * 2])
        if _may_hold_name(raw):
            yield from _decode_readings(raw)
            yield raw.decode("utf-16-le", errors="replace").replace("\x00", " ")


ENCODED = (
    ("in base64", BASE64, from_base64),
    ("in hexadecimal", HEXED, from_hex),
    ("in hexadecimal", _PAIRED, lambda word: from_hex(digits_in(word))),
)


def encoded_words(text: str, *, within: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield (how, word, what it means) of words that may be base64 or hexadecimal, each word once.

    within  the text is what such a word means: one that is encoded twice is not looked for in it
    """
    for how, pattern, decode in ENCODED:
        for word in dict.fromkeys(pattern.findall(text)):
            for at in range(0, max(1, len(word) - _OVERLAP), LONGEST - _OVERLAP):
                for part in decode(word[at : at + LONGEST]):
                    yield how, word, part
                    if not within and _AGAIN.search(part):
                        yield from (
                            (how, word, inner) for _, _, inner in encoded_words(part, within=True)
                        )
    for piece in dict.fromkeys(BROKEN.findall(text)) if "\\n" in text and not within else ():
        yield from (
            (how, piece, part) for how, _, part in encoded_words(BREAKS.sub("", piece), within=True)
        )


def cut_words(
    texts: Iterable[str], known: dict[str, str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield (word, word, both) of words at the ends of texts that follow each other, which may be one that was cut.

    known  texts and the words at their ends, "" for none: what was looked at before, and now
    """
    known = {} if known is None else known
    last = ""
    for text in texts:
        word = known.get(text)
        if word is None:
            if len(text) < LEAST_CUT or len(text) - (at := text.rfind(" ") + 1) < LEAST_CUT:
                at_end = ""
            else:
                found = _AT_END.fullmatch(text, at)
                at_end = "" if found is None else found[1]
            word = known[text] = at_end
        if word:
            if last and last != word:
                yield last, word, last.rstrip("=") + word
            last = word


Word = tuple[int, str]  # which of `ENCODED`, and the word
GAP = "\x01"  # between runs: no sign of a name
PLAIN = re.compile(r"[\x20-\x7e]*")  # only names of such signs can be found here
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
    base64: list[str] = []
    hexed: list[str] = []
    for nth, word in words:
        if nth:
            hexed.append(digits_in(word))
        elif not is_no_base64(word):
            base64.append(word.translate(_PLAIN_SIGNS))
    decoded: list[bytes] = []
    for start in range(4):  # base64 may begin at any of the first four signs
        whole = []
        for word in base64:
            part = word[start:]
            over = len(part) % 4
            if over:  # it ends within a byte: zeros go on there
                part = part[:-1] + (_LAST[over][part[-1]] if over > 1 else "")
            whole.append(part)
        decoded.append(binascii.a2b_base64(_BASE64_GAP.join(whole)))
    for start in (0, 1):
        whole = []
        for digits in hexed:
            if not start or len(digits) % 2:
                whole.append(digits[start : len(digits) - (len(digits) - start) % 2])
        decoded.append(binascii.unhexlify(_HEX_GAP.join(whole)))
    raw = b"\x01".join(decoded)
    runs: list[str] = _RUN.findall(raw.decode("latin-1"))
    if not raw.isascii():
        runs += _RUN.findall(raw.translate(None, _HIGH).decode("ascii"))
    runs += [run.replace("\x00", "") for run in runs if "\x00" in run]  # UTF-16
    return GAP.join(runs).replace("\x00", " ")
