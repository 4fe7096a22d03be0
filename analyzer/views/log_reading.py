"""Reads the logs of a case and yields their lines merged by time, in as many readings as memory asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from analyzer.artefacts.loghost import object_of_line
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node, resolve_nodes
from analyzer.ingest.reader import ReadListener
from analyzer.merged_log.collector import LogSeen, WindowScanner
from analyzer.merged_log.entry import LogEntry, TimeWindow, severity, stamp_of
from analyzer.pipeline.triage import Options, read_case, refusal
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.careful import Answer, Undecided, search_of
from analyzer.scan.prefilter import Required, literal_choices
from analyzer.secrets.values import HIDDEN
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.ledger import LOST
from analyzer.sources.remote import Place

MANY = 5000  # lines that nobody reads
HEAD_OF_LINE = 80  # characters by which a line is known again
EvidenceName = tuple[str, int, str]


def name_evidence(address: str, number: int, text: str) -> EvidenceName:
    """Return what a line is known by in any copy of the material: its file, its number, how it begins.

    A bundle that was renamed or moved since its triage has other addresses for the same lines.
    """
    return (
        PurePosixPath(address.rpartition("!")[2]).name,
        number,
        " ".join(text.split())[:HEAD_OF_LINE],
    )


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

    watch is told of each member, on_read of the bytes read from the disk, heard of the texts of each entry, all of
    them before the first line is given; on_many is called once, in the midst of the first reading, when there are more
    lines than `MANY`
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
    ) -> None:
        self.paths, self.query, self._watch, self._on_read, self._heard = (
            paths,
            query,
            watch,
            on_read,
            heard,
        )
        self.summary = LogSummary(host=query.host.lower())
        self._on_many, self._met = on_many, 0
        self._wanted = _Wanted(query, self.summary)

    def lines(self) -> Iterator[MergedLine]:
        """Yield the lines in order of time.

        Raises RefusedError when nothing could be read, UsageError when no machine has the name that is asked for.
        """
        after: Key | None = None
        nodes = scopes = None
        if self.query.host:
            kept = WindowPart(None, self.query.limits.log_bytes)
            nodes, whole = self._of_any_host(kept)
            if whole:
                yield from self._shown(kept, nodes)
                return
            scopes = frozenset(
                key for key, node in nodes.items() if self.query.host.lower() in node.name.lower()
            )
            self.summary.no_level = self.summary.undecided = 0
        while True:
            kept = WindowPart(after, self.query.limits.log_bytes)
            self._wanted.counts = after is None
            found = self._read(kept, scopes, first=after is None)
            nodes = nodes or found
            yield from self._shown(kept, nodes)
            if kept.behind is None:
                return
            after = kept.sorted()[-1].key

    def _of_any_host(self, kept: WindowPart) -> tuple[dict[str, Node], bool]:
        """Read once where one host is asked for; tell whether the lines of all hosts are so few that all were kept.

        The name of a host may come last in its archive: who is meant is known when all was read.
        """
        met = 0

        def few(entry: LogEntry) -> bool:
            nonlocal met
            met += len(entry.lines)
            return met <= MANY

        nodes = self._read(kept, few=few)
        return nodes, met <= MANY and kept.behind is None

    def _read(
        self,
        kept: WindowPart,
        scopes: frozenset[str] | None = None,
        *,
        few: Callable[[LogEntry], bool] | None = None,
        first: bool = True,
    ) -> dict[str, Node]:
        """Read the entries of a part of the window out of all material; return the machines by their places.

        scopes  the places whose logs are read, None for all; few: tells of each entry whether to go on collecting
        """
        ledger, kinds = Ledger(), KindFinder()
        options = Options(self.query.limits, samples={}, watch=self._watch, on_read=self._on_read)

        def take(entry: LogEntry) -> None:
            if not self._wanted.takes(entry):
                return
            if few is not None and not few(entry):
                scanner.full = True
                return
            kept.add(entry)
            if first and self._heard is not None:
                self._heard(text for _, text in entry.lines)
            if first and few is None:
                self._meet(len(entry.lines))

        scanner = WindowScanner(self.query.window, take, options.limits, self._wanted.words, scopes)
        intake = read_case(self.paths, ledger, kinds, scanner, options)
        refused = refusal(self.paths, ledger, intake, kinds)
        nodes = resolve_nodes(intake, kinds)
        if first:
            if refused is not None:
                raise refused
            self._tell(ledger, intake, nodes, scanner.seen)
            self._check_host()
        return nodes

    def _meet(self, lines: int) -> None:
        """Count lines of the first reading, and say when they are many."""
        before, self._met = self._met, self._met + lines
        if before <= MANY < self._met and self._on_many is not None:
            self._on_many()

    def _tell(
        self, ledger: Ledger, intake: Intake, nodes: dict[str, Node], seen: Sequence[LogSeen]
    ) -> None:
        told = self.summary
        told.hosts = sorted({node.name for node in nodes.values()})
        mine = [(_name(nodes, one.part.scope), one) for one in seen]
        known = {one.part.address for _, one in mine}
        told.seen = [*mine, *(one for one in told.seen if one[1].part.address not in known)]
        for span in intake.spans:
            told.spans.setdefault(span.address, {})[span.place.key, span.table] = (
                span.first,
                span.last,
            )
        told.back = [
            (span.address, *step)
            for span in intake.spans
            for step in span.steps
            if step[1] < step[0]
        ]
        told.holes = {scan.address: scan.nul_bytes for scan in intake.scans if scan.nul_bytes}
        told.faults = [
            f"{one.address}: {one.what}; left out: {one.left_out}" for one in ledger.damage
        ]
        told.faults += map(str, ledger.limits)
        told.faults += (f"{one.address}: {one.why}" for one in ledger.sources if one.state in LOST)

    def _check_host(self) -> None:
        wanted = self.query.host.lower()
        if wanted and not any(wanted in name.lower() for name in self.summary.hosts):
            known = ", ".join(self.summary.hosts[:5]) or "none"
            raise UsageError(
                f"no host {self.query.host!r} in this material", do=f"It has: {known}."
            )

    def _shown(self, kept: WindowPart, nodes: dict[str, Node]) -> Iterator[MergedLine]:
        wanted = self.query.host.lower()
        recent: dict[tuple[str, str], int] = {}
        moment = None
        for entry in kept.sorted():
            host = _name(nodes, entry.part.scope)
            if wanted and wanted not in host.lower():
                continue
            if entry.when != moment:
                moment, recent = entry.when, {}
            if recent.setdefault((host, entry.lines[0][1]), entry.order) != entry.order:
                self.summary.doubles += len(entry.lines)
                continue
            self.summary.lines += len(entry.lines)
            yield from self._lines_of(entry, host)

    def _lines_of(self, entry: LogEntry, host: str) -> Iterator[MergedLine]:
        level, component = entry.level_and_component()
        time, part, made = stamp_of(entry), entry.part, MergedLine._make
        for at, (number, text) in enumerate(entry.lines):
            assumed = entry.assumed if at == 0 else ("time",)
            yield made(
                (
                    time,
                    host,
                    part.name,
                    level,
                    component,
                    object_of_line(text),
                    text,
                    part.address,
                    number,
                    assumed,
                )
            )


class _Wanted:
    """Tells which entries are wanted.

    words  of each set one word at least stands in every such entry
    """

    def __init__(self, query: LogQuery, summary: LogSummary) -> None:
        self._level = severity(query.level) if query.level else None
        self._summary = summary
        self._evidence = query.evidence
        self.counts = True
        self.words: list[Required] = []
        self._searches: list[Callable[[str], Answer]] = []
        if query.object:
            self._seek(
                re.compile(rf"(?<!\w){re.escape(query.object)}(?!\w)", re.IGNORECASE), query.limits
            )
        if query.pattern:
            self._seek(_compiled(query.pattern), query.limits)
        if self._evidence:
            self.words = []  # a line of evidence need not hold any of them

    def _seek(self, pattern: re.Pattern[str], limits: Limits) -> None:
        self._searches.append(search_of(pattern, limits.pattern_steps))
        if not pattern.search(HIDDEN):  # what stands for a secret is in no log
            self.words += literal_choices(pattern.pattern, pattern.flags)

    def takes(self, entry: LogEntry) -> bool:
        """Tell whether an entry is wanted."""
        if self._passes_filters(entry):
            return True
        if not self._evidence:
            return False
        is_evidence = any(
            name_evidence(entry.part.address, *line) in self._evidence for line in entry.lines
        )
        self._summary.evidence += is_evidence and self.counts
        return is_evidence

    def _passes_filters(self, entry: LogEntry) -> bool:
        for search in self._searches:
            answers = [search(text) for _, text in entry.lines]
            if not any(one is not None and not isinstance(one, Undecided) for one in answers):
                self._summary.undecided += self.counts and any(
                    isinstance(one, Undecided) for one in answers
                )
                return False
        if self._level is None:
            return True
        level = severity(entry.level_and_component()[0])
        self._summary.no_level += level is None and self.counts
        return level is not None and level <= self._level


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        do = "A bracket, dot or star that is meant as such has a backslash before it."
        raise UsageError(
            f"{pattern!r} is not a regular expression", why=str(error), do=do
        ) from None


def _name(nodes: dict[str, Node], scope: str) -> str:
    node = nodes.get(scope)
    return node.name if node else ""


_ENTRY = 400  # bytes that an entry costs beside its text, and a line of it
Key = tuple[object, ...]


class WindowPart:
    """The entries behind `after` that come first.

    behind  the key of the first entry that had no room, None when all had
    """

    def __init__(self, after: Key | None, most: int) -> None:
        self.behind: Key | None = None
        self._after, self._most = after, most
        self._entries: list[LogEntry] = []
        self._bytes = 0

    def add(self, entry: LogEntry) -> None:
        """Take an entry, if it is one of the earliest."""
        key = entry.key
        if self._after is not None and key <= self._after:
            return
        if self.behind is not None and key >= self.behind:
            return
        self._entries.append(entry)
        self._bytes += _size(entry)
        if self._bytes > self._most and len(self._entries) > 1:
            self._trim()

    def _trim(self) -> None:
        self._entries.sort(key=lambda one: one.key)
        size = kept = 0
        for entry in self._entries:
            size += _size(entry)
            if kept and size > self._most // 2:
                break
            kept += 1
        if kept < len(self._entries):
            self.behind = self._entries[kept].key
        del self._entries[kept:]
        self._bytes = sum(map(_size, self._entries))

    def sorted(self) -> list[LogEntry]:
        """Return the entries in order."""
        self._entries.sort(key=lambda one: one.key)
        return self._entries


def _size(entry: LogEntry) -> int:
    return _ENTRY + sum(len(text) + 160 for _, text in entry.lines)
