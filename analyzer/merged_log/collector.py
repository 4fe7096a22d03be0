"""A scanner that keeps the lines of a stretch of time instead of searching for signatures.

Members go the way they go in a triage (analyzer/ingest/reader.py): what is a log, which one, and of which host is
decided there. Only what becomes of the lines is another thing here. A stretch of a log whose times are far from the
window is passed over without a look at each line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Unpack

from analyzer.artefacts.logtime import (
    LogTime,
    is_stamped,
    line_time,
    moment_of_seconds,
    nearest_year,
)
from analyzer.merged_log.entry import BEGINNING, FOREVER, LogEntry, LogPart, TimeWindow
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import BlockSearch, Buffer, LineBlock, Source
from analyzer.scan.hits import LogScan, decode_line, lines_backward
from analyzer.scan.prefilter import Required
from analyzer.scan.signatures import HowToScan, Scanner
from analyzer.secrets.values import HIDDEN, hide_around
from analyzer.sources import Member

STRETCH = 64 << 10  # bytes of a log of which the times of the ends are looked at
DISORDER = timedelta(minutes=5)  # lines of one log may be as far from their order; our own
# A log whose file has a time as far from the window is not read; our own.
FAR = timedelta(days=1)
_HEAD = 64 << 10
# A line that is one word: perhaps a value whose name is elsewhere.
_BARE = re.compile(r"\s*[\"']?[^\s\"']{6,}[\"']?,?\s*$")
_TRIED = 50  # lines of a stretch that are looked at for a time
_ABOVE = 40  # lines before that may begin a secret
_TOGETHER = 500  # lines of one entry
_STAMP = 200  # bytes that hold the time of a line

Take = Callable[[LogEntry], None]


@dataclass(slots=True)
class LogSeen:
    """What became of one log.

    skipped   why it was not read beyond its first lines, "" when it was
    first     time of its first line, where only that was looked at; last: when its file was last written
    timeless  lines before the first one with a time; without any time in the log these are all
    guessed   years that lines without one were taken to be of
    """

    part: LogPart
    skipped: str = ""
    first: datetime | None = None
    last: datetime | None = None
    timeless: int = 0
    guessed: set[str] = field(default_factory=set)


class WindowScanner(Scanner):
    """Gives the entries of all logs in a window to `take`, in the order of reading.

    words   of each set one word at least is in every entry that is wanted
    scopes  the keys of the places whose logs are read, None for all
    seen    every log of those with what became of it
    full    set when no further entry is wanted of this reading
    """

    def __init__(
        self,
        window: TimeWindow,
        take: Take,
        limits: Limits,
        words: Sequence[Required] = (),
        scopes: frozenset[str] | None = None,
    ) -> None:
        super().__init__([], limits=limits)
        self.window = window
        self.take = take
        self.full = False
        self._scopes = scopes
        self._words = [(one.encode_literals(), one.ignore_case) for one in words]
        self.seen: list[LogSeen] = []
        self._alone = False  # the log that is read has the lines of one machine only

    def scan(
        self,
        source: Source,
        table: str,
        address: str = "",
        scope: str = "",
        **how: Unpack[HowToScan],
    ) -> LogScan:
        """Read a log, unless it lies far from the window; tables inside of it have no lines of their own."""
        if self._scopes is not None and scope not in self._scopes:
            return LogScan(table, address, scope)
        part = LogPart(len(self.seen), address, table, scope)
        seen = self._check_distance(source, part) if isinstance(source, Member) else None
        if seen is not None:
            self.seen.append(seen)
            return LogScan(table, address, scope)
        self._alone = True
        try:
            return super().scan(source, table, address, scope, first_line=how.get("first_line", 1))
        finally:
            self._alone = False

    def begin_search(self, result: LogScan) -> BlockSearch | None:
        """Begin to collect the lines of a log."""
        seen = LogSeen(LogPart(len(self.seen), result.address, result.table, result.scope))
        self.seen.append(seen)
        if self.full:
            return None
        return Collector(seen, self.window, self.take, self._words, alone=self._alone)

    def _check_distance(self, member: Member, part: LogPart) -> LogSeen | None:
        """Return why a log has no line in the window: it begins later, or its file was last written earlier.

        The time of the file counts only where it fits the first line: a copy may have lost it.
        """
        if self.window == TimeWindow() or member.mtime is None:
            return None
        last = moment_of_seconds(member.mtime)
        if last is None:
            return None
        for line in member.text_head(_HEAD).split(b"\n")[:_TRIED]:
            found, _ = find_line_time(line[:_STAMP], part.address, self.window)
            if found is None:
                continue
            first = found.when
            if last < first - FAR:
                return None
            if first - FAR > self.window.end:
                return LogSeen(part, "begins after the window", first, last)
            if last + FAR < self.window.start:
                return LogSeen(part, "ends before the window", first, last)
            return None
        return None


def find_line_time(line: bytes, address: str, window: TimeWindow) -> tuple[LogTime | None, str]:
    """Return the time of a line, and the year it was guessed to be of; without any sign of it that next to the window."""
    if not is_stamped(line):
        return None, ""
    found, guess = line_time(line, address)
    if found is None and window.start != BEGINNING and window.end != FOREVER:
        found = nearest_year(line, window.start + (window.end - window.start) / 2)
        guess = str(found.when.year) if found else ""
    return found, guess


class Collector:
    """Collects the lines of one log, block by block.

    alone  all lines of the file are its own; else another machine may have written between a name and its secret
    """

    def __init__(
        self,
        seen: LogSeen,
        window: TimeWindow,
        take: Take,
        words: Sequence[tuple[list[bytes], bool]],
        *,
        alone: bool,
    ) -> None:
        self._alone = alone
        self._words = words
        self._seen = seen
        self._window = window
        self._take = take
        self._address = seen.part.address
        self._now: datetime | None = None  # time of the last line that had one
        self._open: list[tuple[int, str]] = []  # lines of the entry that goes on
        self._when: datetime | None = None
        self._assumed: tuple[str, ...] = ()
        self._above: list[bytes] = []  # the last lines of the stretch before

    def search_block(self, block: LineBlock) -> None:
        """Collect the lines of one block."""
        data = block.data
        marks = []  # where stretches begin, each with the time of its first line that has one
        start = 0
        while start < block.end:
            middle = min(start + STRETCH, block.end - 1)
            stop = data.find(b"\n", middle, block.end) + 1 or block.end
            marks.append((start, self._find_time(read_heads(data, start, stop))))
            start = stop
        heads = (line[:_STAMP] for line in lines_backward(data, block.end))
        marks.append((block.end, self._find_time(heads)))
        number = block.first_line
        stretches = list(pairwise(marks))
        held = [self._may_hold(data, start, stop) for (start, _), (stop, _) in stretches]
        for index, ((start, first), (stop, last)) in enumerate(stretches):
            lines = block.count(start, stop)
            times = [time for time in (self._now, first, last) if time is not None]
            wanted = any(held[index : index + 2])  # an entry may begin in the stretch before
            if times and wanted and self._window.may_hold(min(times), max(times), DISORDER):
                self._collect_lines(bytes(memoryview(data)[start:stop]), number)
            else:
                self.close()
                self._above = []
                if not times:
                    self._seen.timeless += lines
                self._now = self._when = last or first or self._now
            number += lines

    def close(self) -> None:
        """Give the entry away that goes on, if it lies in the window."""
        lines = self._open
        when = self._when
        self._open = []
        if lines and when is not None and self._window.start <= when <= self._window.end:
            part = self._seen.part
            self._take(LogEntry(when, part.order, lines[0][0], tuple(lines), part, self._assumed))

    def _may_hold(self, data: Buffer, start: int, stop: int) -> bool:
        """Say whether a stretch may hold an entry that is wanted."""
        if not self._words:
            return True
        raw = bytes(data[start:stop])
        folded = any(ignored for _, ignored in self._words)
        if folded and not raw.isascii():
            return True  # there are letters beyond ASCII that case makes equal to some within
        low = raw.lower() if folded else raw
        for words, ignored in self._words:
            text = low if ignored else raw
            if not any(word in text for word in words):
                return False
        return True

    def _find_time(self, lines: Iterator[bytes]) -> datetime | None:
        """Return the time of the first of some lines that has one."""
        for line in islice(lines, _TRIED):
            found = self._read_time(line)
            if found is not None:
                return found.when
        return None

    def _read_time(self, line: bytes) -> LogTime | None:
        """Return the time of a line, and note the year it was guessed to be of."""
        found, guess = find_line_time(line, self._address, self._window)
        if guess:
            self._seen.guessed.add(guess)
        return found

    def _collect_lines(self, raw: bytes, number: int) -> None:
        """Collect the lines of a stretch."""
        lines = raw.split(b"\n")[:-1]
        times = [self._read_time(line[:_STAMP]) for line in lines]
        texts = self._mask_lines(lines, times)
        for at, (line, found) in enumerate(zip(lines, times, strict=True)):
            if found is not None:
                self.close()
                self._now = self._when = found.when
                self._assumed = found.assumed
            elif not line.strip():
                continue
            elif len(self._open) >= _TOGETHER:
                self.close()
                self._when = self._now
                self._assumed = ("time",)
            if self._when is None:
                self._seen.timeless += 1
            elif at in texts:
                self._open.append((number + at, texts[at]))
        self._above = lines[-_ABOVE:]

    def _mask_lines(
        self, lines: Sequence[bytes], times: Sequence[LogTime | None]
    ) -> dict[int, str]:
        """Return the lines in the window without secrets, by their place; what comes before may begin a secret."""
        inside = self._window
        when = self._when
        wanted = []
        for at, found in enumerate(times):
            when = found.when if found else when
            if when is not None and inside.start <= when <= inside.end:
                wanted.append(at)
        if not wanted:
            return {}
        first = wanted[0]
        last = wanted[-1]
        before = [decode_line(line) for line in [*self._above, *lines[:first]][-_ABOVE:]]
        texts = [decode_line(line) for line in lines[first : last + 1]]
        _, shown, after = hide_around(before, texts[0], texts[1:])
        masked = [shown, *after]
        if not self._alone:
            for at in wanted:
                if times[at] is None and _BARE.match(masked[at - first]):
                    masked[at - first] = HIDDEN
        return {at: masked[at - first] for at in wanted}


def read_heads(data: Buffer, at: int, stop: int) -> Iterator[bytes]:
    """Yield the beginnings of the lines between two offsets."""
    while at < stop:
        yield bytes(data[at : min(data.find(b"\n", at, stop), at + _STAMP)])
        at = data.find(b"\n", at, stop) + 1
