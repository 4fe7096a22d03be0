"""The lines before and after a place in a block of a log, as raw bytes."""

from __future__ import annotations

from analyzer.artefacts.logtime import is_stamped
from analyzer.scan.blocks import Buffer
from analyzer.scan.hits import CONTEXT_TEXT

CONTEXT = 2  # lines kept before and after a hit
MOST_ABOVE = (
    40  # lines kept before a hit inside a message over many lines, up to the head of the message
)
STAMP = 128  # bytes of a line that tell whether it begins with a time


def lines_to_head(data: Buffer, at: int) -> int:
    """Return how many lines above the one at `at` the head of its message stands; 0 when it bears a time itself.

    A message over many lines (`-->`, a trace) has its time and thread on the first of them only.
    """
    if is_stamped(bytes(data[at : at + STAMP])):
        return 0
    for count in range(1, MOST_ABOVE + 1):
        if not at:
            break
        at = data.rfind(b"\n", 0, at - 1) + 1
        if is_stamped(bytes(data[at : at + STAMP])):
            return count
    return 0


def lines_before(data: Buffer, end: int, earlier: bytes, count: int = CONTEXT) -> bytes:
    """Return the last lines before offset `end`, with their line feeds, reaching back into `earlier`."""
    start = end
    for _ in range(count):
        if start:
            start = data.rfind(b"\n", 0, start - 1) + 1
    raw = _shorten_line(bytes(data[start:end]))
    if start == 0 and earlier:
        raw = b"".join(line + b"\n" for line in (earlier + raw).split(b"\n")[:-1][-count:])
    return raw


def lines_after(data: Buffer, at: int, end: int, count: int) -> tuple[bytes, int]:
    """Return up to `count` lines from offset `at` on, with their line feeds, and how many are missing."""
    stop = at
    while stop < end and count:
        stop = data.find(b"\n", stop, end) + 1
        count -= 1
    return _shorten_line(bytes(data[at:stop])), count


def _shorten_line(lines: bytes) -> bytes:
    """Return lines, each cut at what is kept of a context line."""
    if len(lines) <= 4 * CONTEXT_TEXT:
        return lines
    return b"".join(line[: 4 * CONTEXT_TEXT] + b"\n" for line in lines.split(b"\n")[:-1])
