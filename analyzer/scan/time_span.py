"""Where a log begins and ends: first and last line, and the first and last with a time."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.logtime import stamped
from analyzer.scan.blocks import Buffer, LineBlock
from analyzer.scan.hits import LogScan, decoded
from analyzer.secrets.values import hide_around, suspect

_STAMP_LINES = 1000  # lines looked at in a block for its last time stamp


class Ends:
    """First and last line of a log, and the first and last that bear a time."""

    def __init__(self, result: LogScan) -> None:
        self.result = result
        self._tried = 0
        self._begun = False

    def see(self, block: LineBlock) -> None:
        """Look at the ends of a block."""
        data, end, result = block.data, block.end, self.result
        if not self._begun:
            self._begun = True
            result.first = bytes(data[: data.find(b"\n", 0, end)])
        result.last = next(_lines_backward(data, end), b"")
        if not result.first_stamped and self._tried < _STAMP_LINES:
            self._first(data, end)
        for count, line in enumerate(_lines_backward(data, end)):
            if stamped(line):
                result.last_stamped = line
            elif count < _STAMP_LINES:
                continue
            break

    def close(self) -> None:
        """Take the secrets out of the lines that are kept; call after the last block."""
        for end in ("first", "last", "first_stamped", "last_stamped"):
            setattr(self.result, end, _shown(getattr(self.result, end)))

    def _first(self, data: Buffer, end: int) -> None:
        at = 0
        while at < end and self._tried < _STAMP_LINES:
            stop = data.find(b"\n", at, end)
            line = bytes(data[at:stop])
            if stamped(line):
                self.result.first_stamped = line
                return
            self._tried += 1
            at = stop + 1


def _shown(raw: bytes) -> bytes:
    """Return a raw line of a log without the secrets it shows."""
    if not suspect(raw):
        return raw
    return hide_around([], decoded(raw), [])[1].encode("utf-8", "surrogateescape")


def _lines_backward(data: Buffer, end: int) -> Iterator[bytes]:
    stop = end - 1
    while stop >= 0:
        start = data.rfind(b"\n", 0, stop) + 1
        yield bytes(data[start:stop])
        stop = start - 1
