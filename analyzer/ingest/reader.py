"""From members to rows: each member goes to its parser, or is listed as not read.

A member is recognised by its place in a bundle (`Parser.files`), else by its content: an
esxtop CSV by its heading, a log by its line form, anything else that is text as a
transcript whose dumps are found by prompt, command and shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.artefacts.parsing import Parser, may_record, registry
from analyzer.artefacts.samples import trim_memory
from analyzer.artefacts.tables import Block, Row
from analyzer.ingest.artefacts import ArtefactReader, cut_inside
from analyzer.ingest.guarding import guarded
from analyzer.ingest.intake import FactScope, Intake, Stray
from analyzer.ingest.known_files import KnownFiles, words_of
from analyzer.ingest.loglines import LogSearch, hosted_product, naming_programs
from analyzer.ingest.session_reader import NO_NAME, SessionReader
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.scan.prefilter import literal_choices
from analyzer.secrets.values import hide_lines
from analyzer.sources import Ledger, Member, pasted, prompts
from analyzer.sources.encoding import decode, first_lines, looks_like_text
from analyzer.sources.item import PIECE_INSIDE, is_piece
from analyzer.sources.kinds import KindFinder
from analyzer.sources.likeness import find_likeness
from analyzer.sources.margins import remove_margin
from analyzer.sources.markup import clean_lines
from analyzer.sources.pasted import Begun
from analyzer.sources.wrapped import is_wrapped

if TYPE_CHECKING:
    from analyzer.scan.signatures import Scanner

HEAD = 64 << 10
FIRST = 16 << 10  # of the head: what artefacts that may be of any width are known by
# What begins an entry of any log holds a time, is quoted without one, or is of a purple screen.
TIME_OF_ENTRY = re.compile(
    r"\d:\d\d:\d\d|TSC: |\bcpu[\d#]+:[\d#]|^\s*(?:WARNING|ALERT): "
    r"|Correlator\] |\[esx\.problem\.|^\s*(?:vmx|mks|vcpu-\d+)\| |DISKLIB-"
    r"|\[Releasebuild-\d|@BlueScreen: |#[A-Z]{2} Exception|\[0x[0-9a-f]|\+0x[0-9a-f]"
    r"|Panic (?:Details|Message): |BUG: failure at |: failed to allocate |_syncache\.|UEFI Secure Boot failed"
)
PASTED = 200  # lines of a text that somebody may have put together by hand
HEAD_LINES = 200  # of a log, for what its first lines tell (version, build)
# Folders of a vm-support bundle: what no parser takes there is listed, not guessed at.
LAYOUT = re.compile(
    r"^(?:[^/]+/)?(?:commands|json|etc|var|proc|bootbank|altbootbank|vmfs|usr|tmp|scratch|opt|lib|boot|dev"
    r"|snapshot-\d+)/"
)
# 4.x: one file for all programs of the host
MESSAGES = re.compile(r"(?:^|/)var/log/messages(?:\.\d+)?(?:\.(?:gz|bz2|xz|zst))?$")
UNLIKE_ITS_NAME = "its first lines are not the output of the command in its name"
VSI_CACHE = re.compile(r"(^|/)(\d+\.)?vsi_traverse_-s[^/]*\.txt")
VSI_ADVICE = (
    "{address} is a binary VSI cache; only a host of the same build reads it. On such a host turn it into text: "
    "`vsish -c {name} -e ls /net/portsets/` and then, for each port, "
    "`vsish -c {name} -e get /net/portsets/<switch>/ports/<port>/clientStats`, `…/vmxnet3/rxSummary` and "
    "`…/vmxnet3/rxqueues/<n>/status`."
)


def _nothing(*_: object) -> None:
    """Take no notice."""


@dataclass(slots=True)
class ReadListener:
    """Who is told how reading goes on, while it does; what is told changes nothing of what is read.

    begins  called before a member is read, with its address
    ended   called after it, with its address and the lines read of it
    sorts   called when all is read and put into tables; hashes: when only the hashes of files are waited for
    """

    begins: Callable[[str], None] = _nothing
    ended: Callable[[str, int], None] = _nothing
    sorts: Callable[[], None] = _nothing
    hashes: Callable[[], None] = _nothing


class MemberReader:
    """Reads the members of a case one by one into an Intake."""

    def __init__(
        self,
        ledger: Ledger,
        kinds: KindFinder,
        scanner: Scanner,
        limits: Limits,
        progress: Callable[[str, int], None] = lambda _address, _bytes: None,
        watch: ReadListener | None = None,
    ) -> None:
        self.ledger, self.kinds, self.scanner, self.limits = ledger, kinds, scanner, limits
        self.progress, self.watch = progress, watch or ReadListener()
        self.parsers = registry()
        self.known_files = KnownFiles(self.parsers.values())
        self.streams = [parser for parser in self.parsers.values() if parser.stream]
        self.stream_words = [
            word.encode() for parser in self.streams for word in words_of(parser.shape)
        ]
        logs = [parser for parser in self.parsers.values() if parser.log and parser.shape]
        self.logs = sorted(logs, key=lambda one: one.rest)
        self.into = Intake()
        self.log_lines = LogSearch(scanner, self.into, ledger, self.logs)
        self.artefacts = ArtefactReader(self.into, ledger, limits)
        self.sessions = SessionReader(self.artefacts, self.log_lines, self.parsers, self.streams)

    def read(self, member: Member) -> None:
        """Read one member to its end and note in the ledger what became of it."""
        self.watch.begins(member.address)
        before = self.into.lengths()
        head = b"" if member.measured else member.text_head(HEAD)
        self.kinds.see_member(member.root, member.path, head)
        if VSI_CACHE.search(member.path):
            self._measure_vsi_cache(member)
        elif member.measured or not head:
            member.record.why = member.record.why or (
                "empty" if not member.measured else "only measured"
            )
        elif parsers := self._takers(member, head):
            self._read_known(member, parsers, head)
        elif (stream := self._streamed(head)) is not None:
            self._stream(stream, member, self.artefacts.loose(member, stream.node))
        elif member.in_archive and LAYOUT.match(member.path):
            member.record.why = member.record.why or "no parser reads this artefact"
        elif not looks_like_text(head):
            member.record.why = (
                PIECE_INSIDE if member.in_archive and is_piece(member.path) else "not text"
            )
        else:
            self._read_loose(member, head)
        record = member.record
        inside, unread = (
            member.root != member.address and not member.measured,
            record.state == "listed",
        )
        doubtful = (
            inside and (unread or record.faults) and not self.kinds.is_sure(member.root)
        )  # see finish_ledger
        if doubtful and find_likeness(member.path, head[:FIRST]):
            self.into.strays.append(Stray(record, member.root))
        self.into.take(member, before)
        self.progress(member.address, member.read_bytes)
        self.watch.ended(member.address, member.record.lines or 0)

    def _measure_vsi_cache(self, member: Member) -> None:
        member.record.state = "listed"
        member.record.why = "binary VSI cache; only measured, never parsed"
        name = re.sub(r"\.FRAG-\d+$", "", member.path.rsplit("/", 1)[-1])
        self.into.advice.append(VSI_ADVICE.format(address=member.address, name=name))

    def _takers(self, member: Member, head: bytes) -> list[Parser]:
        """Return the parsers of a member by its place; a log that takes any file takes one with a line of its form.

        So does the parser of an output of which only the name of its command says what it is.
        """
        found, guessed = self.known_files.find(member.path)
        if guessed and found:
            begun = Block(first_lines(head, BEGINNING), 1, member.path)
            if not (found := [one for one in found if fits(one, begun)]):
                member.record.why = UNLIKE_ITS_NAME
            return found
        if not any(one.rest and one.log for one in found):
            return found
        lines = first_lines(head, HEAD_LINES)
        return [
            one for one in found if not one.log or any(re.match(one.head, line) for line in lines)
        ]

    # --- members whose place tells what they are ---

    def _read_known(self, member: Member, parsers: list[Parser], head: bytes) -> None:
        logs = [parser for parser in parsers if parser.log and parser.tables[0].log]
        streams = [parser for parser in parsers if parser.stream]
        others = [parser for parser in parsers if parser not in logs and parser not in streams]
        edge = self.kinds.is_edge_log(member.path)
        loose = member.root == member.address and not edge
        lines = decode(head) if loose else first_lines(head, HEAD_LINES)
        if logs and (loose or pasted.is_paste(lines)):
            self._read_log(logs, member, head)
            return
        place = (
            self.artefacts.loose(member, parsers[0].kind_of(lines))
            if loose
            else self._tree(member, edge=edge)
        )
        self.into.member_place[member.address] = place.key
        if logs:
            self._read_head(others, lines, member, place)
            read_by = logs[:1]
            if MESSAGES.search(member.path):
                read_by = self.log_lines.search(
                    logs, member, member.address, lambda: place, lines, alone=True
                )
            else:
                self.log_lines.whole(logs, member, member.address, place)
            self._say_searched(member, read_by)
        elif streams:
            self._stream(streams[0], member, place)
        else:
            self._read_artefact(member, others, place)

    def _tree(self, member: Member, *, edge: bool) -> FactScope:
        """Return the place of a member of a tree; the text of an Edge in a bundle of many machines is one by itself."""
        if edge:
            self.kinds.see_member(member.address, member.path)
        return self.into.place("root", member.address if edge else member.root)

    def _read_head(
        self, parsers: list[Parser], lines: list[str], member: Member, place: FactScope
    ) -> None:
        """Read what the first lines of a log tell besides (version and build of a section head)."""
        bare = Block(lines[:HEAD_LINES], 1, member.address)
        text = "\n".join(bare.lines) if parsers else ""
        asked = [parser for parser in parsers if _may_stand_in(parser, text)]
        tells = [
            parser
            for parser in asked
            if any(isinstance(item, Row) for item in guarded(parser, bare))
        ]
        if tells:  # hardly ever, and to take the secrets out costs a hundred times as much
            block = self.artefacts.block(place, member, hide_lines(bare.lines))
            for parser in tells:
                self.artefacts.parse(parser, block, place, quiet=True)

    def _read_artefact(self, member: Member, parsers: list[Parser], place: FactScope) -> None:
        """Read a small artefact whole; when a prompt stands first it is a saved transcript."""
        begun = member.read(self.limits.block_bytes)
        first = next((line for line in decode(begun[:HEAD]) if line.strip()), "")
        if prompts.find_prompt(first) is not None:
            self.sessions.read(member, begun, place)
            return
        lines, cut = self.artefacts.lines(member, begun, more=bool(member.text_head(1)))
        if member.root == member.address:
            lines = remove_margin(
                clean_lines(lines)
            )  # a terminal or a mail may have had it, a bundle has not
        block = self.artefacts.block(place, member, lines, cut=cut)
        taken = [parser.name for parser in parsers if self.artefacts.parse(parser, block, place)]
        cut_inside(member, block)
        self.artefacts.say(
            member, "read", ", ".join(taken or [parser.name for parser in parsers]), len(lines)
        )

    # --- members that only their content tells ---

    def _read_loose(self, member: Member, head: bytes) -> None:
        sample = decode(head)
        log = self._log_of(sample)
        if log is not None and not (len(head) < HEAD and self._several(log, sample)):
            self.into.known_logs.add(member.address)
            self._read_log([log], member, head)
            return
        self.sessions.read(member, member.read(self.limits.block_bytes))

    def _read_log(self, logs: list[Parser], member: Member, head: bytes) -> None:
        """Read a loose file that looks like a log, or is called one: the log itself, or a paste with lines of it."""
        log = logs[0]
        begun = member.read(self.limits.block_bytes)
        more = bool(member.text_head(1))
        sample = decode(head)
        prompt = pasted.find_typed(begun)
        found = pasted.is_searched(
            sample
        )  # a search of such lines would know neither their form nor their hosts
        copied = prompt is not None or pasted.is_quoted(sample, log.starts_at) or is_wrapped(sample)
        if found or (not more and copied):
            self.sessions.read(member, begun)
            return
        excerpt = (
            f"{member.address} holds an excerpt: commands were typed in between"
            if prompt is not None
            else ""
        )
        kind = log.kind_of(sample)
        if more and prompt is not None:
            self._log_of_session(member)

        def nobody() -> FactScope:
            """Return where lines belong that name no host."""
            if prompt is not None and prompt.host and prompt.host.lower() not in NO_NAME:
                return self.into.place("host", prompt.host, prompt.node or kind)
            return self.artefacts.loose(member, kind)

        if pasted.is_utf16(begun):  # the search looks at bytes as UTF-8
            sample, cut = self.artefacts.lines(member, begun, more=more)
            excerpt = f"{member.address} holds an excerpt: only its beginning" if cut else excerpt
        source = None if pasted.is_utf16(begun) else Begun(begun, member)
        parsers = self.log_lines.search(
            logs, source, member.address, nobody, sample, excerpt=excerpt
        )
        places = {scan.scope for scan in self.into.scans if scan.address == member.address}
        if len(places) == 1:
            place = self.into.places[places.pop()]
            self.into.member_place.setdefault(member.address, place.key)
            texts = [parser for parser in self.parsers.values() if parser.shape and not parser.log]
            heads = [
                parser for parser in texts if any(parser.starts_at(line) for line in sample[:5])
            ]
            self._read_head(heads, sample, member, place)
            if product := hosted_product(sample):
                self.into.remark(place, f"{member.address} is the log of a VM under {product}")
        self._say_searched(member, parsers)

    def _several(self, log: Parser, sample: list[str]) -> bool:
        """Tell whether a short text shows lines of several logs, as whoever collects them for a ticket pastes them."""
        if len(sample) > PASTED or naming_programs(sample):
            return False
        strange = [
            line for line in sample if TIME_OF_ENTRY.search(line) and not log.starts_at(line)
        ]
        others = [one for one in self.logs if not one.rest and not one.tables[0].inside]
        return any(one.starts_at(line) for line in strange for one in others)

    def _log_of_session(self, member: Member) -> None:
        """Say that of a session too large to be split only the lines of the log are looked for."""
        at, left_out = self.limits.block_bytes, "outputs of other commands in it were not read"
        self.ledger.add_limit(LimitHit(member.address, "block_bytes", at, at, left_out))
        member.record.why = f"a terminal session over {at:,} bytes, searched as a log: {left_out}"

    def _streamed(self, head: bytes) -> Parser | None:
        """Return the stream parser of a text that begins as its artefact does, wherever in a bundle it lies."""
        known = (
            any(word in head for word in self.stream_words) or b"\0" in head
        )  # NUL bytes: perhaps of UTF-16
        if not known or not looks_like_text(head):
            return None
        for line in first_lines(head[:FIRST], 5):
            for parser in self.streams:
                if parser.starts_at(line):
                    return parser
        return None

    def _log_of(self, sample: list[str]) -> Parser | None:
        """Return the log most lines of a sample belong to, when that is more than half, or most name their program."""
        lines = [line for line in sample[:200] if line.strip()]
        timed = [line for line in lines if TIME_OF_ENTRY.search(line)]
        named = naming_programs(lines)
        if max(len(timed), named) * 2 <= len(lines):
            return None
        votes = Counter(name for line in timed for name in self._logs_of_line(line))
        if not votes:
            return None
        name, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
        sure = max(count, named) * 2 > len(lines) and not (
            self.parsers[name].rest and len(votes) > 1
        )
        return self.parsers[name] if sure else None

    def _logs_of_line(self, line: str) -> list[str]:
        """Return the names of the logs that a line may be of; one that takes the rest only where no other does."""
        found = [parser for parser in self.logs if parser.starts_at(line)]
        return [parser.name for parser in found if not parser.rest] or [
            parser.name for parser in found
        ]

    # --- the three ways of reading ---

    def _say_searched(self, member: Member, parsers: list[Parser]) -> None:
        scans = [scan for scan in self.into.scans if scan.address == member.address]
        if holes := max((scan.nul_bytes for scan in scans), default=0):
            member.record.why = f"{holes:,} NUL bytes: a gap such as a power loss leaves"
        self.log_lines.say_strange(member)
        read_by = ", ".join(sorted({parser.name for parser in parsers}))
        unread = self.log_lines.unread[member.address]
        self.artefacts.say(
            member,
            "searched",
            read_by,
            unread + sum(scan.lines for scan in scans if not scan.part_of),
        )

    def _stream(self, parser: Parser, member: Member, place: FactScope) -> None:
        block = self.artefacts.block(place, member, [])
        lines = self.artefacts.keep_stream(parser, block, member.chunks(), place, member)
        trim_memory()
        self.artefacts.say(member, "read", parser.name, lines)


def _may_stand_in(parser: Parser, text: str) -> bool:
    """Tell whether a text holds the words that the first line of an output needs; True where none is known."""
    needed = [choice.texts for choice in literal_choices(parser.shape) if not choice.ignore_case]
    return all(any(word in text for word in words) for words in needed)


BEGINNING = 30  # lines of an output that are looked at
LEAST = 20  # fewer lines may be a message, or a list of nothing
# A first line of JSON, CSV, XML or named values, and the dashes of a table: forms that are not read by a template.
_IN_ANOTHER_FORM = re.compile(r"\s*[\[{<\"]|.*[,=]|\s*\w+\s+:")
_RULER = "--"


def fits(parser: Parser, begun: Block) -> bool:
    """Tell whether a parser makes a row of the first lines of an output; of a few lines it need not."""
    told = [line for line in begun.lines if line.strip()]
    if len(told) < LEAST:
        return True
    by_template = (
        parser.template
        and not _IN_ANOTHER_FORM.match(told[0])
        and not any(_RULER in line for line in told)
    )
    if by_template and not may_record(parser, told):
        return False  # what the whole parser would say as well, ten times as slowly
    return any(isinstance(item, Row) for item in guarded(parser, begun))
