"""Addresses and ids by their shape: of thousands of them each is looked up, none is sought by a pattern of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.redact import addresses

KINDS = ("ipv4", "ipv6", "mac", "device", "uuid")
_RUNS = ("uuid", "device", "mac")  # found in longer runs of digits, too
LEAST_RUN = 12
# Each alternative is a whole address or id; longer shapes come first. For texts in lower case.
SHAPE = re.compile(
    r"(?P<bios>(?<![0-9a-z])(?:[0-9a-f]{2} ){7}[0-9a-f]{2}[ -](?:[0-9a-f]{2} ){7}[0-9a-f]{2}(?![0-9a-z]))"
    r"|(?P<uuid>(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}|[0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{12}(?![0-9a-z])"
    r"|(?<![0-9a-z-])[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-]))"
    r"|(?P<wwn>(?<![0-9a-z:])[0-9a-f]{2}(?::[0-9a-f]{2}){7}(?![0-9a-z:]))"
    r"|(?P<mac>(?<![0-9a-z:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-z:])|(?<![0-9a-z-])[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?![0-9a-z-])"
    r"|(?<![0-9a-z.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![0-9a-z.]))"
    r"|(?P<ipv6>(?<![0-9a-z:])(?=[0-9a-f]{0,4}:)[0-9a-f:]*:[0-9a-f:]*:[0-9a-f]{0,4}(?:\.\d+){0,3}(?![0-9a-z:]))"
    r"|(?P<ipv4>(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)|(?<![\d-])\d{1,3}(?:-\d{1,3}){3}(?![\d-]))"
    r"|(?P<run>[0-9a-f]{12,})"
)


class Shaped(NamedTuple):
    """An address or id of the map that stands in a text, and what stands in its place."""

    start: int
    end: int
    kind: str
    other: str


class AddressShapes:
    """The addresses and ids of a map: kind -> digits, or address -> pseudonym."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        self._sizes: list[tuple[int, str]] = []

    def take(self, kind: str, name: str, other: str) -> None:
        """Take one of them."""
        self.known[kind][name.lower()] = other
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
            other = self.known[kind].get(key)
            if other is not None:
                yield Shaped(*match.span(), kind, self._written(shape, match[0], other))

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
        """Yield ids in a run of digits: the run itself, else those that it begins, ends or holds, the longest first."""
        at = 0
        while at + LEAST_RUN <= len(run):
            found = next(
                (
                    (kind, length, other)
                    for length, kind in self._sizes
                    if (other := self.known[kind].get(run[at : at + length])) is not None and at + length <= len(run)
                ),
                None,
            )
            if found is None:
                at += 1
                continue
            kind, length, other = found
            yield Shaped(start + at, start + at + length, kind, other)
            at += length
