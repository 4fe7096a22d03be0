"""Finds the lines an author points at, `MEMBER:120-124`, in bundles, folders and transcripts by streaming.

One pass reads the case as a triage does; of the members whose address ends with MEMBER the asked lines are
kept, and a few around them. So the lines come with all that was read of them: the log table and the head
of a line, or the rows and columns that a parser took from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row, Table
from analyzer.facts import Facts
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import resolve_nodes
from analyzer.judge.log_answers import parse_seconds
from analyzer.pipeline.triage import Options, gather, read_case
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import Source, pass_on
from analyzer.scan.hits import LogScan
from analyzer.scan.signatures import HowToScan, Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.remote import Place

MOST_LINES = 200  # of one MEMBER:first-last
AROUND = 5  # lines before and after that serve as a quiet example

_SPEC = re.compile(r"(?P<member>.+):(?P<first>\d{1,12})(?:-(?P<last>\d{1,12}))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Spec:
    """Lines `first` to `last` of a member, named by its address or the end of it."""

    member: str
    first: int
    last: int

    def is_address(self, address: str) -> bool:
        """Say whether an address is this member's, or ends with it at a `/` or `!`."""
        member = self.member.removeprefix("./")
        if address == member or address.endswith((f"/{member}", f"!{member}")):
            return True
        return member.endswith(f"/{address}")  # a path on the disk, as the shell completes it


@dataclass(slots=True)
class LogLine:
    """One line of a log.

    start, end  where its message is in `text`
    time        seconds of the epoch, None where the line does not tell
    values      columns of its log table
    """

    table: Table
    text: str
    address: str
    line: int
    node: str
    start: int = 0
    end: int = 0
    time: float | None = None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ChosenRow:
    """A row with chosen lines, and the columns that those lines gave, in their order."""

    row: Row
    columns: list[str]


@dataclass(slots=True)
class Picked:
    """The chosen lines with what was read of them, and the case they are from.

    quiet  log table -> lines next to the chosen ones
    notes  what of the asked lines no one read, and why
    """

    lines: list[LogLine]
    rows: list[ChosenRow]
    quiet: dict[str, list[str]]
    notes: list[str]
    intake: Intake
    facts: Facts


def read_spec(text: str) -> Spec:
    """Return the member and the lines of `MEMBER:120-124` or `MEMBER:120`; raises UsageError."""
    found = _SPEC.match(text)
    why = ""
    if found is None:
        why = "it must be MEMBER:FIRST-LAST, for example var/log/vmkernel.log:120-124"
    else:
        first = int(found["first"])
        last = int(found["last"] or first)
        if not 1 <= first <= last:
            why = "lines count from 1, and the first comes before the last"
        elif last - first >= MOST_LINES:
            why = f"{last - first + 1} lines; a draft takes at most {MOST_LINES}"
        else:
            return Spec(found["member"], first, last)
    raise UsageError(
        "--from-lines is not understood",
        where=text[:200],
        why=why,
        do="Take the address from the report.",
    )


def pick_lines(paths: Sequence[Place], specs: Sequence[Spec], options: Options) -> Picked:
    """Read the case at `paths` once and return the lines of `specs`; raises UsageError when they are not there."""
    ledger, kinds = Ledger(), KindFinder()
    watcher = _Watcher(specs, options.limits)
    intake = read_case(paths, ledger, kinds, watcher, options)
    facts = gather(intake, resolve_nodes(intake, kinds), ledger)
    picked = Picked([], [], {}, [], intake, facts)
    # A link and an empty file hold no line.
    filled = {source.address: source.size != 0 for source in ledger.sources}
    for spec in specs:
        _take_lines(picked, spec, _find_address(spec, filled), watcher)
    if not picked.lines and not picked.rows:
        why = "; ".join(picked.notes[:3])
        do = "`backline tables BUNDLE` shows what was read; `backline tables --doc` lists what a rule can use."
        raise UsageError("no parser reads these lines, so no rule can use them", why=why, do=do)
    by_place = {(one.address, one.line): one for one in picked.lines}
    picked.lines = list(by_place.values())
    return picked


def _find_address(spec: Spec, filled: Mapping[str, bool]) -> str:
    """Return the one address that a spec names, of all addresses and whether they hold a line; raises UsageError."""
    if spec.member in filled:
        return spec.member
    named = [address for address in filled if spec.is_address(address)]
    found = [address for address in named if filled[address]] or named
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{len(found):,} members have this name",
            where=spec.member,
            do="Give more of one of these addresses.",
            choices=found,
        )
    stems = []
    for address in filled:
        stems.append(address.rpartition("/")[2].rpartition("!")[2])
    name = spec.member.rpartition("/")[2].rpartition("!")[2]
    near = did_you_mean(name, stems)
    do = "Take the address from the report."
    if near.startswith("did"):
        do = near[:1].upper() + near[1:]
    raise UsageError("there is no such member in the case", where=spec.member, do=do)


def _take_lines(picked: Picked, spec: Spec, address: str, watcher: _Watcher) -> None:
    """Add the lines and rows of one spec."""
    wanted = range(spec.first, spec.last + 1)
    logged: set[int] = set()
    for watched in watcher.watched:
        if watched.scan.address != address:
            continue
        table = picked.facts.tables[watched.scan.table]
        for number, text in sorted(watched.lines.items()):
            if number in wanted and text.strip():
                picked.lines.append(
                    read_log_line(picked.facts, table, text, address, number, watched.scan.node)
                )
                logged.add(number)
            elif text.strip():
                picked.quiet.setdefault(table.name, []).append(text)
    for row in picked.intake.rows:
        if row.block.address == address and (chosen := _choose_columns(row, wanted, logged)):
            picked.rows.append(ChosenRow(row, chosen))
    rows: set[int] = set()
    for one in picked.rows:
        rows |= {one.row.line, *one.row.lines.values()}
    left = [number for number in wanted if number not in logged | rows]
    if any(frame.block.address == address for frame in picked.intake.frames):
        picked.notes.append(
            f"{address} holds samples (esxtop); start from a finding, or with --table esxtop.vm_cpu"
        )
    elif left:
        noun = "line" if len(left) == 1 else "lines"
        more = " …" if len(left) > 10 else ""
        shown = ", ".join(map(str, left[:10]))
        picked.notes.append(f"{address}: nothing was read from {noun} {shown}{more}")


def _choose_columns(row: Row, wanted: range, logged: set[int]) -> list[str]:
    """Return the columns of a row that are on wanted lines; lines of a log are no rows."""
    keys = set(row.table.key)
    there = []
    for column in row.table.columns:
        if row.values.get(column.name) is not None:
            there.append(column.name)
    if row.lines:
        chosen = []
        for name in there:
            if row.line_of(name) in wanted and row.line_of(name) not in logged:
                chosen.append(name)
        return [name for name in chosen if name not in keys] or chosen
    if row.line not in wanted or row.line in logged:
        return []
    return [name for name in there if name not in keys] or there


def read_log_line(
    facts: Facts, table: Table, text: str, address: str, line: int, node: str
) -> LogLine:
    """Return a line of a log with the place of its message, its time and its columns, as far as it tells them."""
    made = LogLine(table, text, address, line, node)
    if node in facts.nodes:
        captured = facts.nodes[node].captured
    else:
        captured = ""
    block = Block([text], line, address, taken=captured)
    rows: list[Row] = []
    for parser in parsing.registry().values():
        if parser.log and any(one.name == table.name for one in parser.tables):
            items = [item for item in parser.parse(block) if isinstance(item, Row)]
            rows += [item for item in items if item.table.name == table.name]
    if not rows:
        return made
    row = rows[0]
    made.values = row.values
    if row.values.get("time"):
        made.time = parse_seconds(str(row.values["time"]))
    message = str(row.values.get("message") or "").split("\n")[0]
    at = text.find(message)
    if text.rstrip().endswith(message):
        at = text.rfind(message)
    if message and at >= 0:
        made.start = at
        made.end = at + len(message)
    event = row.values.get("event_id")
    if event:
        head = text.find(f"[{event}]")
    else:
        head = -1
    if 0 <= head < made.start:
        made.start = head
    return made


@dataclass(slots=True)
class _Watched:
    """One reading of a log, with the lines that were kept of it."""

    scan: LogScan
    lines: dict[int, str]


class _Watcher(Scanner):
    """A scanner that searches for nothing and keeps the lines of some members."""

    def __init__(self, specs: Sequence[Spec], limits: Limits) -> None:
        super().__init__([], engine="pure", limits=limits)
        self._specs = specs
        self.watched: list[_Watched] = []

    def scan(
        self,
        source: Source,
        table: str,
        address: str = "",
        scope: str = "",
        **how: Unpack[HowToScan],
    ) -> LogScan:
        """Read a log to its end; lines that a spec asks for are kept."""
        ranges = []
        for spec in self._specs:
            if spec.is_address(address):
                ranges.append((spec.first - AROUND, spec.last + AROUND))
        if not ranges:
            return super().scan(source, table, address, scope, **how)
        keeper = _Keeper(ranges, how.get("first_line", 1), self.limits.line_bytes)
        kept = pass_on(source, keeper.feed_bytes)
        result = super().scan(kept, table, address, scope, **how)
        keeper.end_line()
        self.watched.append(_Watched(result, keeper.lines))
        return result


class _Keeper:
    """Counts lines of bytes that pass, and keeps those of some ranges; memory is that of the kept lines."""

    def __init__(self, ranges: Iterable[tuple[int, int]], first_line: int, most: int) -> None:
        self.lines: dict[int, str] = {}
        self._ranges = sorted(ranges)
        self._line, self._most = first_line, most
        self._carry = b""

    def feed_bytes(self, data: bytes) -> None:
        """Take the next bytes."""
        at = 0
        while at < len(data):
            begin = self.find_next()
            if begin is None:
                return
            if begin > self._line:
                at = self.skip_to(data, at, begin)
                continue
            stop = data.find(b"\n", at)
            piece = data[at : stop if stop >= 0 else len(data)].replace(b"\0", b"")
            self._carry = (self._carry + piece)[: self._most]
            if stop < 0:
                return
            self.end_line()
            at = stop + 1

    def end_line(self) -> None:
        """End the line that has begun."""
        if self._carry or any(first <= self._line <= last for first, last in self._ranges):
            self.lines[self._line] = self._carry.rstrip(b"\r").decode("utf-8", "surrogateescape")
        self._carry = b""
        self._line += 1

    def skip_to(self, data: bytes, at: int, line: int) -> int:
        """Go on to the start of a line, or to the end of the data."""
        count = data.count(b"\n", at)
        if self._line + count < line:
            self._line += count
            return len(data)
        while self._line < line:
            at = data.find(b"\n", at) + 1
            self._line += 1
        return at

    def find_next(self) -> int | None:
        """Return the next wanted line from the present one on, None when there is none."""
        for first, last in self._ranges:  # in order, so that the first one left has the next line
            if last >= self._line:
                return max(first, self._line)
        return None
