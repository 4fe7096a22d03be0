"""Addresses and ids by their shape: of thousands of them each is looked up, none is sought by a pattern of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from analyzer.redact import addresses

KINDS = ("ipv4", "ipv6", "mac", "device", "uuid")
_RUNS = ("uuid", "device", "mac")  # found in longer runs of digits, too
LEAST_RUN = 12
HEAD = 8  # digits by which most places of a run are passed over
# Each alternative is a whole address or id; longer shapes come first. For texts in lower case.
SHAPE = re.compile(
    # what all of them begin with, and few other words; NUL stands between words that are looked at together
    r"(?=[0-9a-f:][0-9a-f:. _\x00-]{6}|[0-9a-f]{0,4}::)(?:"
    r"(?P<bios>(?<![0-9a-z])(?:[0-9a-f]{2} ){7}[0-9a-f]{2}[ -](?:[0-9a-f]{2} ){7}[0-9a-f]{2}(?![0-9a-z]))"
    r"|(?P<uuid>(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}|[0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{12}(?![0-9a-z])"
    r"|(?<![0-9a-z-])(?:[0-9a-f]{8}-[0-9a-f]{8}|[0-9a-f]{16}-[0-9a-f]{16})(?![0-9a-z-]))"
    # groups between colons: IPv6, MAC, WWN; a word may stand before, a colon behind; clock times are none
    r"|(?P<groups>(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){5})[0-9a-f:]*:[0-9a-f]{0,4}(?:(?<=\d)(?:\.\d{1,3}){3}(?!\d))?)"
    r"|(?P<split>(?:(?<![0-9a-z])|(?<=0x))[0-9a-f]{8}(?:[ :_-](?:0x)?[0-9a-f]{8}){1,3}(?![0-9a-z]))"
    r"|(?P<wwn>(?<![0-9a-z])[0-9a-f]{2}(?:-[0-9a-f]{2}){7}(?![0-9a-z]))"
    r"|(?P<mac>(?<![0-9a-z])[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?![0-9a-z])"
    r"|(?<![0-9a-z])[0-9a-f]{2}(?: [0-9a-f]{2}){5}(?![0-9a-z])"
    r"|(?<![0-9a-z:])[0-9a-f]{6}(?::[0-9a-f]{2}){3}(?![0-9a-z:])"
    r"|(?<![0-9a-z])(?:[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})(?![0-9a-z-])"
    r"|(?<![0-9a-z.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![0-9a-z]|\.[0-9a-f]))"
    r"|(?P<ipv4>(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)"
    r"|(?<!\d)\d{1,3}(?:-\d{1,3}){3}(?!\d)|(?<!\d)\d{1,3}(?:_\d{1,3}){3}(?!\d))"
    r"|(?P<number>(?<=0x)[0-9a-f]{7,8}(?![0-9a-z:]))"
    r"|(?P<decimal>(?<![0-9a-z.])[1-4]?\d{9}(?![0-9a-z]|\.\d))"
    r"|(?P<run>[0-9a-f]{12,}))"
)
# Where a shape may begin and end: runs of the signs that they are made of. Two colons make short addresses, too.
_SPOT = re.compile(r"[0-9a-f:][0-9a-fx:. _\x00-]{6,}")
_SPOT_OF_COLONS = re.compile(
    r"[0-9a-f:](?:[0-9a-fx:. _\x00-]{6,}|(?:(?<=:)|[0-9a-f]{0,3}:):[0-9a-fx:. _\x00-]*)"
)
_GROUP = re.compile(r"[0-9a-f]+")
_MAPPED = re.compile(r"ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4}):?$")
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$")


# Words that may be an address or an id, or hold one; and groups of digits that may be one together.
_TOKEN = re.compile(r"[0-9a-z:._-]{4,}")
_APART = re.compile(r"[0-9a-f]{2} (?:[0-9a-f]{2} [0-9a-f]{2} |(?:0x)?[0-9a-f]{8})")
MOST = 300_000  # words that are remembered
_ARPA = ".in-addr.arpa"


def _reverse_quad(quad: str) -> str:
    """Return four numbers from back to front."""
    return ".".join(reversed(quad.split(".")))


class Shaped(NamedTuple):
    """An address or id of the map that is in a text, and what is in its place."""

    start: int
    end: int
    kind: str
    other: str


class AddressShapes:
    """The addresses and ids of a case; each is given its pseudonym when it is met in a text.

    give  gives the pseudonym of (kind, address or digits)
    """

    def __init__(self, give: Callable[[str, str], str]) -> None:
        self.give = give
        self.known: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.issued: set[str] = set()
        self._sizes: list[tuple[int, str]] = []
        self._heads: set[str] = set()  # first digits of what is in runs
        self._decimals: set[str] = set()  # IPv4 addresses as one number
        self._looked: set[str] = set()  # words in which none stands

    def take_name(self, kind: str, name: str) -> None:
        """Take one of them."""
        self.known[kind].add(name.lower())
        if kind == "ipv4" and addresses.is_ipv4(name):
            self._decimals.add(
                str(int("".join(f"{int(part):02x}" for part in name.split(".")), 16))
            )
        size = (len(name), kind)
        if kind in _RUNS and len(name) >= LEAST_RUN and size not in self._sizes:
            self._sizes = sorted([*self._sizes, size], reverse=True)
        if kind in _RUNS:
            self._heads.add(name[:HEAD].lower())

    def stands_in(self, low: str) -> bool:
        """Say whether something of the map that is not given out is in a text in lower case.

        A word that was looked at is not looked at again; ids whose groups stand apart are sought where such groups are.
        """
        words = set(_TOKEN.findall("\n".join(set(low.split())))) - self._looked
        # The lines of a text in which a pattern is found
        lines_with: list[str] = []
        at = 0
        while found := _APART.search(low, at):
            end = low.find("\n", found.end())
            at = len(low) if end < 0 else end
            lines_with.append(low[low.rfind("\n", 0, found.start()) + 1 : at])
        spaced = [*lines_with]
        text = "\x00".join((*words, *spaced))
        if any(not self.is_given(one, text) for one in self.find_shaped(text)):
            return True
        self._looked |= words
        if len(self._looked) > MOST:
            self._looked.clear()
        return False

    def is_given(self, one: Shaped, low: str) -> bool:
        """Say whether what is there in a text in lower case is a pseudonym."""
        word = low[one.start : one.end]
        return one.other == word or word in self.issued or addresses.digits_of(word) in self.issued

    def find_shaped(self, low: str) -> Iterator[Shaped]:
        """Yield what of the map is in a text in lower case, from left to right."""
        for spot in (_SPOT_OF_COLONS if "::" in low else _SPOT).finditer(low):
            at, end = spot.start(), spot.end() + 1  # the sign behind it is no sign of a shape
            while match := SHAPE.search(low, at, end):
                shape, at = match.lastgroup or "", match.end()
                if shape == "run":
                    yield from self._in_run(match.start(), match[0])
                elif shape == "groups":
                    yield from self._in_groups(low, *match.span())
                elif (
                    shape == "decimal" and match[0] not in self._decimals
                ):  # most numbers of this length are counters
                    continue
                elif shape in ("number", "decimal") or (
                    shape == "ipv4" and low.startswith(_ARPA, at)
                ):
                    yield from self._turned_addresses(shape, match.start(), match[0])
                elif (known := self._known_address(shape, match.start(), match[0])) is not None:
                    yield known
                else:
                    at = match.start() + 1  # it may begin inside

    def _known_address(self, shape: str, start: int, word: str) -> Shaped | None:
        """Return the address or id that a word of some shape is, None when the map has none such."""
        kind = {"bios": "uuid", "wwn": "device", "split": "device"}.get(shape, shape)
        if shape == "ipv4":
            key = ".".join(str(int(part)) for part in re.split("[-._]", word))
        elif shape == "split":
            key = addresses.digits_of(word.replace("0x", ""))
        else:
            key = addresses.ipv6_key(word) if shape == "ipv6" else addresses.digits_of(word)
        if key not in self.known[kind]:
            return None
        other = self.give(kind, key)
        if shape == "ipv4":
            written = other.replace(".", "-" if "-" in word else "_" if "_" in word else ".")
        elif shape == "split":
            left = iter(other)
            written = re.sub(
                "0x|[0-9a-f]", lambda one: one[0] if one[0] == "0x" else next(left), word
            )
        else:
            written = (
                addresses.ipv6_like(word, other)
                if shape == "ipv6"
                else addresses.replace_digits(word, other)
            )
        self.issued.update((other, written))
        return Shaped(start, start + len(word), kind, written)

    def _turned_addresses(self, shape: str, start: int, word: str) -> Iterator[Shaped]:
        """Yield the IPv4 address that one number is, or one from back to front (`.in-addr.arpa`)."""
        if shape == "ipv4":
            key = _reverse_quad(word)
        else:
            number = int(word, 16 if shape == "number" else 10)
            if number >= 1 << 32:
                return
            key = ".".join(map(str, number.to_bytes(4)))
        if key in self.known["ipv4"]:
            other = self.give("ipv4", key)
            digits = bytes(map(int, other.split("."))).hex()
            if shape == "ipv4":
                new = _reverse_quad(other)
            elif shape == "decimal":
                new = str(int(digits, 16))
            else:
                new = digits[1:] if len(word) == 7 and digits[0] == "0" else digits
            self.issued.update((other, new))
            yield Shaped(start, start + len(word), "ipv4", new)

    def _in_groups(self, low: str, start: int, end: int) -> Iterator[Shaped]:
        """Yield the addresses that groups of digits between colons hold: all of them one, or some in a row."""
        word = low[start:end]
        groups = list(_GROUP.finditer(word))
        whole = (
            self._grouped_address(start, word, groups)
            or self._ipv6(low, start, end)
            or self._mapped_address(start, word)
        )
        if whole is not None:
            yield whole
            return
        at = 0
        while at < len(groups):
            step = 1
            for count in (8, 6):
                one = self._grouped_address(start, word, groups[at : at + count])
                if one is not None:
                    yield one
                    step = count
                    break
            at += step
        tail = _IPV4.search(word)
        if tail and (one := self._known_address("ipv4", start + tail.start(), tail[0])):
            yield one

    def _mapped_address(self, start: int, word: str) -> Shaped | None:
        """Return the IPv4 address that is written as `::ffff:0a14:1e04`."""
        if (found := _MAPPED.search(word)) is None:
            return None
        numbers = [*int(found[1], 16).to_bytes(2), *int(found[2], 16).to_bytes(2)]
        key = ".".join(map(str, numbers))
        if key not in self.known["ipv4"]:
            return None
        one, two, three, four = map(int, self.give("ipv4", key).split("."))
        new = f"{one << 8 | two:x}:{three << 8 | four:x}"
        self.issued.add(new)
        return Shaped(start + found.start(1), start + found.end(2), "ipv4", new)

    def _ipv6(self, low: str, start: int, end: int) -> Shaped | None:
        """Return the IPv6 address that groups are, without the end of a word before (`mac:`) and a colon behind."""
        if start and low[start - 1].isalnum() and low[start] != ":":
            start = low.index(":", start) + 1
        if low.startswith(":", start) and not low.startswith("::", start):
            start += 1
        words = (low[start:end], low[start : end - 1] if low[end - 1] == ":" else "")
        return next(
            filter(None, (self._known_address("ipv6", start, word) for word in words if word)), None
        )

    def _grouped_address(self, start: int, word: str, groups: list[re.Match[str]]) -> Shaped | None:
        """Return the WWN of eight or the MAC address of six groups of two digits, None for one the map lacks."""
        span = word[groups[0].start() : groups[-1].end()] if groups else ""
        if len(groups) not in (6, 8) or len(span) != 3 * len(groups) - 1:
            return None
        return self._known_address(
            "mac" if len(groups) == 6 else "wwn", start + groups[0].start(), span
        )

    def _in_run(self, start: int, run: str) -> Iterator[Shaped]:
        """Yield the ids that a run of digits holds, the longest first at each place."""
        heads = self._heads
        at, end = 0, len(run) - LEAST_RUN
        while at <= end:
            if run[at : at + HEAD] not in heads:
                at += 1
                continue
            for length, kind in self._sizes:
                if at + length <= len(run) and (known := run[at : at + length]) in self.known[kind]:
                    other = self.give(kind, known)
                    self.issued.add(other)
                    yield Shaped(start + at, start + at + length, kind, other)
                    at += length
                    break
            else:
                at += 1
