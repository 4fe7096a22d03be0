"""Records of the log search: what is searched for, what was found, what time a log covers.

Where a log begins and ends: its first and last line, the first and last with a time, and where its clock was set. That
a clock went back shows in the times alone. One that was set forward looks like a gap; a log that has the uptime next to
the time (vobd: `…Z: [netCorrelator] 2942071510366us: [vob…`) shows which it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from analyzer.artefacts import logtime
from analyzer.artefacts.logtime import format_iso, is_far_stamp, is_stamped, log_time
from analyzer.artefacts.tables import NodeOwned
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.scan.also import fold_groups
from analyzer.scan.blocks import Buffer, LineBlock, NulGap
from analyzer.secrets.values import hide_around, hide_lone_line, may_hold_secrets

CONTEXT_TEXT = 1024  # characters kept of a context line

_AGAIN = "last message repeated "

SHOWN_TEXT = 300  # characters of the line that represents several

Bytes = bytes  # LogScan has a field of that name
Search = Callable[[str], "re.Match[str] | None"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What to look for in a log table: `pattern` is a Python regex searched in single lines.

    kind_of  makes its lines counted by kind instead of kept (`LogScan.tallies`): the kind of a line, "" for none
    runs     lines that follow one another closely count once, as the kind of the first: a backtrace
    name_kinds  like `kind_of`, but takes many raw lines and alone decides: the pattern only proposes lines, and is
                not tried on them
    """

    id: str
    table: str
    pattern: str
    ignore_case: bool = False
    kind_of: Callable[[str], str] | None = None
    runs: bool = False
    name_kinds: Callable[[Sequence[bytes]], list[str]] | None = None


@dataclass(slots=True)
class Tally:
    """Lines of one kind: how many there are, and the first and the last of them as number and text (raw)."""

    count: int = 0
    first: tuple[int, str] = (0, "")
    last: tuple[int, str] = (0, "")


class Hit:
    """A line that a signature matches. Compact: context and groups are worked out when asked for.

    text    the line, cut at 8,192 characters, without secrets
    before, after  up to two neighbouring lines each, cut at 1,024 characters, without secrets; none for
            hits beyond the first 200 of a signature on a node
    groups  named groups of the pattern
    """

    __slots__ = ("_after", "_before", "_search", "address", "line", "signature", "text")

    def __init__(
        self,
        signature: str,
        address: str,
        line: int,
        text: str,
        *,
        before: list[str] | bytes = b"",
        after: list[str] | bytes = b"",
        search: Search | dict[str, str | None] | None = None,
    ) -> None:
        self.signature, self.address, self.line, self.text = signature, address, line, text
        self._before, self._after, self._search = before, after, search

    @property
    def before(self) -> list[str]:
        """Lines before the hit, the nearest last."""
        return self.around[0]

    @property
    def after(self) -> list[str]:
        """Lines after the hit, the nearest first."""
        return self.around[1]

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """Lines before and after the hit, for one look at both."""
        before, after = _split_context(self._before), _split_context(self._after)
        if not before and not after:
            return before, after
        before, _, after = hide_around(before, self.text, after)
        return before, after

    @property
    def repeated_below(self) -> bool:
        """Say whether a line below may say that the one of this hit was repeated; costs little where none does."""
        if isinstance(self._after, bytes):
            return _AGAIN.encode() in self._after
        return any(_AGAIN in line for line in self._after)

    @property
    def groups(self) -> dict[str, str | None]:
        """Named groups of the pattern, cut at 8,192 characters; empty when it has none."""
        if self._search is None or isinstance(self._search, dict):
            return fold_groups(self._search or {})
        match = self._search(self.text)
        return fold_groups(match.groupdict()) if match else {}

    def set_neighbours(self, before: bytes, after: bytes) -> None:
        """Take the neighbouring lines, each with its line feed."""
        self._before, self._after = before, after
        if before:  # what the line before began to name, this one may hold
            self.text = hide_around(_split_context(before), self.text, [])[1]

    def more_after(self, raw: bytes) -> None:
        """Take lines after the hit that came with the next block, each with its line feed."""
        if isinstance(self._after, bytes):
            self._after += raw

    def __repr__(self) -> str:
        return f"Hit({self.signature!r}, {self.address!r}, {self.line}, {self.text!r})"


def decode_line(raw: bytes | bytearray) -> str:
    """Return a line as the signatures see it."""
    return raw.decode("utf-8", "surrogateescape")


def _split_context(context: list[str] | bytes) -> list[str]:
    if isinstance(context, list):
        return context
    return [decode_line(line)[:CONTEXT_TEXT] for line in context.split(b"\n")[:-1]]


@dataclass(slots=True)
class SearchStop:
    """Where a signature went beyond the steps it may take.

    line    number of the first line it happened on
    lines   lines of which it is not known whether they match
    groups  lines that match, but whose named groups are not known
    total   True when the steps for all lines of the node were used up, False when those for one line
    """

    line: int
    lines: int = 0
    groups: int = 0
    total: bool = False

    def __str__(self) -> str:
        words = []
        if self.lines:
            words.append(f"{self.lines} lines could not be tried from line {self.line} on")
        if self.groups:
            words.append(
                f"the groups of {self.groups} lines from line {self.line} on are not known"
            )
        return " and ".join(words)


@dataclass(slots=True)
class LogScan(NodeOwned):
    """What the scan of one member found.

    scope     where its lines belong before nodes are named (`FactScope.key`)
    hits      in the order of lines, then of signatures
    counts    signature -> lines it matches, every signature of the table named
    capped    signatures of which not every hit is in `hits`
    at_least  signatures whose count is a lower bound
    last_hits the last hit of each capped signature (the last one known, if at_least holds it)
    stopped   signatures that would have taken too many steps, and where
    lines, bytes        size of the member
    first, last         first and last line, raw
    first_stamped, last_stamped  first and last line that begin with a time stamp, raw; one out of range is none
    far_times   lines with a time out of range among those that were looked at
    steps       (time before, time after) in UTC where the clock of the log was set: the second is earlier where it went
                back; no stored case has them
    sampled     lines from all over the log, their beginnings, raw: what it says most; dropped when they are counted
    nul_gaps, nul_bytes holes of NUL bytes: the first hundred places, and all bytes
    long_lines, long_at lines longer than limits.line_bytes: count, and the first hundred numbers
    cut       why the member ended early, or ""
    excerpt   why these are only some lines of the log, or "": a line that is not among them proves nothing
    parts     the same member as further logs whose lines it holds; `share` gives them what is known of it
    part_of   of such a part: the log that the member is
    tallies   (signature, kind) -> its lines, for signatures that count by kind; no stored case has them
    unsearched  signatures of the table that the member was never searched for: only a stored case has such
    """

    table: str
    address: str
    scope: str
    hits: list[Hit] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    capped: set[str] = field(default_factory=set)
    at_least: set[str] = field(default_factory=set)
    last_hits: dict[str, Hit] = field(default_factory=dict)
    stopped: dict[str, SearchStop] = field(default_factory=dict)
    lines: int = 0
    bytes: int = 0
    first: Bytes = b""
    last: Bytes = b""
    first_stamped: Bytes = b""
    last_stamped: Bytes = b""
    far_times: int = 0
    steps: list[tuple[str, str]] = field(default_factory=list)
    sampled: list[Bytes] = field(default_factory=list, repr=False, compare=False)
    nul_gaps: list[NulGap] = field(default_factory=list)
    nul_bytes: int = 0
    long_lines: int = 0
    long_at: list[int] = field(default_factory=list)
    cut: str = ""
    excerpt: str = ""
    unsearched: frozenset[str] = frozenset()
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    parts: list[LogScan] = field(default_factory=list)
    part_of: str = ""
    _parted: tuple[int, dict[str, list[Hit]]] = field(default=(-1, {}), repr=False, compare=False)

    def share_with_parts(self) -> list[LogScan]:
        """Return this scan and its parts, which have its ends, holes and sizes; a limit of lines is reported once."""
        for part in self.parts:
            part.lines, part.bytes, part.first, part.last = (
                self.lines,
                self.bytes,
                self.first,
                self.last,
            )
            part.first_stamped, part.last_stamped = self.first_stamped, self.last_stamped
            part.nul_gaps, part.nul_bytes, part.cut = self.nul_gaps, self.nul_bytes, self.cut
            part.excerpt = self.excerpt or part.excerpt
        return [self, *self.parts]

    def list_possible(self) -> set[str]:
        """Return the signatures of which it has lines, or may have some that no search saw."""
        counted = {name for name, count in self.counts.items() if count}
        return counted.union(
            self.stopped, self.at_least, self.unsearched, (hit.signature for hit in self.hits)
        )

    def of(self, signature: str) -> list[Hit]:
        """Return the kept hits of one signature, in the order of lines; the last one known comes last."""
        if self._parted[0] != len(self.hits):  # hundreds of signatures look at one list
            parted: dict[str, list[Hit]] = {}
            for hit in self.hits:
                parted.setdefault(hit.signature, []).append(hit)
            self._parted = len(self.hits), parted
        own = self._parted[1].get(signature, [])
        last = self.last_hits.get(signature)
        return own if last is None else [*own, last]

    @property
    def cover(self) -> tuple[str, str]:
        """How well the log is known by this scan, and why not better: a state of `Facts.cover` and its words."""
        if self.excerpt:
            return "excerpt", self.excerpt
        if self.cut:
            return "cut", self.cut
        if self.nul_bytes:
            return (
                "cut",
                f"{self.nul_bytes} NUL bytes where lines were, the first at line {self.nul_gaps[0].line}",
            )
        return "read", ""

    def list_limits(self, limits: Limits) -> list[LimitHit]:
        """Return the limits this scan reached, for the report."""
        found = []
        if self.long_lines:
            at = self.long_at[0]
            left_out = f"{self.long_lines} longer lines were searched up to there"
            found.append(
                LimitHit(f"{self.address}:{at}", "line_bytes", limits.line_bytes, at, left_out)
            )
        cap = limits.hits_per_signature
        for name in sorted(self.capped):
            count = (
                f"at least {self.counts[name]}" if name in self.at_least else str(self.counts[name])
            )
            left_out = f"{name}: {count} lines here, not all kept"
            found.append(LimitHit(self.address, "hits_per_signature", cap, cap, left_out))
        for name, stop in sorted(self.stopped.items()):
            limit, most = "pattern_steps", limits.pattern_steps
            if stop.total:
                limit, most = "pattern_total", limits.pattern_total
            where = f"{self.address}:{stop.line}"
            found.append(LimitHit(where, limit, most, stop.line, f"signature {name}: {stop}"))
        return found


class PlacedLine(Protocol):
    """A line of a log and where it is."""

    @property
    def address(self) -> str:
        """Of its file."""

    @property
    def line(self) -> int:
        """Its number there."""

    @property
    def text(self) -> str:
        """The line, without secrets."""


def first_and_last(lines: Sequence[PlacedLine]) -> dict[str, Any]:
    """Return how many lines there are, when and where the first and the last of them stand, and the first itself."""
    first, last = lines[0], lines[-1]
    return {
        "count": len(lines),
        "first": logtime.format_iso(first.text),
        "last": logtime.format_iso(last.text),
        "address": first.address,
        "line": first.line,
        "text": first.text[:SHOWN_TEXT],
        "last_address": last.address,
        "last_line": last.line,
    }


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
        at = 0
        while not result.first_stamped and at < end and self._tried < _STAMP_LINES:
            stop = data.find(b"\n", at, end)
            line = bytes(data[at:stop])
            if is_stamped(line) and not is_far_stamp(line):
                result.first_stamped = line
            self._tried += 1
            at = stop + 1
        for count, line in enumerate(lines_backward(data, end)):
            if is_stamped(line) and not is_far_stamp(line):
                result.last_stamped = line
            elif count < _STAMP_LINES:
                continue
            break
        self._note_steps(data, end)

    def close(self) -> None:
        """Take the secrets out of the lines that are kept; call after the last block."""
        for end in ("first", "last", "first_stamped", "last_stamped"):
            raw = getattr(self.result, end)
            if may_hold_secrets(raw):
                shown = hide_lone_line(decode_line(raw))
                setattr(self.result, end, shown.encode("utf-8", "surrogateescape"))

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
                else:
                    before, time = log_time(bytes(latest)), log_time(bytes(head))
                    if before is not None and time is not None:
                        back = (before.when - time.when).total_seconds()
                        if back >= STEP_BACK:
                            self._add_step((format_iso(bytes(latest)), format_iso(bytes(head))))
                            latest = head
                if data.find(b"us: ", at + 24, at + _UPTIME_BY) > 0:
                    self._note_uptime(bytes(data[at : at + _UPTIME_BY]))
            elif is_far_stamp(head):
                self.result.far_times += 1
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
            self._add_step((format_iso(head_before), format_iso(head)))


def lines_backward(data: Buffer, end: int) -> Iterator[bytes]:
    """Yield the lines of `data[:end]`, the last first, without their line feeds."""
    stop = end - 1
    while stop >= 0:
        start = data.rfind(b"\n", 0, stop) + 1
        yield bytes(data[start:stop])
        stop = start - 1
