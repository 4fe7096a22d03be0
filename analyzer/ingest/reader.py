"""From members to rows: each member goes to its parser, or is listed as not read.

A member is recognised by its place in a bundle (`Parser.files`), else by its content: an
esxtop CSV by its heading, a log by its line form, anything else that is text as a
transcript whose dumps are found by prompt, command and shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analyzer.ingest.guarding import GuardedStream, guarded
from analyzer.ingest.intake import Cover, FactScope, Intake, Stray
from analyzer.ingest.known_files import KnownFiles
from analyzer.ingest.loglines import LogSearch, hosted_product, naming_programs
from analyzer.ingest.lostrows import line_of, lost_below, lost_inside
from analyzer.limits import LimitHit, Limits
from analyzer.parsing import Parser, registry
from analyzer.samples import trim
from analyzer.scan.prefilter import literal_choices
from analyzer.secrets.values import hide_lines, suspect
from analyzer.sources import Ledger, Member, pasted, prompts
from analyzer.sources.bytelines import CountedLines
from analyzer.sources.encoding import decode, first_lines, looks_like_text
from analyzer.sources.kinds import KindFinder
from analyzer.sources.likeness import likeness
from analyzer.sources.pasted import Begun
from analyzer.sources.session import TerminalSession
from analyzer.sources.transcript import TranscriptPiece, split
from analyzer.tables import Block, Fault, Frame, Row

if TYPE_CHECKING:
    from analyzer.scan.signatures import Scanner

HEAD = 64 << 10
FIRST = 16 << 10  # of the head: what artefacts that may be of any width are known by
HEAD_LINES = 200  # of a log, for what its first lines tell (version, build)
# Prompts that say what the machine is but not which one.
NO_NAME = {"", "nsx-controller", "nsxmgr", "nsx-manager", "localhost", "manager", "nsxmanager"}
# Folders of a vm-support bundle: what no parser takes there is listed, not guessed at.
LAYOUT = re.compile(
    r"^(?:[^/]+/)?(?:commands|json|etc|var|proc|bootbank|altbootbank|vmfs|usr|tmp|scratch|opt|lib|boot|dev"
    r"|snapshot-\d+)/"
)
# 4.x: one file for all programs of the host
MESSAGES = re.compile(r"(?:^|/)var/log/messages(?:\.\d+)?(?:\.(?:gz|bz2|xz|zst))?$")
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


@dataclass(frozen=True, slots=True)
class _Above:
    """An output of a transcript that was read: its parser, the line of its last row ("" for none), its covers."""

    parser: Parser
    row: str
    covers: list[Cover]


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
        self.logs = [parser for parser in self.parsers.values() if parser.log and parser.shape]
        self.typed = [parser for parser in self.parsers.values() if parser.typed]
        self.into = Intake()
        self.log_lines = LogSearch(scanner, self.into, ledger, self.logs)
        self.order = 0

    def read(self, member: Member) -> None:
        """Read one member to its end and note in the ledger what became of it."""
        self.watch.begins(member.address)
        before = self.into.lengths()
        head = b"" if member.measured else member.text_head(HEAD)
        self.kinds.see(member.root, member.path, head)
        if VSI_CACHE.search(member.path):
            self._measure_vsi_cache(member)
        elif member.measured or not head:
            member.record.why = member.record.why or ("empty" if not member.measured else "only measured")
        elif parsers := self.known_files.takes(member.path):
            self._read_known(member, parsers, head)
        elif (stream := self._streamed(head)) is not None:
            self._stream(stream, member, self._loose(member, stream.node))
        elif member.in_archive and LAYOUT.match(member.path):
            member.record.why = "no parser reads this artefact"
        elif not looks_like_text(head):
            member.record.why = "not text"
        else:
            self._read_loose(member, head)
        record = member.record
        inside, unread = member.root != member.address and not member.measured, record.state == "listed"
        if inside and (unread or record.faults) and likeness(member.path, head[:FIRST]):
            self.into.strays.append(Stray(record, member.root))
        self.into.take(member, before)
        self.progress(member.address, member.read_bytes)
        self.watch.ended(member.address, member.record.lines or 0)

    def _measure_vsi_cache(self, member: Member) -> None:
        member.record.state = "listed"
        member.record.why = "binary VSI cache; only measured, never parsed"
        name = re.sub(r"\.FRAG-\d+$", "", member.path.rsplit("/", 1)[-1])
        self.into.advice.append(VSI_ADVICE.format(address=member.address, name=name))

    # --- members whose place tells what they are ---

    def _read_known(self, member: Member, parsers: list[Parser], head: bytes) -> None:
        logs = [parser for parser in parsers if parser.log and parser.tables[0].log]
        streams = [parser for parser in parsers if parser.stream]
        others = [parser for parser in parsers if parser not in logs and parser not in streams]
        loose = member.root == member.address
        lines = decode(head) if loose else first_lines(head, HEAD_LINES)
        if logs and (loose or pasted.is_paste(lines)):
            self._read_log(logs, member, head)
            return
        place = self._loose(member, parsers[0].kind_of(lines)) if loose else self.into.place("root", member.root)
        self.into.member_place[member.address] = place.key
        if logs:
            self._read_head(others, lines, member, place)
            read_by = logs[:1]
            if MESSAGES.search(member.path):
                read_by = self.log_lines.search(logs, member, member.address, lambda: place, lines, alone=True)
            else:
                self.log_lines.whole(logs, member, member.address, place)
            self._say_searched(member, read_by)
        elif streams:
            self._stream(streams[0], member, place)
        else:
            self._read_artefact(member, others, place)

    def _read_head(self, parsers: list[Parser], lines: list[str], member: Member, place: FactScope) -> None:
        """Read what the first lines of a log tell besides (version and build of a section head)."""
        bare = Block(lines[:HEAD_LINES], 1, member.address)
        text = "\n".join(bare.lines) if parsers else ""
        asked = [parser for parser in parsers if _may_stand_in(parser, text)]
        tells = [parser for parser in asked if any(isinstance(item, Row) for item in guarded(parser, bare))]
        if tells:  # hardly ever, and to take the secrets out costs a hundred times as much
            block = self._block(place, member, hide_lines(bare.lines))
            for parser in tells:
                self._parse(parser, block, place, quiet=True)

    def _read_artefact(self, member: Member, parsers: list[Parser], place: FactScope) -> None:
        """Read a small artefact whole; when a prompt stands first it is a saved transcript."""
        begun = member.read(self.limits.block_bytes)
        first = next((line for line in decode(begun[:HEAD]) if line.strip()), "")
        if prompts.find_prompt(first) is not None:
            self._split(member, begun, place)
            return
        lines, cut = self._lines(member, begun, more=bool(member.text_head(1)))
        block = self._block(place, member, lines, cut=cut)
        taken = [parser.name for parser in parsers if self._parse(parser, block, place)]
        _cut_inside(member, block)
        self._say(member, "read", ", ".join(taken or [parser.name for parser in parsers]), len(lines))

    # --- members that only their content tells ---

    def _read_loose(self, member: Member, head: bytes) -> None:
        sample = decode(head)
        log = self._log_of(sample)
        if log is not None:
            self.into.known_logs.add(member.address)
            self._read_log([log], member, head)
            return
        self._split(member, member.read(self.limits.block_bytes))

    def _read_log(self, logs: list[Parser], member: Member, head: bytes) -> None:
        """Read a loose file that looks like a log, or is called one: the log itself, or a paste with lines of it."""
        log = logs[0]
        begun = member.read(self.limits.block_bytes)
        more = bool(member.text_head(1))
        sample = decode(head)
        prompt = pasted.typed_in(begun)
        found = pasted.searched(sample)  # a search of such lines would know neither their form nor their hosts
        if found or (not more and (prompt is not None or pasted.quoted(sample, log.starts_at))):
            self._split(member, begun)
            return
        excerpt = f"{member.address} holds an excerpt: commands were typed in between" if prompt is not None else ""
        kind = log.kind_of(sample)
        if more and prompt is not None:
            self._log_of_session(member)

        def nobody() -> FactScope:
            """Return where lines belong that name no host."""
            if prompt is not None and prompt.host and prompt.host.lower() not in NO_NAME:
                return self.into.place("host", prompt.host, prompt.node or kind)
            return self._loose(member, kind)

        if pasted.is_wide(begun):  # the search looks at bytes as UTF-8
            sample, cut = self._lines(member, begun, more=more)
            excerpt = f"{member.address} holds an excerpt: its begin" if cut else excerpt
        source = None if pasted.is_wide(begun) else Begun(begun, member)
        parsers = self.log_lines.search(logs, source, member.address, nobody, sample, excerpt=excerpt)
        places = {scan.node for scan in self.into.scans if scan.address == member.address}
        if len(places) == 1:
            place = self.into.places[places.pop()]
            self.into.member_place.setdefault(member.address, place.key)
            texts = [parser for parser in self.parsers.values() if parser.shape and not parser.log]
            heads = [parser for parser in texts if any(parser.starts_at(line) for line in sample[:5])]
            self._read_head(heads, sample, member, place)
            if product := hosted_product(sample):
                self.into.remark(place, f"{member.address} is the log of a VM under {product}")
        self._say_searched(member, parsers)

    def _log_of_session(self, member: Member) -> None:
        """Say that of a session too large to be split only the lines of the log are looked for."""
        at, left_out = self.limits.block_bytes, "outputs of other commands in it were not read"
        self.ledger.add_limit(LimitHit(member.address, "block_bytes", at, at, left_out))
        member.record.why = f"a terminal session over {at:,} bytes, searched as a log: {left_out}"

    def _streamed(self, head: bytes) -> Parser | None:
        """Return the stream parser of a text that begins as its artefact does, wherever in a bundle it lies."""
        if not looks_like_text(head):
            return None
        for line in first_lines(head[:FIRST], 5):
            for parser in self.streams:
                if parser.starts_at(line):
                    return parser
        return None

    def _log_of(self, sample: list[str]) -> Parser | None:
        """Return the log most lines of a sample belong to, when that is more than half, or most name their program."""
        lines = [line for line in sample[:200] if line.strip()]
        votes = Counter(parser.name for line in lines for parser in self.logs if parser.starts_at(line))
        if not votes:
            return None
        name, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
        sure = count * 2 > len(lines) or naming_programs(lines) * 2 > len(lines)
        return self.parsers[name] if sure else None

    def _split(self, member: Member, begun: bytes, place: FactScope | None = None) -> None:
        """Read a transcript, or any text that may hold dumps, of which the first bytes were read already."""
        session = TerminalSession(member, begun, self.limits, self._of_stream)
        read_by: set[str] = set()
        lines = unread = 0
        for stretch in session.stretches():
            pieces = self._typed(split(stretch.lines, list(self.parsers.values()), stretch.first_line))
            read_by |= self._read_pieces(pieces, member, place, cut=stretch.cut)
            lines = stretch.first_line + len(stretch.lines) - 1
            unread += sum(len(piece.lines) for piece in pieces if piece.parser is None and piece.role != "command")
        for hit in session.limit_hits:
            self.ledger.add_limit(hit)
        self._say(member, "read" if read_by else "listed", ", ".join(sorted(read_by)), lines)
        if read_by:
            member.record.why = member.record.why or (f"{unread} lines of other text" if unread else "")
        else:
            member.record.why = "text in which no known output was found"

    def _of_stream(self, line: str) -> bool:
        """Tell whether a line belongs to an artefact whose lines may be of any width."""
        return any(parser.starts_at(line) or parser.goes_on(line) for parser in self.streams)

    def _read_pieces(
        self, pieces: list[TranscriptPiece], member: Member, place: FactScope | None, *, cut: bool
    ) -> set[str]:
        """Read the pieces of a text; return the names of the parsers that read any."""
        read_by: set[str] = set()
        above: _Above | None = None
        for piece in pieces:
            if piece.parser is None:
                self._lost_below(piece, member, above)
                continue
            parser = self.parsers[piece.parser]
            read_by.add(parser.name)
            rows, covers = len(self.into.rows), len(self.into.covers)
            self._read_piece(piece, parser, member, place=place, cut=cut and piece is pieces[-1])
            above = self._above(parser, rows, covers)
        return read_by

    def _above(self, parser: Parser, rows: int, covers: int) -> _Above:
        """Return what an output gave; `rows`, `covers`: how many there were before it."""
        row = self.into.rows[-1] if len(self.into.rows) > rows else None
        return _Above(parser, line_of(row.block, row.line) if row is not None else "", self.into.covers[covers:])

    def _lost_below(self, piece: TranscriptPiece, member: Member, above: _Above | None) -> None:
        """Count the lines of an output that goes on behind its end: no parser understood them.

        Those that look like rows may be some of the output `above`; its tables are not known whole.
        """
        if not piece.after:
            return
        for number, line in enumerate(piece.lines, piece.first_line):
            if line.strip():
                why = "below the last line that this output is known to have"
                self.into.fault(Fault(member.address, number, line, piece.after, why=why))
        if above is None or above.parser.name != piece.after:
            return
        if lost := lost_below(piece.lines, above.row):
            why = _lost(lost, f"{member.address}:{piece.first_line}")
            for cover in above.covers:
                self.into.covers.append(replace(cover, state="unparsed", why=why))

    def _typed(self, pieces: list[TranscriptPiece]) -> list[TranscriptPiece]:
        """Give the line of a command that is a fact by itself to its parser, unless its output went there."""
        answered = {piece.command_line for piece in pieces if piece.parser is not None}
        for piece in pieces:
            if piece.role == "command" and piece.command_line not in answered:
                for parser in self.typed:
                    if re.search(parser.typed, piece.command):
                        piece.parser = parser.name
        return pieces

    def _read_piece(
        self, piece: TranscriptPiece, parser: Parser, member: Member, *, place: FactScope | None, cut: bool
    ) -> None:
        if parser.log:
            line = piece.command_line or piece.first_line
            excerpt = f"{member.address}:{line} holds {piece.excerpt}" if piece.excerpt else ""

            def nobody() -> FactScope:
                """Return where lines belong that name no host: the prompt's, or the file's."""
                return self._place_of(piece, parser, member, place)

            address, first = member.address, piece.first_line
            self.log_lines.search([parser], None, address, nobody, piece.lines, first, excerpt=excerpt)
            self._say_strange(member)
            return
        where = self._place_of(piece, parser, member, place)
        self.into.member_place.setdefault(member.address, where.key)
        block = self._block(where, member, piece.lines, piece.first_line, cut=cut)
        block.command, block.params = piece.command, dict(piece.params)
        if parser.stream:
            raw = (f"{line}\n".encode("utf-8", "surrogateescape") for line in piece.lines)
            self._keep_stream(parser, block, raw, where, member)
        else:
            self._parse(parser, block, where, filtered=piece.filtered)
            _cut_inside(member, block)

    def _place_of(self, piece: TranscriptPiece, parser: Parser, member: Member, place: FactScope | None) -> FactScope:
        kind = piece.kind or parser.node
        if kind == parser.node:
            kind = parser.kind_of(piece.lines)
        if piece.host and piece.host.lower() not in NO_NAME:
            return self.into.place("host", piece.host, kind)
        return place or self._loose(member, kind)

    # --- the three ways of reading ---

    def _say_searched(self, member: Member, parsers: list[Parser]) -> None:
        scans = [scan for scan in self.into.scans if scan.address == member.address]
        if holes := max((scan.nul_bytes for scan in scans), default=0):
            member.record.why = f"{holes:,} NUL bytes: a hole, as a loss of power leaves it"
        self._say_strange(member)
        read_by = ", ".join(sorted({parser.name for parser in parsers}))
        unread = self.log_lines.unread[member.address]
        self._say(member, "searched", read_by, unread + sum(scan.lines for scan in scans))

    def _say_strange(self, member: Member) -> None:
        """Tell of a log how many of its lines no form takes, and how many belong to programs nobody reads."""
        strange = self.log_lines.strange.get(member.address)
        unread = self.log_lines.unread[member.address]
        member.record.looked_at = strange.looked if strange and strange.looked < strange.lines else 0
        said = [strange.said()] if strange and strange.count else []
        said += [f"{unread:,} lines of programs whose log nothing reads"] if unread else []
        if said:
            member.record.why = "; ".join([*filter(None, [member.record.why]), *said])

    def _stream(self, parser: Parser, member: Member, place: FactScope) -> None:
        block = Block([], 1, member.address, place.key, order=self._next())
        lines = self._keep_stream(parser, block, member.chunks(), place, member)
        trim()
        self._say(member, "read", parser.name, lines)

    def _keep_stream(
        self, parser: Parser, block: Block, chunks: Iterable[bytes | memoryview], place: FactScope, member: Member
    ) -> int:
        """Keep what a stream parser yields, as it comes; return how many lines passed."""
        counted = CountedLines(chunks)
        reading = GuardedStream(parser, block, counted)
        tables: set[str] = set()
        for item in reading:
            if isinstance(item, Fault):
                self.into.fault(item)
                continue
            tables.add(item.table.name)
            if isinstance(item, Frame):
                self.into.add_frame(item)
            else:
                self.into.rows.append(item)
        member.cut = member.cut or reading.failed
        for table in parser.tables:
            if table.name in tables or reading.failed:
                self.into.covers.append(
                    Cover(place, table.name, "cut" if member.cut else "read", member.cut, block.address)
                )
        return counted.lines

    def _parse(
        self, parser: Parser, block: Block, place: FactScope, *, filtered: bool = False, quiet: bool = False
    ) -> bool:
        """Parse a block; note rows, faults and how far its tables are now known. True when rows came."""
        rows: list[Row] = []
        faults: list[Fault] = []
        for item in guarded(parser, block):
            if isinstance(item, Row):
                rows.append(item)
            elif not quiet:
                faults.append(item)
                self.into.fault(item)
        self.into.rows += rows
        for table in parser.tables:
            own = [row for row in rows if row.table.name == table.name]
            state, why = self._state(parser, block, own, faults, lost_inside(block, rows, faults))
            if own or (state and not quiet and not filtered):
                self.into.covers.append(Cover(place, table.name, state or "read", why, block.address))
        return bool(rows)

    def _state(self, parser: Parser, block: Block, rows: list[Row], faults: list[Fault], lost: int) -> tuple[str, str]:
        """How well a table is known after a block; "" when the block says nothing of it."""
        if block.cut:
            return "cut", "the text ends early"
        if rows and lost:
            return "unparsed", _lost(lost, f"{block.address}:{block.first_line}")
        if rows:
            return "read", ""
        if len(parser.tables) > 1:
            return "", ""  # one of several tables of an artefact: its absence proves nothing
        if faults:
            return "unparsed", f"{len(faults)} of {len(block.lines)} lines were not understood"
        if not any(line.strip() for line in block.lines):
            return "unparsed", "the output is empty"
        return "read", ""

    # --- small things ---

    def _lines(self, member: Member, raw: bytes, *, more: bool) -> tuple[list[str], bool]:
        """Return what was read of a member as lines without secrets, and whether there is more of it or it was cut.

        A cut member's broken last line is left out: half a number is no number.
        """
        lines = decode(raw, self.limits.line_bytes)
        if suspect(raw):
            lines = hide_lines(lines)
        if more:
            at = self.limits.block_bytes
            self.ledger.add_limit(LimitHit(member.address, "block_bytes", at, at))
        if (more or member.cut) and lines and not raw.endswith(b"\n"):
            lines.pop()
        return lines, bool(more or member.cut)

    def _block(
        self, place: FactScope, member: Member, lines: list[str], first_line: int = 1, *, cut: bool = False
    ) -> Block:
        return Block(lines, first_line, member.address, place.key, cut=cut, order=self._next())

    def _next(self) -> int:
        self.order += 1
        return self.order

    def _loose(self, member: Member, kind: str) -> FactScope:
        """A loose file, or a stray text inside a bundle's tree, which belongs to the bundle."""
        if member.in_archive:
            return self.into.place("stray", member.root, kind)
        return self.into.place("loose", member.address, kind)

    def _say(self, member: Member, state: str, read_by: str, lines: int) -> None:
        record = member.record
        record.state = "cut" if member.cut else state
        record.why = member.cut or record.why
        record.read_by, record.lines = read_by, lines
        record.faults = self.into.faults_by[member.address]


def _lost(lines: int, where: str) -> str:
    """Say that rows of an output may be missing, from a line of a member on."""
    return f"{lines:,} {'line' if lines == 1 else 'lines'} of the output at {where} may be rows, and not understood"


def _may_stand_in(parser: Parser, text: str) -> bool:
    """Tell whether a text holds the words that the first line of an output needs; True where none is known."""
    needed = [choice.texts for choice in literal_choices(parser.shape) if not choice.ignore_case]
    return all(any(word in text for word in words) for words in needed)


def _cut_inside(member: Member, block: Block) -> None:
    """Say of a member that it is cut, when its parser found the text to end in the middle (XML)."""
    if block.cut:
        member.cut = member.cut or f"the text at line {block.first_line} is cut, or lines were left out of it"
