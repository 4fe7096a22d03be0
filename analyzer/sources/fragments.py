"""Joins the pieces `X.FRAG-00000`, `X.FRAG-00001`, ... while they stream by.

vm-support cuts command output above 1 MiB into pieces of 1,048,576 bytes. They
are put together in the order of their numbers; a missing number leaves a gap
that is noted. Pieces that come out of order wait in memory up to a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from analyzer.sources.stream import Block, Stream, StreamFault

PIECE = 1 << 20
_NAME = re.compile(r"^(.+)\.FRAG-(\d{5,9})$")
# A binary cache of some 300 MB that only a host of the same build can read.
VSI_CACHE = "binary VSI cache, only a host of the same build can read it"
_MEASURED = re.compile(r"(?:^|/)vsi_traverse_-s\.txt$")


def split_name(path: str) -> tuple[str, int] | None:
    """Return the joined path and the number of a piece, None when the path is no piece."""
    match = _NAME.match(path)
    return (match[1], int(match[2])) if match else None


def is_measured(path: str) -> bool:
    """Say whether a member is measured only and never read."""
    return bool(_MEASURED.search(path))


def format_gaps(numbers: Iterable[int], first: int = 0) -> str:
    """Return the missing numbers as text such as `00003, 00005-00007`, "" when none is missing."""
    parts: list[str] = []
    expected = first
    for number in sorted(numbers):
        if number > expected:
            last = number - 1
            parts.append(f"{expected:05d}" if last == expected else f"{expected:05d}-{last:05d}")
        expected = max(expected, number + 1)
    return ", ".join(parts[:20]) + (", ..." if len(parts) > 20 else "")


@dataclass(slots=True)
class FragmentGroup:
    """What is known of one fragmented file: pieces that wait, and what went by."""

    path: str
    mtime: float | None = None
    held: dict[int, bytes] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    size: int = 0
    first: int = 0  # number that the next part starts with, after an earlier part was handed out

    def add_seen(self, number: int, size: int) -> None:
        """Count a piece that went by or waits."""
        self.seen.add(number)
        self.size += size

    @property
    def waiting(self) -> int:
        """Bytes that wait."""
        return sum(len(data) for data in self.held.values())

    @property
    def is_whole(self) -> bool:
        """Say whether all pieces up to a short one wait."""
        if len(self.held) < 2:
            return False
        last = max(self.held)
        short = len(self.held[last]) < len(self.held.get(self.first, b""))
        return short and len(self.held) == last + 1 - self.first


class JoinedStream(Stream):
    """Pieces one after another; a number that is not there is a gap.

    pieces  (number, opener) in order; asked for one at a time
    first   number that the first piece should have
    """

    def __init__(self, pieces: Iterable[tuple[int, Callable[[], Stream]]], first: int = 0) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self._expected = first
        self._current: Stream | None = None
        self._ended = False

    def block(self) -> Block:
        """Return the next bytes of the joined file."""
        while not self._ended:
            if self._current is None:
                number, opener = next(self._pieces, (-1, None))
                if opener is None:
                    self._ended = True
                else:
                    if number > self._expected:
                        missing = format_gaps([number], self._expected)
                        what = f"fragment {missing} is missing"
                        self.faults.append(
                            StreamFault(what, self.consumed, "gap", f"fragment {missing}")
                        )
                    self._expected = number + 1
                    self._current = opener()
                continue
            block = self._current.block()
            for fault in self._current.take_faults():
                kind = (
                    "gap" if fault.kind == "cut" else fault.kind
                )  # the next piece goes on behind it
                self.faults.append(
                    StreamFault(fault.what, self.consumed, kind, fault.left_out, fault.noted)
                )
            if len(block):
                self.consumed += len(block)
                return block
            self._current = None
        return b""
