"""Looks for names in what was redacted by eyes of its own: it shares no code with what replaces names.

Who replaces a name knows its spellings, and so does a check made of the same list: what one overlooks, so does the other.
Here a name is a skeleton: letters without their marks, digits without zeros before them, no signs. It is found however its
parts are joined (`esx-07`, `ESX 07`, `esx‐007`, `e\u0301sx.7`), and cut, from eight signs. Addresses are found by their
numbers, ids by their digits, in whatever groups they stand.

Not looked for are names made of words of the product alone: those stand in every report.
"""

from __future__ import annotations

import html
import ipaddress
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

LEAST = 5  # signs of a skeleton; of fewer many words are made
LEAST_CUT = 8  # signs of the beginning of a name
LEAST_PART = (
    10  # of a beginning that is a part of its first word: `exchange` is no `exchangeserver`
)
HEAD = 3  # signs by which names are sorted
BEGINNING = 8  # signs by which most words are passed over
LONGEST = 80  # signs that are joined at one place
MOST = 100_000  # words that are remembered
ROOM = 16_000_000  # signs of lines that are remembered
_IDS = frozenset(("mac", "device", "uuid"))  # known by their digits
_PIECE = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
# Parts of one name stand so near to each other; a quote, a comma or a tag ends what a name may be.
_JOINED = re.compile(r"[^\W_]+(?:(?:[^\w\"<>,;|\n]|_){1,3}[^\W_]+){0,11}")
# One sign after the other: `e s x - 0 7`
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[ _.-]{1,3}[^\W_](?![^\W_])){5,}")
_QUAD = re.compile(
    r"(?<![\d.])(\d{1,5})(\W{1,3}|\W?dot\W?|_)(\d{1,5})\2(\d{1,5})\2(\d{1,5})(?![\d]|\.\d)"
)
# As C reads them: numbers in octal or hexadecimal, the last one for all that are not there.
_QUAD_OF_C = re.compile(
    r"(?<![\w.])(?:0x[0-9a-f]{1,2}(?:\.0x[0-9a-f]{1,2}){3}|0o?[0-7]{1,3}(?:\.0o?[0-7]{1,3}){3}"
    r"|0[0-7]{10,11}|\d{1,3}\.\d{1,3}\.\d{3,5})(?![\w.])"
)
_LISTED = re.compile(r"[\s,:;/|+*=<>\"'-]+$")  # between numbers that are no address
_COLONS = re.compile(r"(?<![0-9a-f:])[0-9a-f:]*:[0-9a-f]{0,4}:[0-9a-f:]*")
_HYPHENS = re.compile(r"[0-9a-f]{1,4}(?:-{1,2}[0-9a-f]{1,4}){1,7}(?=\.ipv6-literal)")
_NIBBLES = re.compile(r"[0-9a-f](?:\.[0-9a-f]){31}")  # of .ip6.arpa
_MAPPED = ("0" * 20 + "ffff", "0" * 24, "0064ff9b" + "0" * 16)  # before an IPv4 address
_SHORT_GROUPS = re.compile(r"(?<![0-9a-f:-])[0-9a-f]{1,2}(?:[:-][0-9a-f]{1,2}){5}(?![0-9a-f:-])")
_HEX_RUN = re.compile(r"[0-9a-f]{2,}(?:[^0-9a-z\n\"<>,;]{1,2}[0-9a-f]{2,})*")
_BYTES = re.compile(r"(?:(?:\\x|0x)[0-9a-f]{2}[, :]{0,2}){6,}")
_NO_HEX = re.compile(r"0x|[^0-9a-f]+")
_LEAST_RUN = 12
# Words of logs that hold no name: numbers, times.
_COUNTED = re.compile(r"[\d:TZ+-]{,30}(?:\.\d+Z?)?|\W*0x[0-9a-f]{1,11}\W*|\d+[\W_]*[a-z]{0,2}\W?")
_CODED_BYTES = re.compile(r"(?:=[0-9a-fA-F]{2}){2,}|(?:\\[0-3][0-7]{2}){2,}")
_CODES = re.compile(
    r"(?=[&%=\\])(?:&#?\w{1,10};|%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
    r"|=[0-9a-fA-F]{2}=|\\[0-3][0-7]{2}\\)"
)
ROUNDS = 3  # codes in codes
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_HIDDEN = re.compile("[\u00ad\u0300-\u036f\u200b-\u200f\u2060\ufeff]")
# Letters of other alphabets that look like ours.
_ALIKE = str.maketrans("аеорсхуіјѕԁһӏαορτν", "aeopcxyijsdhlaoptv")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


class SeenName(NamedTuple):
    """A name that is left: its line, how it is written, its kind; never the name itself."""

    line: int
    how: str
    kind: str


class _Skeleton(NamedTuple):
    """A name as it is sought: its signs, where its first part ends (0: it is sought whole alone), its kind."""

    signs: str
    first: int
    kind: str


@cache
def _product_words() -> frozenset[str]:
    listed = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8")
    return frozenset(listed.split("\n"))


def fold_text(text: str) -> str:
    """Return a text in small letters without marks, and with plain letters for those that look like them."""
    low = text.lower()
    if low.isascii():
        return low
    plain = _HIDDEN.sub("", unicodedata.normalize("NFKD", low))
    return plain.casefold().translate(_ALIKE)


def _pieces_of(text: str) -> list[str]:
    return [_ZEROS.sub("", piece) for piece in _PIECE.findall(text)]


def _is_all_words(text: str) -> bool:
    """Say whether all letters of a name are words of the product: `edge node 1`."""
    words = _product_words()
    return all(len(run) < HEAD or run in words for run in _LETTERS.findall(text))


class ClearLines:
    """Lines in which no name is: what results say again and again is looked at once."""

    def __init__(self) -> None:
        self._lines: set[str] = set()
        self._signs = 0

    def list_fresh(self, lines: Iterable[str]) -> list[str]:
        """Return the lines that were not looked at before."""
        return [line for line in lines if line not in self._lines]

    def remember(self, lines: Iterable[str]) -> None:
        """Remember fresh lines, as long as there is room."""
        if self._signs > ROOM:
            self._lines.clear()
            self._signs = 0
        own = {line for line in lines if len(line) < ROOM // 1000}
        self._signs += sum(map(len, own))
        self._lines |= own


class SecondLook:
    """Seeks the originals of a run in its results.

    names   (kind, name) of what was replaced
    issued  pseudonyms; what one of them says is no survivor
    """

    def __init__(self, names: Iterable[tuple[str, str]], issued: Iterable[str]) -> None:
        self._heads: dict[str, dict[str, _Skeleton]] = defaultdict(dict)
        self._firsts: set[str] = set()  # first parts of names that have several
        self._issued = {"".join(_pieces_of(fold_text(one))) for one in issued}
        self._quads: set[tuple[int, ...]] = set()
        self._ipv6: set[str] = set()
        self._ids: dict[str, str] = {}  # digits -> kind
        for kind, name in names:
            if kind in _IDS:
                if len(name) >= _LEAST_RUN and len(name.strip("0")) > HEAD:
                    self._ids[name.lower()] = kind
            elif kind == "ipv4":
                self._quads.add(tuple(int(number) for number in name.split(".")))
            elif kind == "ipv6":
                self._ipv6.add(whole := _write_ipv6(name))
                self._ids[whole.replace(":", "")] = kind
            else:
                self._take_name(kind, name)
        self._id_heads = {digits[:_LEAST_RUN] for digits in self._ids}
        own = {signs for named in self._heads.values() for signs in named}
        self._beginnings = _list_beginnings(own)
        self._ways_on = self._beginnings | _list_beginnings(self._issued)
        self._firsts |= {digits[:4] for digits in self._ids} | {digits[:8] for digits in self._ids}
        self._looked: set[str] = set()  # words of logs
        self._opening: set[str] = set()  # words of logs behind which a name may go on
        self._clear = ClearLines()
        self._hot: dict[str, bool] = {}  # piece -> whether a name may begin with it

    def _take_name(self, kind: str, name: str) -> None:
        for plain in {fold_text(name), fold_text(name.lower().translate(_UMLAUTS))}:
            pieces = _pieces_of(plain)
            signs = "".join(pieces)
            short = len(signs) < LEAST or signs.isdecimal()
            if short or signs in self._issued or _is_all_words(plain):
                continue
            if len(pieces) > 1:
                self._firsts.add(pieces[0])
            first = len(pieces[0]) if kind != "input" else 0
            self._heads[signs[:HEAD]][signs] = _Skeleton(signs, first, kind)
            # From back to front: `example.lab.esx07`, `Roe Jane`
            labels = plain.split(".") if "." in plain else pieces
            turned = "".join(_pieces_of(" ".join(reversed(labels))))
            self._heads[turned[:HEAD]].setdefault(turned, _Skeleton(turned, 0, kind))
            self._firsts.update(_pieces_of(labels[-1])[:1])

    def find_survivors(self, text: str) -> Iterator[SeenName]:
        """Yield what is left in a text, the first of each spelling."""
        lines = text.split("\n")
        fresh = self._clear.list_fresh(lines)
        if not fresh:
            return
        named: set[tuple[str, str]] = set()
        for reading in _read_ways("\n".join(fresh)):
            for at, how, kind in self._search(reading):
                if (how, kind) not in named:
                    named.add((how, kind))
                    row = reading.count("\n", 0, at)
                    line = fresh[row] if row < len(fresh) else fresh[-1]
                    yield SeenName(lines.index(line) + 1, how, kind)
        if not named:
            self._clear.remember(fresh)

    def find_in_lines(self, lines: Sequence[str], met: Set[str]) -> Iterator[SeenName]:
        """Yield what is left in lines of a log: each word is looked at once, and whole the lines where a name may go on.

        Of millions of lines nearly all words came before. met: the words of the lines
        """
        words = met - self._looked
        if len(self._looked) > MOST:
            self._looked.clear()
        self._looked |= words
        telling = [word for word in words if len(word) >= LEAST and not _COUNTED.fullmatch(word)]
        found = next(self._search_ways("\n".join(telling)), None) if telling else None
        self._opening.update(word for word in words if self._may_go_on(word))
        opening = self._opening & met
        whole = []
        if found:
            whole = [*lines]
        elif opening:
            whole = [line for line in lines if not opening.isdisjoint(line.split())]
        for seen in self.find_survivors("\n".join(whole)):
            yield seen._replace(line=lines.index(whole[seen.line - 1]) + 1)

    def _may_go_on(self, word: str) -> bool:
        """Say whether a name, or an id, may go on behind the end of a word."""
        last = _PIECE.findall(word[-LONGEST:])
        if not last:
            return False
        folded = fold_text(last[-1])
        return folded in self._firsts or _ZEROS.sub("", folded) in self._firsts

    def _search_ways(self, text: str) -> Iterator[tuple[int, str, str]]:
        for reading in _read_ways(text):
            yield from self._search(reading)

    def _search(self, low: str) -> Iterator[tuple[int, str, str]]:
        """Yield place, spelling and kind of what is left in a folded text."""
        if self._heads and any(map(self._may_begin, set(_PIECE.findall(low)))):
            yield from self._search_names(low)
        if self._quads:
            yield from self._search_quads(low)
        if self._ids:
            yield from self._search_ids(low)
        hyphens = _HYPHENS.finditer(low) if "ipv6-literal" in low else ()
        for found in (*_COLONS.finditer(low), *hyphens):
            word = found[0].replace("-", ":")
            if ("::" in word or word.count(":") > 6) and self._is_left(word):
                yield found.start(), "written otherwise", "ipv6"

    def _is_left(self, word: str) -> bool:
        """Say whether an IPv6 address is one that was replaced, or is made of one, or of a MAC address."""
        whole = _write_ipv6(word) or _write_ipv6(word.rstrip(":"))
        digits = whole.replace(":", "")
        inner = digits[24:] if digits[:24] in _MAPPED else digits[4:12]
        quad = tuple(bytes.fromhex(inner))
        if whole in self._ipv6 or (
            (digits[:24] in _MAPPED or digits[:4] == "2002") and quad in self._quads
        ):
            return True
        mac = f"{int(digits[16:18] or '0', 16) ^ 2:02x}{digits[18:22]}{digits[26:]}"
        return digits[22:26] == "fffe" and mac in self._ids

    def _may_begin(self, piece: str) -> bool:
        known = self._hot.get(piece)
        if known is None:
            if len(self._hot) > MOST:
                self._hot.clear()
            known = self._hot[piece] = _ZEROS.sub("", piece)[:BEGINNING] in self._beginnings
        return known

    def _search_names(self, low: str) -> Iterator[tuple[int, str, str]]:
        for piece in _PIECE.finditer(low):
            if self._may_begin(piece[0]):
                how_kind = self._name_at(low, piece.start())
                if how_kind is not None:
                    yield piece.start(), *how_kind

    def _name_at(self, low: str, at: int) -> tuple[str, str] | None:
        """Return spelling and kind of the name that begins at a place, None for none."""
        joined = _JOINED.match(low, at)
        if joined is None:
            return None
        signs, telling = "", LONGEST
        ends: set[int] = set()
        for piece in _PIECE.findall(joined[0]):
            signs += _ZEROS.sub("", piece)
            if signs[:BEGINNING] not in self._ways_on:
                break  # neither a name nor a pseudonym goes on like this
            ends.add(len(signs))
            if telling == LONGEST and not _is_all_words(piece):
                telling = len(signs)
            if len(signs) > LONGEST:
                break
        ends = {end for end in ends if end >= telling}  # words of the product alone are no name
        if any(signs.startswith(one) and len(one) in ends for one in self._issued_at(signs)):
            return None
        for skeleton in self._heads.get(signs[:HEAD], {}).values():
            own = skeleton.signs
            if signs.startswith(own) and len(own) in ends:
                return "written otherwise", skeleton.kind
            if skeleton.first and _is_cut(skeleton, signs, ends):
                return "cut", skeleton.kind
        return None

    def _issued_at(self, signs: str) -> Iterable[str]:
        return (
            signs[:size]
            for size in range(LEAST, min(len(signs), LONGEST) + 1)
            if signs[:size] in self._issued
        )

    def _search_quads(self, low: str) -> Iterator[tuple[int, str, str]]:
        for found in _QUAD.finditer(low):
            if tuple(int(found[group]) for group in (1, 3, 4, 5)) not in self._quads:
                continue
            if not _LISTED.match(found[2]):
                yield found.start(), "written otherwise", "ipv4"
        for found in _QUAD_OF_C.finditer(low):
            *numbers, last = map(_read_number_of_c, found[0].split("."))
            room = 4 - len(numbers)
            if last < 256**room and (*numbers, *last.to_bytes(room)) in self._quads:
                yield found.start(), "as C reads it", "ipv4"

    def _search_ids(self, low: str) -> Iterator[tuple[int, str, str]]:
        for found in _SHORT_GROUPS.finditer(low):
            digits = "".join(group.zfill(2) for group in re.split("[:-]", found[0]))
            if digits in self._ids:
                yield found.start(), "without its zeros", self._ids[digits]
        nibbles = _NIBBLES.finditer(low) if ".arpa" in low else ()
        runs = [(one.start(), _NO_HEX.sub("", one[0])[::-1]) for one in nibbles]
        has_bytes = any(sign in low for sign in ("\\x", ",0x", ", 0x", ":0x"))
        for pattern in (_HEX_RUN, _BYTES) if has_bytes else (_HEX_RUN,):
            runs += [
                (one.start(), _NO_HEX.sub("", one[0]))
                for one in pattern.finditer(low)
                if len(one[0]) >= _LEAST_RUN
            ]
        for at, digits in runs:
            for start in range(len(digits) - _LEAST_RUN + 1):
                if digits[start : start + _LEAST_RUN] not in self._id_heads:
                    continue
                for size in (_LEAST_RUN, 16, 32):
                    kind = self._ids.get(digits[start : start + size])
                    if kind is not None:
                        yield at, "in other groups", kind


def _list_beginnings(skeletons: Iterable[str]) -> set[str]:
    return {signs[:size] for signs in skeletons for size in range(1, BEGINNING + 1)}


def _is_cut(skeleton: _Skeleton, signs: str, ends: set[int]) -> bool:
    """Say whether words are the beginning of a name, cut behind a sign that no part of another word has."""
    own = skeleton.signs
    for end in ends:
        if not LEAST_CUT <= end < len(own) or not own.startswith(signs[:end]):
            continue
        is_telling = end > skeleton.first or any(map(str.isdigit, signs[:end])) or end >= LEAST_PART
        if is_telling and end != skeleton.first:
            return True
    return False


def _write_ipv6(text: str) -> str:
    """Return an IPv6 address in all its digits, "" for what is none."""
    try:
        return ipaddress.IPv6Address(text).exploded
    except ValueError:
        return ""


def _read_ways(text: str) -> Iterator[str]:
    """Yield a text folded, and as it reads once its codes are read, line by line as before."""
    yield (folded := fold_text(text))
    plain = text
    for _ in range(ROUNDS if _CODES.search(text) else 0):
        opened = unquote(html.unescape(_CODED_BYTES.sub(_read_bytes, plain)), errors="replace")
        plain = _ESCAPE.sub(_read_escape, opened)
    if plain != text:
        same = plain.count("\n") == text.count("\n")
        yield fold_text(plain if same else " ".join(plain.split("\n")))
    if _SPACED.search(folded):
        yield _SPACED.sub(lambda found: re.sub("[ _.-]", "", found[0]), folded)


def _read_bytes(found: re.Match[str]) -> str:
    sign, base = ("=", 16) if found[0].startswith("=") else ("\\", 8)
    return bytes(int(one, base) for one in found[0].split(sign)[1:]).decode(errors="replace")


def _read_escape(found: re.Match[str]) -> str:
    return chr(int(found[1] or found[2], 16))


def _read_number_of_c(text: str) -> int:
    """Return a part of an address as C reads it: 0x and 0 stand before other bases; 08 is none of them, and 8."""
    if text.startswith("0x"):
        return int(text, 16)
    return int(text.removeprefix("0o"), 8 if re.fullmatch("0o?[0-7]+", text) else 10)
