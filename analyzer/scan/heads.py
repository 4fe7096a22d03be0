"""Counts log lines that match no known format, at a fraction of the cost of the search.

A log is searched, not parsed; a form that changed in a new release, or a log that came through a syslog server,
would otherwise look as if it had been read. The head of a line decides (Parser.shape): a line that bears
a time and has no known head is not understood, nor are the lines below it up to the next head; any
other line without a time continues the line above it.

The first `WHOLE` bytes of a log, counted over all members of one place, are looked at line by line. From there on
it is the first `PART` bytes of each block: reading every head of a large log would take ten times as
long as the search itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from analyzer.artefacts.logtime import stamp_pattern
from analyzer.scan.blocks import Buffer, LineBlock
from analyzer.secrets.values import hide_around

WHOLE = 1 << 19
FIRST = 16 << 10  # of each member, when the bytes of its place are used up
PART = 2 << 10
SHOWN = 5  # lines of a member that are kept as examples
_TRIED = 1000  # lines of a member with a strange head that are shown to the parser: its forms have the last word


_CONTINUES = re.compile(rb"(?:(?:[ \t]|-->|Caused by:|[\])}])[^\n]*\n)*+")


@dataclass(slots=True)
class Purse:
    """The bytes that may still be looked at line by line, for all members of a log in one place."""

    left: int = WHOLE


@dataclass(slots=True)
class Heads:
    """What was counted of one member; hand it each block in order.

    heads    regexes of the head of a line (Parser.shape), as text; without any nothing is looked at
    takes    says whether a parser takes a line; asked of lines whose head is strange
    looked   lines looked at; strange: those of them that no form takes
    shown    number and text of the first strange lines
    """

    heads: Sequence[str]
    takes: Callable[[str], bool]
    purse: Purse
    looked: int = 0
    strange: int = 0
    shown: list[tuple[int, str]] = field(default_factory=list)
    _run: re.Pattern[bytes] | None = None
    _below: re.Pattern[bytes] | None = None
    _tried: int = 0
    _known: int = 0  # of these, lines that the parser took
    _begun: bool = False
    _broken: bool = False  # the line before was strange: what continues it is strange, too

    def __post_init__(self) -> None:
        heads = [head.removeprefix("^") for head in self.heads if head]
        if heads:
            below = rb"(?:(?!\s*(?:" + stamp_pattern() + rb"))[^\n]*\n)*+"
            run = (
                rb"(?:[ \t\r]*\n|(?:"
                + "|".join(f"(?:{head})" for head in heads).encode()
                + rb")[^\n]*\n"
                + below
                + rb")++"
            )
            self._run, self._below = re.compile(run), re.compile(below)

    def see_block(self, block: LineBlock) -> None:
        """Look at a block, or at a part of it."""
        if self._run is None or self._below is None or self._is_uncertain():
            return
        data = block.data
        most = max(self.purse.left, PART if self._begun else FIRST)
        self.purse.left = max(0, self.purse.left - block.end)
        stop = block.end
        if most < stop:
            stop = data.rfind(b"\n", 0, most) + 1 or data.find(b"\n") + 1
        at = 0
        if not self._broken:
            # what continues a line of the block before, or of the rotated member before
            found = (self._below if self._begun else _CONTINUES).match(data, 0, stop)
            at = found.end() if found else 0
        self._begun = True
        while at < stop and not self._is_uncertain():
            found = self._run.match(data, at, stop)
            if found:
                self._broken = False
                at = found.end()
                continue
            end = data.find(b"\n", at, stop)
            taken = False
            if self._tried < _TRIED:
                self._tried += 1
                taken = self.takes(_decode_line(data[at:end]))
                self._known += taken
            if taken:
                self._broken = False
                below = self._below.match(data, end + 1, stop)
                at = below.end() if below else end + 1
                continue
            self._broken = True
            self.strange += 1
            if len(self.shown) < SHOWN:
                above = data[data.rfind(b"\n", 0, max(at - 1, 0)) + 1 : max(at - 1, 0)]
                # a name may stand above its secret
                _, text, _ = hide_around([_decode_line(above)], _decode_line(data[at:end]), [])
                self.shown.append((block.first_line + block.count(0, at), text))
            at = end + 1
        self.looked += block.count(0, at)
        if at < block.end:
            self._broken = False

    def _is_uncertain(self) -> bool:
        """Say whether heads do not tell strange lines from known ones here, and asking the parser costs too much."""
        return self._tried >= _TRIED and self._known > 0


def _decode_line(raw: Buffer) -> str:
    return raw.decode("utf-8", "surrogateescape")
