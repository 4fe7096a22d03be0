"""Records of the log search: what is searched for, what was found, what time a log covers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from analyzer.artefacts import logtime
from analyzer.artefacts.tables import NodeOwned
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.scan.blocks import NulGap
from analyzer.secrets.values import hide_around

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
    decides  `kind_of` alone decides: its pattern only proposes lines, and is not tried on them
    """

    id: str
    table: str
    pattern: str
    ignore_case: bool = False
    kind_of: Callable[[str], str] | None = None
    runs: bool = False
    decides: bool = False


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
            return self._search or {}
        match = self._search(self.text)
        return match.groupdict() if match else {}

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
    first_stamped, last_stamped  first and last line that begin with a time stamp, raw
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
