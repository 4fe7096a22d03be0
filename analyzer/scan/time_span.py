"""Where a log begins and ends: first and last line, the first and last with a time, and where its clock was set.

That a clock went back shows in the times alone. One that was set forward looks like a gap; a log that has the uptime
next to the time (vobd: `…Z: [netCorrelator] 2942071510366us: [vob…`) shows which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from analyzer.artefacts.logtime import iso, log_time, stamped
from analyzer.scan.blocks import Buffer, LineBlock
from analyzer.scan.hits import LogScan, decode_line
from analyzer.secrets.values import hide_around, may_hold_secrets

_STAMP_LINES = 1000  # lines looked at in a block for its last time stamp
LOOKS = (
    256  # lines of a block that are asked whether the clock went back; in a small log these are all
)
LARGE, FEWER = (
    256 << 10,
    64,
)  # a block of this size holds thousands of lines: one line in 10 KiB shows a step
STEP_BACK = 60.0  # seconds by which a time lies before an earlier line's; less is the disorder of threads. Our own
SAMPLED_GAPS = (
    5,
    13,
    3,
    11,
    7,
    9,
)  # lines from one for `LogScan.sampled` to the next; uneven, as some logs repeat
SAMPLED_BYTES = 240  # kept of such a line
DRIFT = 0.001  # part of an uptime by which a clock may run away without being set; crystals stay far below. Our own
MOST_SAMPLED = 512  # lines of a log
_MOST_STEPS = 20  # of a log
_UPTIME = re.compile(rb"\] (\d{6,18})us: ")
_UPTIME_BY = 160  # bytes into its line by which it is there


class Ends:
    """First and last line of a log, and the first and last that bear a time."""

    def __init__(self, result: LogScan) -> None:
        self.result = result
        self._tried = 0
        self._begun = False
        self._latest: Buffer = b""  # line with the latest time of those looked at
        self._gap = SAMPLED_GAPS[-1]  # lines to the next one that is sampled
        self._sparser = 1  # how many times as far the lines are apart that are sampled now
        self._ran: tuple[bytes, datetime, float] | None = (
            None  # a line with an uptime, its time, the uptime in seconds
        )

    def see_block(self, block: LineBlock) -> None:
        """Look at the ends of a block."""
        data, end, result = block.data, block.end, self.result
        if not self._begun:
            self._begun = True
            result.first = bytes(data[: data.find(b"\n", 0, end)])
        result.last = next(lines_backward(data, end), b"")
        if not result.first_stamped and self._tried < _STAMP_LINES:
            self._find_first_stamped(data, end)
        for count, line in enumerate(lines_backward(data, end)):
            if stamped(line):
                result.last_stamped = line
            elif count < _STAMP_LINES:
                continue
            break
        self._note_steps(data, end)

    def close(self) -> None:
        """Take the secrets out of the lines that are kept; call after the last block."""
        for end in ("first", "last", "first_stamped", "last_stamped"):
            setattr(self.result, end, _hide_secrets(getattr(self.result, end)))

    def _note_steps(self, data: Buffer, end: int) -> None:
        """Note where the times of some lines, evenly over a block, go back or forward by themselves.

        A stamp compares as text until it goes back.
        """
        latest = self._latest
        stride = max(1, end // (FEWER if end >= LARGE else LOOKS))
        at = 0
        while at < end:
            head = data[at : at + 40]
            if head.startswith(b"20") and head[4:5] == b"-" and head[13:14] == b":":
                self._gap -= 1
                if not self._gap:
                    # Keep a line among those that show what the log says most
                    sampled = self.result.sampled
                    self._gap = SAMPLED_GAPS[len(sampled) % len(SAMPLED_GAPS)] * self._sparser
                    sampled.append(bytes(data[at : at + SAMPLED_BYTES]).partition(b"\n")[0])
                    if len(sampled) >= MOST_SAMPLED:
                        del sampled[::2]
                        self._sparser *= 2
                if head[:19] >= latest[:19]:
                    latest = head
                elif (back := _find_step_back(bytes(latest), bytes(head))) is not None:
                    latest = head
                    self._add_step(back)
                if data.find(b"us: ", at + 24, at + _UPTIME_BY) > 0:
                    self._note_uptime(bytes(data[at : at + _UPTIME_BY]))
            at = data.find(b"\n", min(at + stride, end - 1), end) + 1 or end
        self._latest = latest

    def _add_step(self, step: tuple[str, str]) -> None:
        if len(self.result.steps) < _MOST_STEPS:
            self.result.steps.append(step)

    def _note_uptime(self, line: bytes) -> None:
        """Note a clock that was set forward: since the line before far more time went by than the host was up."""
        found = _UPTIME.search(line.partition(b"\n")[0])
        head = line[:40]
        time = log_time(head)
        if found is None or time is None:
            return
        before, up = self._ran, int(found[1]) / 1e6
        self._ran = head, time.when, up
        if before is None:
            return
        head_before, when_before, up_before = before
        ran = up - up_before
        if ran <= 0:  # the host booted in between
            return
        passed = (time.when - when_before).total_seconds()
        if passed - ran >= max(STEP_BACK, ran * DRIFT):
            self._add_step((iso(head_before), iso(head)))

    def _find_first_stamped(self, data: Buffer, end: int) -> None:
        at = 0
        while at < end and self._tried < _STAMP_LINES:
            stop = data.find(b"\n", at, end)
            line = bytes(data[at:stop])
            if stamped(line):
                self.result.first_stamped = line
                return
            self._tried += 1
            at = stop + 1


def _find_step_back(before: bytes, after: bytes) -> tuple[str, str] | None:
    """Return both times in UTC where the second is well before the first, None where it is not."""
    first, second = log_time(before), log_time(after)
    if first is None or second is None:
        return None
    if (first.when - second.when).total_seconds() < STEP_BACK:
        return None
    return iso(before), iso(after)


def _hide_secrets(raw: bytes) -> bytes:
    """Return a raw line of a log without the secrets it shows."""
    if not may_hold_secrets(raw):
        return raw
    return hide_around([], decode_line(raw), [])[1].encode("utf-8", "surrogateescape")


def lines_backward(data: Buffer, end: int) -> Iterator[bytes]:
    """Yield the lines of `data[:end]`, the last first, without their line feeds."""
    stop = end - 1
    while stop >= 0:
        start = data.rfind(b"\n", 0, stop) + 1
        yield bytes(data[start:stop])
        stop = start - 1
