"""Reads logs line by line for the host each line names: a syslog server's file goes to many hosts.

A collector keeps the lines of many hosts, and of all programs of a host, in one file; ESX 4.x keeps those of its
own programs in `messages`. Each line goes to the host it names and to the log of its program; a line that names
no host stays with the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from analyzer.artefacts import loghost, logtime, parsing
from analyzer.artefacts.logtime import is_stamped
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.ingest.intake import Cover, FactScope, Intake, LogSpan
from analyzer.scan.blocks import BlockSearch, BlockTally, LineBlock, LineBlocks, Source, pick_lines
from analyzer.scan.heads import Heads, Purse
from analyzer.scan.hits import Ends, LogScan, decode_line
from analyzer.scan.parts import parts_of
from analyzer.scan.signatures import Scanner, encode_lines
from analyzer.signals.lines import find_excerpt_lines
from analyzer.sources import Ledger, Member
from analyzer.sources.prompts import ESXI, guess_node

SAMPLE = 200  # lines that show whether a log names hosts
_NEVER = "(?!)"  # a head that no line has
UNREAD = "unread"  # lines of programs whose log Backline does not read
_PRODUCT = re.compile(r"\bLog for (VMware [A-Za-z]+(?: [A-Za-z]+)?) pid=\d+ version=([\w.]+)")
# lines of a program that are asked for their form before it is one that nothing reads
MOST_TRIED = 20
# parsers of programs that vCenter has as well as a host
SHARED = ("envoy", "envoy_access", "rhttpproxy")
# Programs that every Linux has, and those of which a host with them is none of ESXi.
OF_ANY_LINUX = ("auth", "syslog", "dhclient", "usb", "xorg")
_NOT_OF_ESXI = re.compile(
    rb"(?:CRON|anacron|systemd(?:-\w+)?|kernel|rsyslogd|dbus(?:-daemon)?|audispd|auditd?|polkitd|sudo|unix_chkpwd|vpxd|NSXV?)$"
)
MOST_HOSTS = 1000  # of one file; the lines of further ones stay with the file, which is noted


def count_program_lines(lines: Sequence[str]) -> int:
    """Return how many of some lines name the program that wrote them, as a syslog daemon puts it before the text."""
    return sum(
        loghost.read_host_program(line.encode("utf-8", "replace"))[1] != b"" for line in lines
    )


def find_foreign_hosts(lines: Sequence[str]) -> frozenset[str]:
    """Return the hosts that some lines name and that run no ESXi: by their name, or by what else they run."""
    foreign = set()
    for line in lines:
        host, tag = loghost.read_host_program(line.encode("utf-8", "replace"))
        if host and (_NOT_OF_ESXI.match(tag) or guess_node(host) not in ("", ESXI)):
            foreign.add(host)
    return frozenset(foreign)


def find_hosted_product(lines: Sequence[str]) -> str:
    """Return product and version that line 1 of a VM's log names, "" for ESXi and where none is named."""
    for line in lines[:SAMPLE]:
        if found := _PRODUCT.search(line[:400]):
            return "" if found[1].startswith("VMware ESX") else f"{found[1]} {found[2]}"
    return ""


@dataclass(slots=True)
class HostLogPart:
    """The lines of one host and one log in a file that mixes several, and what looks at them.

    The search sees blank lines where others wrote, so that line numbers stay those of the file and the neighbours of a
    hit are never another machine's.

    log  the name of the parser
    """

    result: LogScan
    log: str
    heads: Heads
    search: BlockSearch | None
    ends: Ends

    def see_lines(self, lines: list[bytes], own: list[int], first_line: int) -> None:
        """Look at the lines of a block that are its own, given by their places."""
        kept = b"\n".join([lines[place] for place in own]) + b"\n"
        self.result.lines += len(own)
        self.result.bytes += len(kept)
        self.ends.see_block(LineBlock(kept, len(kept), 1, len(own)))
        block = pick_lines(lines, own, first_line)
        self.heads.see_block(block)
        if self.search is not None:
            self.search.search_block(block)

    def close(self, tally: BlockTally) -> None:
        """Complete the result; call after the last block."""
        if self.search is not None:
            self.search.close()
        self.ends.close()
        self.result.cut, self.result.nul_bytes = tally.cut, tally.nul_bytes
        self.result.nul_gaps = list(tally.nul_gaps)


@dataclass(slots=True)
class LinesByHost:
    """The search of one file in which lines name their hosts.

    log         the log most lines belong to; it takes what no other is known for
    logs        all logs that are known by the form of a line; one that takes the rest of them is last
    home        gives the place of lines that name no host
    alone       all lines are of that place, whatever host they name: a log of a bundle
    make_heads  gives what counts the lines that no form of some logs takes, in a place
    places      place of each result, by its scope
    foreign     hosts whose lines of programs that any Linux has are none of ESXi
    """

    scanner: Scanner
    into: Intake
    log: Parser
    logs: Sequence[Parser]
    address: str
    home: Callable[[], FactScope]
    make_heads: Callable[[Sequence[Parser], str], Heads]
    alone: bool = False
    places: dict[str, FactScope] = field(default_factory=dict)
    too_many: bool = False
    foreign: frozenset[str] = frozenset()
    _hosts: set[str] = field(default_factory=set)
    _by_tag: dict[bytes, Parser] = field(default_factory=dict)
    _tried: Counter[bytes] = field(default_factory=Counter)
    _before: dict[str, Hashable] = field(default_factory=dict)  # host -> the part of its last line
    _parsers: dict[str, Parser] = field(default_factory=dict)

    def search_source(self, source: Source, first_line: int = 1) -> list[HostLogPart]:
        """Search a source to its end; one part for each host and log, in the order in which they begin."""
        parts: dict[Hashable, HostLogPart] = {}
        now: Hashable = None  # a line without a stamp goes on with the one before
        blocks = LineBlocks(source, self.scanner.limits.line_bytes, first_line=first_line)
        for block in blocks:
            lines = bytes(memoryview(block.data)[: block.end]).split(b"\n")[:-1]
            places: dict[Hashable, list[int]] = {}
            for place, line in enumerate(lines):
                if now is None or is_stamped(line):
                    now = self._choose_part(line)
                places.setdefault(now, []).append(place)
            for key, own in places.items():
                if key not in parts:
                    parts[key] = self._begin_part(key)
                parts[key].see_lines(lines, own, block.first_line)

        tally = blocks.tally
        found = list(parts.values())
        for part in found:
            part.close(tally)
        if found:  # reported once, not for each part
            found[0].result.long_lines, found[0].result.long_at = tally.long_lines, tally.long_at
        return found

    def list_parsers(self) -> list[Parser]:
        """Return the parsers whose logs were found in it."""
        return list(self._parsers.values()) or [self.log]

    def _choose_part(self, line: bytes) -> Hashable:
        """Return the part of a line: host, log and kind of node."""
        repeated = loghost.find_repeated_host(line)
        if repeated is not None and repeated in self._before:
            return self._before[repeated]
        host, tag = loghost.read_host_program(line)
        if not tag and self.log.rest:
            tag = loghost.program_of_host(line)
        if tag:
            part = self._name_part(host, tag, line)
        else:
            part = ("", self.log.name, self.log.node)
        if host in self._before or len(self._before) < MOST_HOSTS:
            self._before[host] = part
        return part

    def _name_part(self, host: str, tag: bytes, line: bytes) -> Hashable:
        """Return the part of a line whose program is known."""
        parser = self._by_tag.get(tag)
        if parser is None and self._tried[tag] < MOST_TRIED:
            # The log that knows the form of the first lines of the program
            text = decode_line(line[:4000])
            if self.log.rest or (self.log.shape and not self.log.starts_at(text)):
                parser = next((one for one in self.logs if one.starts_at(text)), None)
            else:
                parser = self.log
            has_room = len(self._by_tag) + len(self._tried) < MOST_HOSTS
            if has_room and parser is None:
                self._tried[tag] += 1
            elif has_room and parser is not None:
                self._by_tag[tag] = parser
        if parser is None or (host in self.foreign and parser.name in OF_ANY_LINUX):
            return UNREAD
        self._parsers[parser.name] = parser
        if self.alone:
            host = ""
        elif host not in self._hosts:
            if len(self._hosts) >= MOST_HOSTS:
                self.too_many, host = True, ""
            self._hosts.add(host)
        if self.log.node == "vcenter" and parser.name in SHARED:
            kind = self.log.node
        elif parser.kind is not None:
            kind = parser.kind_of([decode_line(line[:1000])])
        else:
            kind = parser.node
        return host.lower(), parser.name, kind

    def _begin_part(self, part: Hashable) -> HostLogPart:
        """Return a part before its first line."""
        if part == UNREAD:
            result = LogScan("", self.address, "")
            heads = Heads([_NEVER], lambda _line: False, Purse())
            log = self.log
        else:
            host, name, kind = part if isinstance(part, tuple) else ("", self.log.name, "")
            place = self.into.get_place("host", host, kind) if host else self.home()
            self.places[place.key] = place
            log = self._parsers.get(name, self.log)
            table = log.tables[0].name
            parts = parts_of(parsing.tables().values(), table, self.address, place.key)
            result = LogScan(table, self.address, place.key, parts=parts)
            heads = self.make_heads([log], place.key)
        return HostLogPart(result, log.name, heads, self.scanner.begin_search(result), Ends(result))


@dataclass(slots=True)
class Strange:
    """Lines of a file that no form of its logs takes: how many of those looked at, and how many lines there are."""

    count: int = 0
    looked: int = 0
    lines: int = 0

    def describe(self) -> str:
        """Return the count with its share."""
        share = f"{self.count:,} of {self.looked:,} lines"
        if self.looked < self.lines:
            share += f" looked at ({self.lines:,} in all)"
        percent = self.count / self.looked
        if percent < 0.001:
            return f"{share} not understood"
        return f"{share} not understood ({percent:.1%})"


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

    def search_one_place(
        self,
        logs: Sequence[Parser],
        source: Source,
        address: str,
        place: FactScope,
        first_line: int = 1,
        excerpt: str = "",
    ) -> None:
        """Search a log of one machine; of `logs`, whose forms its lines may have, the first gives the table."""
        heads = self._make_heads(logs, place.key)
        table = logs[0].tables[0].name
        parts = parts_of(parsing.tables().values(), table, address, place.key)
        scan = self.scanner.scan(
            source, table, address, place.key, first_line=first_line, heads=heads, parts=parts
        )
        self._keep_scan(scan, place, excerpt)
        if heads.heads:
            self._count_strange([(heads, logs[0].name)], address, heads.looked, scan.lines)

    def search_by_host(
        self,
        logs: Sequence[Parser],
        source: Source | None,
        address: str,
        home: Callable[[], FactScope],
        lines: list[str],
        first_line: int = 1,
        *,
        excerpt: str = "",
        alone: bool = False,
    ) -> list[Parser]:
        """Search a log whose lines may name their hosts; return the parsers whose logs are in it.

        source   its bytes; None: `lines` are all of it, not only a sample
        home     gives the place of lines that name no host
        excerpt  why these are not all lines of the log, "" when they are
        alone    all lines are of the place of `home`, whatever host they name
        """
        given = encode_lines(lines) if source is None else source
        before, parsers = len(self.into.scans), [logs[0]]
        sample = lines[:SAMPLE]
        by_program = count_program_lines(sample) > 0
        if not by_program and logs[0].rest:
            # lines of 8.x without a host name their programs: more than one log may be in them
            raw_lines = (line.encode("utf-8", "replace") for line in sample)
            by_program = any(loghost.program_of_host(raw) for raw in raw_lines)
        if by_program:
            by_host = LinesByHost(
                self.scanner, self.into, logs[0], self.known, address, home, self._make_heads, alone
            )
            by_host.foreign = frozenset() if alone else find_foreign_hosts(sample)
            parsers = self._search_hosts(by_host, given, first_line, excerpt)
        else:
            self.search_one_place(logs, given, address, home(), first_line, excerpt)

        scans = self.into.scans[before:]
        scopes = {scan.scope for scan in scans}
        searched = sum(scan.lines for scan in scans if not scan.part_of)
        only_sample = searched > len(lines)
        if not alone and not only_sample and len(scopes) == 1:
            self.into.chosen += find_excerpt_lines(lines, first_line, address, *scopes)
        return parsers

    def _search_hosts(
        self, by_host: LinesByHost, given: Source, first_line: int, excerpt: str
    ) -> list[Parser]:
        """Search a log whose lines name their programs, each line for the host that it names."""
        address = by_host.address
        parts = by_host.search_source(given, first_line)
        for part in parts:
            scan = part.result
            if scan.table:
                self._keep_scan(scan, by_host.places[scan.scope], excerpt)
                continue
            self.unread[address] += scan.lines
            shown = _make_faults(part.heads, address, part.log)
            self.into.add_log_faults(address, shown[: scan.lines], scan.lines)
        counted = [
            (part.heads, part.log) for part in parts if part.result.table and part.heads.heads
        ]
        # each part sees the lines of all as blanks
        looked = max((heads.looked for heads, _ in counted), default=0)
        self._count_strange(counted, address, looked, sum(part.result.lines for part in parts))
        if by_host.too_many:
            what = f"{address} names more than {MOST_HOSTS:,} hosts"
            self.into.advice.append(f"{what}: lines of other hosts stay with the file.")
        return by_host.list_parsers()

    def _make_heads(self, logs: Sequence[Parser], place: str) -> Heads:
        """Return what counts the lines that no form of some logs takes; a parser that fails takes none."""

        def is_taken(line: str) -> bool:
            block = Block([line])
            try:
                return any(isinstance(item, Row) for log in logs for item in log.parse(block))
            except Exception:  # noqa: BLE001 - hostile text must not stop the run; the line counts as not understood
                return False

        purse = self._purses.setdefault((place, logs[0].name), Purse())
        return Heads([log.head or log.shape for log in logs], is_taken, purse)

    def _count_strange(
        self, counted: Sequence[tuple[Heads, str]], address: str, looked: int, lines: int
    ) -> None:
        """Note the lines of a log that no form takes: the first ones each, all by their number."""
        total = self.strange.setdefault(address, Strange())
        total.looked += looked
        total.lines += lines
        for heads, log in counted:
            total.count += heads.strange
            shown = _make_faults(heads, address, log)
            self.into.add_log_faults(address, shown, heads.strange)

    def note_strange_lines(self, member: Member) -> None:
        """Note of a log how many of its lines no form takes, and how many belong to programs that nothing reads."""
        strange = self.strange.get(member.address)
        unread = self.unread[member.address]
        record = member.record
        record.looked_at = 0
        whys = [record.why] if record.why else []
        if strange is not None and strange.looked < strange.lines:
            record.looked_at = strange.looked
        if strange is not None and strange.count:
            whys.append(strange.describe())
        if unread:
            whys.append(f"{unread:,} lines of programs whose log Backline does not read")
        record.why = "; ".join(whys)

    def _keep_scan(self, scan: LogScan, place: FactScope, excerpt: str) -> None:
        """Keep what the search of a log gave: its hits, how well its tables are known, its times."""
        scan.excerpt = excerpt
        for part in scan.share_with_parts():
            self.into.scans.append(part)
            self.into.covers.append(Cover(place, part.table, *part.cover, part.address))
            for hit in part.list_limits(self.scanner.limits):
                self.ledger.add_limit(hit)

        # The year of a time that names none is a guess, see `line_time`
        begin, year = logtime.line_time(bytes(scan.first_stamped), scan.address)
        end, _ = logtime.line_time(bytes(scan.last_stamped), scan.address)
        first = logtime.format_stamp(begin) if begin else ""
        last = logtime.format_stamp(end) if end else ""
        if first and last and last < first:
            order = f"it starts at {first} and ends at {last}"
            self.ledger.note(f"{scan.address}: the log is out of order: {order}")
            first, last = last, first
        if year:
            file = re.split(r"[!/]", scan.address)[-1]
            guess = f"{year} is a guess from the date in its name"
            self.into.add_remark(place, f"the lines of {file} name no year: {guess}")
        self.into.talk.count_lines(place, scan)
        # lines that somebody chose may be in any order
        steps = () if scan.excerpt else tuple(scan.steps)
        span = LogSpan(place, scan.table, scan.address, scan.lines, first, last, steps)
        self.into.spans.append(span)


def _make_faults(heads: Heads, address: str, log: str) -> list[Fault]:
    """Return the lines shown of those that no form of a log takes."""
    why = "does not look like a line of this log"
    return [Fault(address, number, text, log, why=why) for number, text in heads.shown]
