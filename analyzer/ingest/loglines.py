"""Reads logs line by line for the host each line names: a syslog server's file goes to many hosts.

A collector keeps the lines of many hosts, and of all programs of a host, in one file; ESX 4.x keeps those of its
own programs in `messages`. Each line goes to the host it names and to the log of its program; a line that names
nobody stays with the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial

from analyzer.artefacts import loghost, logtime, parsing
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.ingest.chosen_lines import chosen
from analyzer.ingest.intake import Cover, FactScope, Intake, LogSpan
from analyzer.scan.blocks import Source
from analyzer.scan.heads import Heads, Purse
from analyzer.scan.hits import LogScan
from analyzer.scan.parted import Parted
from analyzer.scan.parts import parts_of
from analyzer.scan.signatures import Scanner, decode_line, encode_lines
from analyzer.sources import Ledger, Member
from analyzer.sources.prompts import ESXI, guess_node

SAMPLE = 200  # lines that tell whether a log names hosts
_NEVER = "(?!)"  # a head that no line has
UNREAD = "unread"  # lines of programs whose log Backline does not read
_PRODUCT = re.compile(r"\bLog for (VMware [A-Za-z]+(?: [A-Za-z]+)?) pid=\d+ version=([\w.]+)")
MOST_TRIED = (
    20  # lines of a program that are asked for their form before it is one that nothing reads
)
SHARED = (
    "envoy",
    "envoy_access",
    "rhttpproxy",
)  # parsers of programs that vCenter has as well as a host
# Programs that every Linux has, and those that tell of a host that it is none of ESXi.
OF_ANY_LINUX = ("auth", "syslog", "dhclient", "usb", "xorg")
_NOT_OF_ESXI = re.compile(
    rb"(?:CRON|anacron|systemd(?:-\w+)?|kernel|rsyslogd|dbus(?:-daemon)?|audispd|auditd?|polkitd|sudo|unix_chkpwd|vpxd|NSXV?)$"
)
MOST_HOSTS = 1000  # of one file; the lines of further ones stay with the file, which is said


def naming_programs(lines: Sequence[str]) -> int:
    """Return how many of some lines name the program that wrote them, as a syslog daemon puts it before the text."""
    return sum(
        loghost.read_host_program(line.encode("utf-8", "replace"))[1] != b"" for line in lines
    )


def other_hosts(lines: Sequence[str]) -> frozenset[str]:
    """Return the hosts that some lines name and that run no ESXi: by their name, or by what else they run."""
    told = (loghost.read_host_program(line.encode("utf-8", "replace")) for line in lines)
    return frozenset(
        host
        for host, tag in told
        if host and (_NOT_OF_ESXI.match(tag) or guess_node(host) not in ("", ESXI))
    )


def _of_programs(lines: Sequence[str]) -> bool:
    """Tell whether lines of 8.x without a host name their programs: more than one log may stand in them."""
    return any(loghost.program_of_host(line.encode("utf-8", "replace")) for line in lines)


def hosted_product(lines: Sequence[str]) -> str:
    """Return product and version that line 1 of a VM's log names, "" for ESXi and where none is named."""
    found = next(filter(None, (_PRODUCT.search(line[:400]) for line in lines[:SAMPLE])), None)
    return f"{found[1]} {found[2]}" if found and not found[1].startswith("VMware ESX") else ""


@dataclass(slots=True)
class LinesByHost:
    """The search of one file in which lines name their hosts.

    log      the log most lines belong to; it takes what no other is known for
    logs     all logs that are known by the form of a line; one that takes the rest of them stands last
    nobody   gives the place of lines that name no host
    alone    all lines are of that place, whatever host they name: a log of a bundle
    heads    gives what counts the lines that no form of some logs takes, in a place
    places   place of each result, by its scope
    others   hosts whose lines of programs that any Linux has are none of ESXi
    counted  what counted them, and the name of the log, for each part
    """

    scanner: Scanner
    into: Intake
    log: Parser
    logs: Sequence[Parser]
    address: str
    nobody: Callable[[], FactScope]
    heads: Callable[[Sequence[Parser], str], Heads]
    alone: bool = False
    places: dict[str, FactScope] = field(default_factory=dict)
    counted: dict[Hashable, tuple[Heads, str]] = field(default_factory=dict)
    too_many: bool = False
    others: frozenset[str] = frozenset()
    _hosts: set[str] = field(default_factory=set)
    _by_tag: dict[bytes, Parser] = field(default_factory=dict)
    _tried: Counter[bytes] = field(default_factory=Counter)
    _before: dict[str, Hashable] = field(default_factory=dict)  # host -> the part of its last line
    _parsers: dict[str, Parser] = field(default_factory=dict)

    def scan(self, source: Source, first_line: int = 1) -> list[LogScan]:
        """Search a source to its end; one result for each host and log."""
        parted = Parted(self._part, self._begin, self.scanner.begin_search, self._counting)
        return parted.scan(source, self.scanner.limits.line_bytes, first_line)

    def read_by(self) -> list[Parser]:
        """Return the parsers whose logs were found in it."""
        return list(self._parsers.values()) or [self.log]

    def _part(self, line: bytes) -> Hashable:
        again = loghost.find_repeated_host(line)
        if again is not None and again in self._before:
            return self._before[again]
        host, tag = loghost.read_host_program(line)
        if not tag and self.log.rest:
            tag = loghost.program_of_host(line)
        key = self._part_of(host, tag, line) if tag else ("", self.log.name, self.log.node)
        if host in self._before or len(self._before) < MOST_HOSTS:
            self._before[host] = key
        return key

    def _part_of(self, host: str, tag: bytes, line: bytes) -> Hashable:
        parser = self._parser(tag, line)
        if parser is None or (host in self.others and parser.name in OF_ANY_LINUX):
            return UNREAD
        self._parsers[parser.name] = parser
        if self.alone:
            host = ""
        elif host not in self._hosts:
            if len(self._hosts) >= MOST_HOSTS:
                self.too_many, host = True, ""
            self._hosts.add(host)
        kind = (
            parser.kind_of([decode_line(line[:1000])]) if parser.kind is not None else parser.node
        )
        if self.log.node == "vcenter" and parser.name in SHARED:
            kind = self.log.node
        return host.lower(), parser.name, kind

    def _parser(self, tag: bytes, line: bytes) -> Parser | None:
        """Return the log of a program: that which knows the form of its first lines; None when none does."""
        parser = self._by_tag.get(tag)
        if parser is not None or self._tried[tag] >= MOST_TRIED:
            return parser
        text = decode_line(line[:4000])
        own = not self.log.rest and (not self.log.shape or self.log.starts_at(text))
        parser = self.log if own else next((one for one in self.logs if one.starts_at(text)), None)
        if len(self._by_tag) + len(self._tried) < MOST_HOSTS:
            if parser is None:
                self._tried[tag] += 1
            else:
                self._by_tag[tag] = parser
        return parser

    def _begin(self, key: Hashable) -> LogScan:
        if key == UNREAD:
            return LogScan("", self.address, "")
        host, name, kind = key if isinstance(key, tuple) else ("", self.log.name, "")
        place = self.into.place("host", host, kind) if host else self.nobody()
        self.places[place.key] = place
        table = self._parsers.get(name, self.log).tables[0].name
        parts = parts_of(parsing.tables().values(), table, self.address, place.key)
        return LogScan(table, self.address, place.key, parts=parts)

    def _counting(self, key: Hashable, result: LogScan) -> Heads:
        if key == UNREAD:
            heads, log = Heads([_NEVER], lambda _line: False, Purse()), self.log
        else:
            log = self._parsers.get(key[1], self.log) if isinstance(key, tuple) else self.log
            heads = self.heads([log], result.scope)
        self.counted[key] = heads, log.name
        return heads


@dataclass(slots=True)
class Strange:
    """Lines of a file that no form of its logs takes: how many of those looked at, and how many lines there are."""

    count: int = 0
    looked: int = 0
    lines: int = 0

    def said(self) -> str:
        """Return the count with its share."""
        share = f"{self.count:,} of {self.looked:,} lines"
        if self.looked < self.lines:
            share += f" looked at ({self.lines:,} in all)"
        percent = self.count / self.looked
        return (
            f"{share} not understood ({percent:.1%})"
            if percent >= 0.001
            else f"{share} not understood"
        )


@dataclass(slots=True)
class LogSearch:
    """Searches logs and notes what they hold: hits, coverage and times, each at the host it belongs to.

    unread   address -> lines of programs whose log Backline does not read
    strange  address -> lines that no form of their log takes
    """

    scanner: Scanner
    into: Intake
    ledger: Ledger
    known: Sequence[Parser]
    unread: Counter[str] = field(default_factory=Counter)
    strange: dict[str, Strange] = field(default_factory=dict)
    _purses: dict[tuple[str, str], Purse] = field(default_factory=dict)

    def whole(
        self,
        logs: Sequence[Parser],
        source: Source,
        address: str,
        place: FactScope,
        first_line: int = 1,
        excerpt: str = "",
    ) -> None:
        """Search a log of one machine; of `logs`, whose forms its lines may have, the first gives the table."""
        heads = self._heads(logs, place.key)
        table = logs[0].tables[0].name
        parts = parts_of(parsing.tables().values(), table, address, place.key)
        scan = self.scanner.scan(
            source, table, address, place.key, first_line=first_line, heads=heads, parts=parts
        )
        self._keep(scan, place, excerpt)
        if heads.heads:
            self._count([(heads, logs[0].name)], address, heads.looked, scan.lines)

    def _heads(self, logs: Sequence[Parser], place: str) -> Heads:
        purse = self._purses.setdefault((place, logs[0].name), Purse())
        return Heads([log.head or log.shape for log in logs], partial(_taken, logs), purse)

    def _count(
        self, counted: Sequence[tuple[Heads, str]], address: str, looked: int, lines: int
    ) -> None:
        """Note the lines of a log that no form takes: the first ones each, all by their number."""
        total = self.strange.setdefault(address, Strange())
        total.looked += looked
        total.lines += lines
        for heads, log in counted:
            total.count += heads.strange
            self.into.faults_of_log(address, _shown(heads, address, log), heads.strange)

    def search(
        self,
        logs: Sequence[Parser],
        source: Source | None,
        address: str,
        nobody: Callable[[], FactScope],
        lines: list[str],
        first_line: int = 1,
        *,
        excerpt: str = "",
        alone: bool = False,
    ) -> list[Parser]:
        """Search a log whose lines may name their hosts; return the parsers whose logs stand in it.

        source   its bytes; None: `lines` are all of it, not only a sample
        nobody   gives the place of lines that name no host
        excerpt  why these are not all lines of the log, "" when they are
        alone    all lines are of the place of `nobody`, whatever host they name
        """
        given = encode_lines(lines) if source is None else source
        before, read_by = len(self.into.scans), [logs[0]]
        if naming_programs(lines[:SAMPLE]) or (logs[0].rest and _of_programs(lines[:SAMPLE])):
            by_host = LinesByHost(
                self.scanner, self.into, logs[0], self.known, address, nobody, self._heads, alone
            )
            by_host.others = frozenset() if alone else other_hosts(lines[:SAMPLE])
            read_by = self._of_hosts(by_host, given, first_line, excerpt)
        else:
            self.whole(logs, given, address, nobody(), first_line, excerpt)
        new = self.into.scans[before:]
        scopes = {scan.scope for scan in new}
        whole = sum(scan.lines for scan in new if not scan.part_of) <= len(
            lines
        )  # not only the sample of a longer log
        if not alone and whole and len(scopes) == 1:
            self.into.chosen += chosen(lines, first_line, address, *scopes)
        return read_by

    def _of_hosts(
        self, by_host: LinesByHost, given: Source, first_line: int, excerpt: str
    ) -> list[Parser]:
        """Search a log whose lines name their programs, each line for the host that it names."""
        address = by_host.address
        scans = by_host.scan(given, first_line)
        for scan in scans:
            if scan.table:
                self._keep(scan, by_host.places[scan.scope], excerpt)
            else:
                self.unread[address] += scan.lines
                shown = _shown(by_host.counted.pop(UNREAD)[0], address, by_host.log.name)
                self.into.faults_of_log(address, shown[: scan.lines], scan.lines)
        counted = [(heads, log) for heads, log in by_host.counted.values() if heads.heads]
        looked = max(
            (heads.looked for heads, _ in counted), default=0
        )  # each part sees the lines of all as blanks
        self._count(counted, address, looked, sum(scan.lines for scan in scans))
        if by_host.too_many:
            what = f"{address} names more than {MOST_HOSTS:,} hosts: lines of other hosts stay with the file."
            self.into.advice.append(what)
        return by_host.read_by()

    def say_strange(self, member: Member) -> None:
        """Tell of a log how many of its lines no form takes, and how many belong to programs nobody reads."""
        strange = self.strange.get(member.address)
        unread = self.unread[member.address]
        member.record.looked_at = (
            strange.looked if strange and strange.looked < strange.lines else 0
        )
        said = [strange.said()] if strange and strange.count else []
        said += [f"{unread:,} lines of programs whose log Backline does not read"] if unread else []
        if said:
            member.record.why = "; ".join([*filter(None, [member.record.why]), *said])

    def _keep(self, scan: LogScan, place: FactScope, excerpt: str) -> None:
        scan.excerpt = excerpt
        for one in scan.share_with_parts():
            self.into.scans.append(one)
            self.into.covers.append(Cover(place, one.table, *one.cover, one.address))
            for hit in one.list_limits(self.scanner.limits):
                self.ledger.add_limit(hit)
        (first, year), (last, _) = (
            _time(bytes(raw), scan.address) for raw in (scan.first_stamped, scan.last_stamped)
        )
        if first and last and last < first:
            self.ledger.note(
                f"{scan.address}: the log is out of order: it starts at {first} and ends at {last}"
            )
            first, last = last, first
        if year:
            file = re.split(r"[!/]", scan.address)[-1]
            self.into.remark(
                place,
                f"the lines of {file} name no year: {year} is a guess from the date in its name",
            )
        self.into.talk.take(place, scan)
        back = (
            () if scan.excerpt else tuple(scan.steps)
        )  # lines that somebody chose may stand in any order
        self.into.spans.append(
            LogSpan(place, scan.table, scan.address, scan.lines, first, last, back)
        )


def _shown(heads: Heads, address: str, log: str) -> list[Fault]:
    why = "does not look like a line of this log"
    return [Fault(address, number, text, log, why=why) for number, text in heads.shown]


def _taken(logs: Sequence[Parser], line: str) -> bool:
    """Tell whether a form of one of the logs takes a line; a parser that fails takes none."""
    block = Block([line])
    try:
        return any(isinstance(item, Row) for log in logs for item in log.parse(block))
    except Exception:  # noqa: BLE001 - hostile text must not stop the run; the line counts as not understood
        return False


def _time(line: bytes, address: str) -> tuple[str, str]:
    """Return the time of a line as ISO 8601, "" without one, and the year it was guessed to be of, see `line_time`."""
    found, guess = logtime.line_time(line, address)
    return (logtime.format_stamp(found) if found else ""), guess
