"""Addresses and ids by their shape: of thousands of them each is looked up, none is sought by a pattern of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from analyzer.redact import addresses

KINDS = ("ipv4", "ipv6", "mac", "device", "uuid")
_RUNS = ("uuid", "device", "mac")  # found in longer runs of digits, too
LEAST_RUN = 12
# Each alternative is a whole address or id; longer shapes come first. For texts in lower case.
SHAPE = re.compile(
    r"(?=[0-9a-f:][0-9a-f:. -]{6})(?:"  # what all of them begin with, and few other words
    r"(?P<bios>(?<![0-9a-z])(?:[0-9a-f]{2} ){7}[0-9a-f]{2}[ -](?:[0-9a-f]{2} ){7}[0-9a-f]{2}(?![0-9a-z]))"
    r"|(?P<uuid>(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}|[0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{12}(?![0-9a-z])"
    r"|(?<![0-9a-z-])[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-]))"
    r"|(?P<wwn>(?<![0-9a-z:])[0-9a-f]{2}(?::[0-9a-f]{2}){7}(?![0-9a-z:]))"
    r"|(?P<mac>(?<![0-9a-z:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-z:])|(?<![0-9a-z-])[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?![0-9a-z-])"
    r"|(?<![0-9a-z.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![0-9a-z.]))"
    r"|(?P<ipv6>(?<![0-9a-z:])(?=[0-9a-f]{0,4}:)[0-9a-f:]*:[0-9a-f:]*:[0-9a-f]{0,4}(?:\.\d+){0,3}(?![0-9a-z:]))"
    r"|(?P<ipv4>(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)|(?<![\d-])\d{1,3}(?:-\d{1,3}){3}(?![\d-]))"
    r"|(?P<run>[0-9a-f]{12,}))"
)


class Shaped(NamedTuple):
    """An address or id of the map that stands in a text, and what stands in its place."""

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

    def take(self, kind: str, name: str) -> None:
        """Take one of them."""
        self.known[kind].add(name.lower())
        size = (len(name), kind)
        if kind in _RUNS and len(name) >= LEAST_RUN and size not in self._sizes:
            self._sizes = sorted([*self._sizes, size], reverse=True)

    def found(self, low: str) -> Iterator[Shaped]:
        """Yield what of the map stands in a text in lower case, from left to right."""
        for match in SHAPE.finditer(low):
            shape = match.lastgroup or ""
            if shape == "run":
                yield from self._in_run(match.start(), match[0])
                continue
            kind, key = self._key(shape, match[0])
            if key in self.known[kind]:
                yield Shaped(*match.span(), kind, self._written(shape, match[0], self._given(kind, key)))

    def _given(self, kind: str, key: str) -> str:
        other = self.give(kind, key)
        self.issued.add(other)
        return other

    @staticmethod
    def _key(shape: str, word: str) -> tuple[str, str]:
        if shape == "ipv4":
            return "ipv4", word.replace("-", ".")
        if shape == "ipv6":
            return "ipv6", word
        return {"bios": "uuid", "wwn": "device"}.get(shape, shape), addresses.digits_of(word)

    @staticmethod
    def _written(shape: str, word: str, other: str) -> str:
        if shape == "ipv4":
            return other.replace(".", "-") if "-" in word else other
        return other if shape == "ipv6" else addresses.formed(word, other)

    def _in_run(self, start: int, run: str) -> Iterator[Shaped]:
        """Yield the ids that a run of digits holds, the longest first at each place."""
        at, end = 0, len(run) - LEAST_RUN
        while at <= end:
            for length, kind in self._sizes:
                if at + length <= len(run) and run[at : at + length] in self.known[kind]:
                    yield Shaped(start + at, start + at + length, kind, self._given(kind, run[at : at + length]))
                    at += length
                    break
            else:
                at += 1
