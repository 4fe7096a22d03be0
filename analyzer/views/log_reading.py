"""Reads the logs of a case and yields their lines merged by time, in as many readings as memory asks for."""

from __future__ import annotations

import heapq
import marshal
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from analyzer.artefacts.loghost import object_of_line
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Nodes, resolve_nodes
from analyzer.ingest.reader import ReadListener
from analyzer.merged_log.collector import LogSeen, WindowScanner
from analyzer.merged_log.entry import LogEntry, LogPart, TimeWindow, format_stamp, rank_level
from analyzer.pipeline.triage import Options, read_case, refuse_case
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.careful import Answer, Undecided, search_of
from analyzer.scan.prefilter import Required, literal_choices
from analyzer.secrets.values import HIDDEN
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.ledger import LOST
from analyzer.sources.remote import Place

MANY = 5000  # lines that no one reads
HEAD_OF_LINE = 80  # characters by which a line is known again
EvidenceName = tuple[str, int, str]


def name_evidence(address: str, number: int, text: str) -> EvidenceName:
    """Return what a line is known by in any copy of the material: its file, its number, how it begins.

    A bundle that was renamed or moved since its triage has other addresses for the same lines.
    """
    name = PurePosixPath(address.rpartition("!")[2]).name
    return name, number, " ".join(text.split())[:HEAD_OF_LINE]


@dataclass(slots=True)
class LogQuery:
    """Which lines are wanted.

    host       part of the name of the host; object: a word of the line, as `vmnic3`; pattern: regex searched in it
    level      the least severe level that is wanted: lines that state no level are left out then
    evidence   what a finding rests on, as `name_evidence` has it: wanted whatever object, pattern and level say
    limits     `log_bytes` is the memory for lines; what does not fit is read again
    """

    window: TimeWindow = field(default_factory=TimeWindow)
    host: str = ""
    object: str = ""
    pattern: str = ""
    level: str = ""
    evidence: frozenset[EvidenceName] = frozenset()
    limits: Limits = field(default_factory=Limits)


class MergedLine(NamedTuple):
    """One line of a log as it is shown: no secret is in it.

    time     ISO 8601 in UTC, with the fraction that the log has; of a line without one that of its entry
    assumed  what the line does not say: "zone", "year", "time"
    """

    time: str
    host: str
    log: str
    level: str
    component: str
    object: str
    text: str
    address: str
    line: int
    assumed: tuple[str, ...] = ()


@dataclass(slots=True)
class LogSummary:
    """What a reading met.

    host         part of the name that was asked for, in small letters; hosts: names of the machines
    seen         every log, with the name of its machine
    lines        yielded; doubles: left out because another log of the host holds the same
    evidence     entries with evidence that object, pattern or level would have left out
    no_level     entries in the window that state no level, left out by `level`; undecided: not tried, see Limits
    spans        first and last time of each log, by address, then place and table; back: where a clock went back
    holes        NUL bytes in a log, by its address
    faults       what could not be read
    """

    host: str = ""
    hosts: list[str] = field(default_factory=list)
    seen: list[tuple[str, LogSeen]] = field(default_factory=list)
    lines: int = 0
    doubles: int = 0
    evidence: int = 0
    no_level: int = 0
    undecided: int = 0
    spans: dict[str, dict[tuple[str, str], tuple[str, str]]] = field(default_factory=dict)
    back: list[tuple[str, str, str]] = field(default_factory=list)
    holes: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


class MergedLog:
    """The merged lines of the logs of some paths; `summary` is complete when all lines were taken.

    watch gets each member, on_read the bytes read from the disk, heard the texts of each entry, all of
    them before the first line is given; on_many is called once, in the midst of the first reading, when there are more
    lines than `MANY`; with_objects: whether the lines name their objects, which costs more than all else of them
    """

    def __init__(
        self,
        paths: Sequence[Place],
        query: LogQuery,
        *,
        watch: ReadListener | None = None,
        on_read: Callable[[int], None] | None = None,
        heard: Callable[[Iterable[str]], None] | None = None,
        on_many: Callable[[], None] | None = None,
        with_objects: bool = True,
    ) -> None:
        self.paths = paths
        self.query = query
        self.summary = LogSummary(host=query.host.lower())
        self._watch = watch
        self._on_read = on_read
        self._heard = heard
        self._on_many = on_many
        self._with_objects = with_objects
        self._met = 0  # lines of the first reading
        self._filter = EntryFilter(query, self.summary)

    def read_lines(self) -> Iterator[MergedLine]:
        """Yield the lines in order of time.

        Raises RefusedError when nothing could be read, UsageError when no machine has the name that is asked for.
        """
        memory = self.query.limits.log_bytes
        nodes: Nodes = {}
        scopes: frozenset[str] | None = None
        if self.summary.host:
            # The name of a host may come last in its archive: who is meant is known when all was read. The lines of
            # all hosts are kept as long as they are few.
            kept = WindowPart(None, memory)
            nodes = self._read_entries(kept, most=MANY)
            if self._met <= MANY and kept.behind is None:
                yield from self._show_entries(kept, nodes)
                return
            wanted = self.summary.host
            scopes = frozenset(key for key, node in nodes.items() if wanted in node.name.lower())
            self.summary.no_level = self.summary.undecided = self._met = 0
        start: Key | None = None
        while True:
            kept = WindowPart(start, memory)
            self._filter.counts = start is None
            found = self._read_entries(kept, scopes, first=start is None)
            nodes = nodes or found
            yield from self._show_entries(kept, nodes)
            if kept.behind is None:
                return
            start = kept.behind

    def _read_entries(
        self,
        kept: WindowPart,
        scopes: frozenset[str] | None = None,
        *,
        most: int | None = None,
        first: bool = True,
    ) -> Nodes:
        """Read the entries of a part of the window out of all material; return the machines by their places.

        scopes  the places whose logs are read, None for all; most: lines after which no more are collected
        """
        ledger = Ledger()
        kinds = KindFinder()
        options = Options(self.query.limits, samples={}, watch=self._watch, on_read=self._on_read)

        def take_entry(entry: LogEntry) -> None:
            if not self._filter.wants(entry):
                return
            before = self._met
            if first:
                self._met += len(entry.lines)
            if most is not None and self._met > most:
                scanner.full = True
                return
            kept.add(entry)
            if first and self._heard is not None:
                self._heard(text for _, text in entry.lines)
            crossed = before <= MANY < self._met
            if crossed and self._on_many is not None:
                self._on_many()

        scanner = WindowScanner(
            self.query.window, take_entry, options.limits, self._filter.words, scopes
        )
        intake = read_case(self.paths, ledger, kinds, scanner, options)
        refused = refuse_case(self.paths, ledger, intake, kinds)
        nodes = resolve_nodes(intake, kinds)
        if first:
            if refused is not None:
                raise refused
            self._summarize(ledger, intake, nodes, scanner.seen)
            hosts = self.summary.hosts
            wanted = self.summary.host
            if wanted and not any(wanted in name.lower() for name in hosts):
                known = ", ".join(hosts[:5]) or "none"
                what = f"no host {self.query.host!r} in this material"
                raise UsageError(what, do=f"It has: {known}.")
        return nodes

    def _summarize(
        self, ledger: Ledger, intake: Intake, nodes: Nodes, seen: Sequence[LogSeen]
    ) -> None:
        """Note what the first reading met."""
        summary = self.summary
        summary.hosts = sorted({node.name for node in nodes.values()})
        mine = [(find_host(nodes, log.part.scope), log) for log in seen]
        known = {log.part.address for log in seen}
        summary.seen = [
            *mine,
            *((host, log) for host, log in summary.seen if log.part.address not in known),
        ]
        summary.back = []
        for span in intake.spans:
            ends = summary.spans.setdefault(span.address, {})
            ends[span.place.key, span.table] = (span.first, span.last)
            for before, after in span.steps:
                if after < before:
                    summary.back.append((span.address, before, after))
        summary.holes = {scan.address: scan.nul_bytes for scan in intake.scans if scan.nul_bytes}
        summary.faults = [
            f"{one.address}: {one.what}; left out: {one.left_out}" for one in ledger.damage
        ]
        summary.faults += map(str, ledger.limits)
        for source in ledger.sources:
            if source.state in LOST:
                summary.faults.append(f"{source.address}: {source.why}")

    def _show_entries(self, kept: WindowPart, nodes: Nodes) -> Iterator[MergedLine]:
        """Yield the lines of the machine that is asked for; what two of its logs hold at one moment once."""
        wanted = self.summary.host
        recent: dict[tuple[str, str], int] = {}
        moment = None
        for entry in kept.merge_entries():
            host = find_host(nodes, entry.part.scope)
            if wanted and wanted not in host.lower():
                continue
            if entry.when != moment:
                moment = entry.when
                recent = {}
            if recent.setdefault((host, entry.lines[0][1]), entry.order) != entry.order:
                self.summary.doubles += len(entry.lines)
                continue
            self.summary.lines += len(entry.lines)
            level, component = entry.level_and_component()
            time = format_stamp(entry)
            part = entry.part
            assumed = entry.assumed
            for number, text in entry.lines:
                thing = object_of_line(text) if self._with_objects else ""
                yield MergedLine(
                    time,
                    host,
                    part.name,
                    level,
                    component,
                    thing,
                    text,
                    part.address,
                    number,
                    assumed,
                )
                assumed = ("time",)


def list_nearest(lines: Iterable[MergedLine], moment: datetime, most: int) -> Iterator[MergedLine]:
    """Yield the lines nearest to a moment, in order, at most `most`; all are taken, so that all count."""
    before: deque[MergedLine] | None = deque(maxlen=most // 2)
    room = most
    for line in lines:
        if before is not None and datetime.fromisoformat(line.time) < moment:
            before.append(line)
            continue
        if before is not None:
            yield from before
            room, before = most - len(before), None
        if room > 0:
            room -= 1
            yield line
    yield from before or ()


class EntryFilter:
    """Tells which entries are wanted.

    words   of each set one word at least is in every such entry
    counts  whether what is left out is counted: in the first reading
    """

    def __init__(self, query: LogQuery, summary: LogSummary) -> None:
        if query.level:
            self._level = rank_level(query.level)
        else:
            self._level = None
        self._summary = summary
        self._evidence = query.evidence
        self.counts = True
        self.words: list[Required] = []
        self._searches: list[Callable[[str], Answer]] = []
        patterns = []
        if query.object:
            word = rf"(?<!\w){re.escape(query.object)}(?!\w)"
            patterns.append(re.compile(word, re.IGNORECASE))
        if query.pattern:
            patterns.append(compile_pattern(query.pattern))
        for pattern in patterns:
            self._searches.append(search_of(pattern, query.limits.pattern_steps))
            # What is shown in place of a secret is in no log; a line of evidence need not hold any of the words.
            if not self._evidence and not pattern.search(HIDDEN):
                self.words += literal_choices(pattern.pattern, pattern.flags)

    def wants(self, entry: LogEntry) -> bool:
        """Say whether an entry is wanted."""
        if self._passes_filters(entry):
            return True
        for line in entry.lines if self._evidence else ():
            if name_evidence(entry.part.address, *line) in self._evidence:
                self._summary.evidence += self.counts
                return True
        return False

    def _passes_filters(self, entry: LogEntry) -> bool:
        """Say whether an entry has the object, the pattern and the level that are asked for."""
        for search in self._searches:
            answers = [search(text) for _, text in entry.lines]
            undecided = [isinstance(answer, Undecided) for answer in answers]
            if answers.count(None) + undecided.count(True) == len(answers):
                self._summary.undecided += self.counts and any(undecided)
                return False
        if self._level is None:
            return True
        level = rank_level(entry.level_and_component()[0])
        self._summary.no_level += level is None and self.counts
        return level is not None and level <= self._level


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that somebody typed; UsageError for one that is none."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        do = "A bracket, dot or star that is meant as such has a backslash before it."
        what = f"{pattern!r} is not a regular expression"
        raise UsageError(what, why=str(error), do=do) from None


def find_host(nodes: Nodes, scope: str) -> str:
    """Return the name of the machine of a place, "" when it has none."""
    node = nodes.get(scope)
    if node:
        return node.name
    return ""


_ENTRY = 400  # bytes that an entry costs next to its text
_LINE = 160  # bytes that a line of it costs
_RUN = 256  # entries that are packed together
_PACKED = 100  # bytes that some packed entries cost next to their data
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Key = tuple[datetime, int, int]


class PackedRun(NamedTuple):
    """Entries in order, packed: a log takes a tenth of the room then. first: the key of the first of them.

    parts  the parts that the entries are of, by their order
    """

    first: Key
    data: bytes
    parts: dict[int, LogPart]

    @property
    def size(self) -> int:
        """The bytes that they take."""
        return len(self.data) + _PACKED


class WindowPart:
    """The entries from `start` on that come first: what is held is sorted, packed when it is much, and merged at the end.

    behind  the key of the first entry that had no room, None when all had
    """

    def __init__(self, start: Key | None, most: int) -> None:
        self.behind: Key | None = None
        self._start = start
        self._most = most // 2  # bytes of entries, and as many of packed ones
        self._entries: list[LogEntry] = []
        self._bytes = 0
        self._packed: list[list[PackedRun]] = []  # each in order

    def add(self, entry: LogEntry) -> None:
        """Take an entry, if it is one of the earliest."""
        if self._start is not None and entry.key < self._start:
            return
        if self.behind is not None and entry.key >= self.behind:
            return
        self._entries.append(entry)
        self._bytes += measure_entry(entry)
        if self._bytes > self._most:
            self._pack_entries()

    def _pack_entries(self) -> None:
        """Pack what is held; drop the latest where it is too much even so."""
        self._entries.sort(key=attrgetter("key"))
        runs = []
        for at in range(0, len(self._entries), _RUN):
            runs.append(pack_run(self._entries[at : at + _RUN]))
        self._packed.append(runs)
        self._entries = []
        self._bytes = 0
        every = sorted(chain.from_iterable(self._packed))
        if sum(run.size for run in every) > self._most:
            self._drop_runs(every)

    def _drop_runs(self, every: Sequence[PackedRun]) -> None:
        """Drop the latest of all runs until half of their room is free; the first one stays."""
        size = every[0].size
        for run in every[1:]:
            size += run.size
            if size > self._most // 2:
                self.behind = run.first
                break
        behind = self.behind
        if behind is not None:
            kept = [[run for run in runs if run.first < behind] for runs in self._packed]
            self._packed = [runs for runs in kept if runs]

    def merge_entries(self) -> Iterator[LogEntry]:
        """Yield the entries in order."""
        self._entries.sort(key=attrgetter("key"))
        parts: list[Iterable[LogEntry]] = [unpack_runs(runs) for runs in self._packed]
        parts.append(self._entries)
        for entry in heapq.merge(*parts, key=attrgetter("key")) if self._packed else self._entries:
            if self.behind is not None and entry.key >= self.behind:
                return
            yield entry


def pack_run(entries: Sequence[LogEntry]) -> PackedRun:
    """Return entries packed, for memory alone: `marshal` is many times quicker than `pickle`, and knows plain types only."""
    parts = {entry.order: entry.part for entry in entries}
    records = []
    for when, order, number, lines, _, assumed in entries:
        records.append(((when - _EPOCH) // _MICROSECOND, order, number, lines, assumed))
    return PackedRun(entries[0].key, zlib.compress(marshal.dumps(records), 1), parts)


def unpack_runs(runs: Iterable[PackedRun]) -> Iterator[LogEntry]:
    """Yield the entries of packed runs."""
    for run in runs:
        parts = run.parts
        for when, order, number, lines, assumed in marshal.loads(zlib.decompress(run.data)):
            moment = _EPOCH + timedelta(0, 0, when)
            yield LogEntry(moment, order, number, lines, parts[order], assumed)


def measure_entry(entry: LogEntry) -> int:
    """Return how many bytes an entry takes."""
    size = _ENTRY
    for _, text in entry.lines:
        size += len(text) + _LINE
    return size
