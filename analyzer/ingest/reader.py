"""From members to rows: each member goes to its parser, or is listed as not read.

A member is recognised by its place in a bundle (`Parser.files`), else by its content: an
esxtop CSV by its heading, a log by its line form, anything else that is text as a
transcript whose dumps are found by prompt, command and shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from analyzer.artefacts.parsing import MOST_LINE, Parser, may_record, registry
from analyzer.artefacts.samples import trim_memory
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.ingest.artefacts import (
    ArtefactReader,
    describe_lost_lines,
    get_line,
    looks_like_row,
    mark_cut,
    run_parser,
)
from analyzer.ingest.intake import Cover, FactScope, Intake, Stray
from analyzer.ingest.known_files import KnownFiles, find_literal_words
from analyzer.ingest.loglines import SHARED, LogSearch, count_program_lines, find_hosted_product
from analyzer.ingest.nodes import OTHER
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.runtime.text import count_noun, one_line
from analyzer.scan.prefilter import literal_choices
from analyzer.secrets.values import hide_lines
from analyzer.signals.answers import find_answer_lines, is_sure
from analyzer.signals.lines import MOST_EXCERPT, ExcerptLine
from analyzer.signals.suspects import FEW, find_suspect_lines
from analyzer.sources import Ledger, Member, passes, prompts
from analyzer.sources.encoding import decode, first_lines, looks_like_text
from analyzer.sources.item import PIECE_INSIDE, is_piece
from analyzer.sources.kinds import LAYOUT, KindFinder
from analyzer.sources.passes import Begun, clean_lines, find_lead, is_wrapped, remove_margin
from analyzer.sources.prompts import Prompt
from analyzer.sources.session import TerminalSession
from analyzer.sources.sniff import find_likeness
from analyzer.sources.transcript import (
    TranscriptPiece,
    find_last_prompt,
    find_unread_outputs,
    split,
)

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
HEAD_LINES = 200  # of a log, for what its first lines state (version, build)
BEGINNING = 30  # lines of an output that are looked at
LEAST = 20  # fewer lines may be a message, or a list of nothing
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
# A first line of JSON, CSV, XML or named values, and the dashes of a table: forms that are not read by a template.
_IN_ANOTHER_FORM = re.compile(r"\s*[\[{<\"]|.*[,=]|\s*\w+\s+:")
_RULER = "--"
# The machine that answers a call of the REST API, wherever the call was typed; what comes before the @ is a login.
_ANSWERS = re.compile(
    r"https?://(?:[^/\s\"']*@)?(?P<host>[A-Za-z0-9][\w.-]*)(?::\d+)?/(?:policy/)?api/"
)
# Prompts that say what the machine is but not which one.
NO_NAME = {"", "nsx-controller", "nsxmgr", "nsx-manager", "localhost", "manager", "nsxmanager"}
_UNNAMED = "localhost"  # the name of a machine that was never named: it is none that has a name
_HERE = ("127.0.0.1", "localhost")
_MANAGERS = ("nsx_manager", "nsxt_manager")

FREE_TEXT = "free text"  # read by no parser, but with lines that say trouble
MOST_OUTPUTS = 1000  # that nothing reads of one text: each is kept for the case document
LONGEST = 1000  # characters of a command that are kept
NAMED, SHOWN = 3, 80  # of them in words, and characters of a command there


def _ignore(*_: object) -> None:
    """Take no notice."""


@dataclass(slots=True)
class ReadListener:
    """Who hears how reading goes on, while it does; it changes nothing of what is read.

    begins  called before a member is read, with its address
    ended   called after it, with its address and the lines read of it
    sorts   called when all is read and put into tables; hashes: when only the hashes of files are waited for
    """

    begins: Callable[[str], None] = _ignore
    ended: Callable[[str, int], None] = _ignore
    sorts: Callable[[], None] = _ignore
    hashes: Callable[[], None] = _ignore


@dataclass(frozen=True, slots=True)
class _Above:
    """An output of a transcript that was read: its parser, the line of its last row ("" for none), its covers."""

    parser: Parser
    row: str
    covers: list[Cover]


@dataclass(frozen=True, slots=True)
class _SignsOfPiece:
    """Lines of a piece of a text that say trouble: the host of their prompt and its kind, and whether one is no prose."""

    lines: list[ExcerptLine]
    host: str
    kind: str
    is_sure: bool


class SessionReader:
    """Splits a text into the outputs in it and reads each by its parser."""

    def __init__(
        self,
        artefacts: ArtefactReader,
        log_lines: LogSearch,
        parsers: Mapping[str, Parser],
        streams: Sequence[Parser],
    ) -> None:
        self.artefacts, self.log_lines = artefacts, log_lines
        self.parsers, self.streams = parsers, streams
        self.into, self.ledger, self.limits = artefacts.into, artefacts.ledger, artefacts.limits
        self.typed = [parser for parser in parsers.values() if parser.typed]
        self.anywhere = {name: parser for name, parser in parsers.items() if parser.anywhere}
        self.sought = [one for one in parsers.values() if not one.head_of and not one.anywhere]

    def read_session(self, member: Member, begun: bytes, place: FactScope | None = None) -> None:
        """Read a transcript, or any text that may hold dumps, of which the first bytes were read already."""

        def is_of_stream(line: str) -> bool:
            """Say whether a line belongs to an artefact whose lines may be of any width."""
            return any(parser.starts_at(line) or parser.goes_on(line) for parser in self.streams)

        session = TerminalSession(member, begun, self.limits, is_of_stream)
        del begun  # megabytes that are lines soon
        read_by: set[str] = set()
        lines = other_lines = commands = 0
        outputs: list[tuple[int, str, int]] = []
        above: Prompt | None = None
        signs: list[_SignsOfPiece] = []
        for stretch in session.read_parts():
            pieces = split(stretch.lines, self.sought, stretch.first_line, above)
            self._read_typed(pieces)
            above = find_last_prompt(pieces, above)
            read_by |= self._read_pieces(pieces, member, place, cut=stretch.cut)
            kind = "" if read_by - self.anywhere.keys() else OTHER
            read_by |= self._read_anywhere(pieces, member, place, kind)
            signs += self._find_signs(pieces, member, kind)
            lines = stretch.first_line + len(stretch.lines) - 1
            for piece in pieces:
                if piece.parser is None and piece.role != "command":
                    other_lines += len(piece.lines)
            unread = find_unread_outputs(pieces)
            commands += len(unread)
            for line, command, size in unread[: MOST_OUTPUTS - len(outputs)]:
                outputs.append((line, command[:LONGEST], size))
        for hit in session.limit_hits:
            self.ledger.add_limit(hit)

        if not read_by and any(one.is_sure for one in signs):
            read_by.add(FREE_TEXT)
        if read_by:
            self._place_signs(signs, member, place)
        state = "read" if read_by else "listed"
        self.artefacts.note_outcome(member, state, ", ".join(sorted(read_by)), lines)
        record = member.record
        if not read_by:
            record.why = "a text without output or log lines that Backline knows"
            self.into.texts.add(member.address)
            return
        whys = [_describe_unread(outputs, commands)] if outputs else []
        if other_lines:
            whys.append(count_noun(other_lines, "line of other text", "lines of other text"))
        record.why = record.why or "; ".join(whys)
        record.outputs = outputs

    def _read_typed(self, pieces: Sequence[TranscriptPiece]) -> None:
        """Give the parsers of command lines theirs: one is a fact by itself, unless its output went to a parser."""
        answered = {piece.command_line for piece in pieces if piece.parser is not None}
        for piece in pieces:
            if piece.role == "command" and piece.command_line not in answered:
                for parser in self.typed:
                    if re.search(parser.typed, piece.command):
                        piece.parser = parser.name

    def _read_pieces(
        self, pieces: list[TranscriptPiece], member: Member, place: FactScope | None, *, cut: bool
    ) -> set[str]:
        """Read the pieces of a text; return the names of the parsers that read any."""
        read_by: set[str] = set()
        above: _Above | None = None
        own = [one.parser for one in pieces if one.parser and one.parser not in SHARED]
        nodes = {self.parsers[name].node for name in own}
        # logs of vCenter, and none that only a host writes
        of_vcenter = "vcenter" in nodes and "esxi" not in nodes
        for piece, following in zip_longest(pieces, pieces[1:]):
            if of_vcenter and piece.parser in SHARED and not piece.host:
                piece.kind = "vcenter"
            if piece.parser is None:
                if piece.after:
                    self._note_lost_below(piece, member, above)
                continue
            parser = self.parsers[piece.parser]
            if parser.greets:
                # a greeting is of the machine whose prompt is the next below it
                for one in pieces:
                    if one.role == "command" and one.first_line > piece.first_line:
                        piece.host = one.host
                        break
                piece.kind = parser.kind_of(piece.lines)
            read_by.add(parser.name)
            below = None
            if following is not None and following.after and following.after == piece.parser:
                below = following.lines  # a broken row may end there
            rows, covers = len(self.into.rows), len(self.into.covers)
            if parser.log:
                self._search_piece(piece, parser, member, place)
            else:
                cut_here = cut and piece is pieces[-1]
                home = self._find_place(piece, parser, member, place)
                self.into.member_place.setdefault(member.address, home.key)
                block = self.artefacts.make_block(
                    home, member, piece.lines, piece.first_line, cut=cut_here
                )
                block.command, block.params, block.gaps = (
                    piece.command,
                    dict(piece.params),
                    piece.gaps,
                )
                if parser.stream:
                    raw = (f"{line}\n".encode("utf-8", "surrogateescape") for line in piece.lines)
                    self.artefacts.read_stream(parser, block, raw, home, member)
                else:
                    self.artefacts.parse_block(
                        parser, block, home, filtered=piece.filtered, below=below
                    )
                    mark_cut(member, block)
            last = self.into.rows[-1] if len(self.into.rows) > rows else None
            row = get_line(last.block, last.line) if last is not None else ""
            above = _Above(parser, row, self.into.covers[covers:])
        return read_by

    def _read_anywhere(
        self,
        pieces: Sequence[TranscriptPiece],
        member: Member,
        place: FactScope | None,
        default_kind: str,
    ) -> set[str]:
        """Read what may stand in any text among the lines that nothing else reads; return who read any.

        The lines of one machine are read together, blank where others stand: an answer may go over a prompt.

        default_kind  of the machine where the text names none
        """
        own: dict[tuple[str, str], list[TranscriptPiece]] = {}
        machine, goes_on = ("", ""), False
        for piece in pieces:
            # a sentence right below a line is of the same answer: a message in it
            if not (goes_on and piece.role == "prose" and piece.lines[0].strip()):
                machine = piece.host, piece.kind
            goes_on = bool(piece.lines[-1].strip())
            if piece.parser is None and piece.role != "command":
                own.setdefault(machine, []).append(piece)
        # one and the same line may be there a million times
        texts = {key: set().union(*(one.lines for one in some)) for key, some in own.items()}
        read_by = set()
        for parser in self.anywhere.values():
            for (host, kind), some in own.items():
                holders = _find_holders(parser.shape, texts[host, kind])
                if not any(parser.starts_at(line[:MOST_LINE]) for line in holders):
                    continue
                lines = [""] * (some[-1].first_line + len(some[-1].lines) - some[0].first_line)
                for piece in some:
                    begin = piece.first_line - some[0].first_line
                    lines[begin : begin + len(piece.lines)] = piece.lines
                if host and host.lower() not in NO_NAME:
                    home = self.into.get_place("host", host, kind)
                else:
                    home = place or self.artefacts.place_loose(member, kind or default_kind)
                block = self.artefacts.make_block(home, member, lines, some[0].first_line)
                if self.artefacts.parse_block(parser, block, home, quiet=True):
                    read_by.add(parser.name)
        return read_by

    def _find_signs(
        self, pieces: Sequence[TranscriptPiece], member: Member, kind: str
    ) -> Iterator[_SignsOfPiece]:
        """Yield the lines that say trouble of texts that nothing reads.

        kind  of the machine where the text names none
        """
        is_typed = any(piece.role == "command" for piece in pieces)
        lost = {fault.line for fault in self.into.faults if fault.address == member.address}
        size = sum(len(piece.lines) for piece in pieces)
        for piece in pieces:
            if piece.role == "command" or len(piece.lines) > MOST_EXCERPT:
                continue
            # what a parser understood speaks by its tables
            only = None if piece.parser is None else lost
            if size > FEW and piece.parser is None:
                only = find_suspect_lines(piece.lines, piece.first_line)
            found = list(find_answer_lines(piece.lines, piece.first_line, member.address, "", only))
            if not found:
                continue
            own_kind = self.parsers[piece.parser].node if piece.parser else piece.kind
            sure = any(is_sure(line, is_typed=is_typed) for line in found)
            yield _SignsOfPiece(found, piece.host, own_kind or kind, sure)

    def _place_signs(
        self, signs: Sequence[_SignsOfPiece], member: Member, place: FactScope | None
    ) -> None:
        """Keep signs under the machine that their text names, else under that of the member."""
        for one in signs:
            if one.host and one.host.lower() not in NO_NAME:
                home = self.into.get_place("host", one.host, one.kind)
            else:
                home = place or self.artefacts.place_loose(member, one.kind)
            self.into.chosen += [line._replace(scope=home.key) for line in one.lines]

    def _note_lost_below(
        self, piece: TranscriptPiece, member: Member, above: _Above | None
    ) -> None:
        """Count the lines of an output that goes on behind its end: no parser understood them.

        Those that look like rows may be some of the output `above`; its tables are not known whole.
        """
        why = "after the last line that this output is known to have"
        for number, line in enumerate(piece.lines, piece.first_line):
            if line.strip():
                self.into.add_fault(Fault(member.address, number, line, piece.after, why=why))
        if above is None or above.parser.name != piece.after:
            return
        lost = sum(looks_like_row(line, above.row) for line in piece.lines)
        if lost:
            why = describe_lost_lines(lost, f"{member.address}:{piece.first_line}")
            for cover in above.covers:
                self.into.covers.append(replace(cover, state="unparsed", why=why))

    def _search_piece(
        self, piece: TranscriptPiece, log: Parser, member: Member, place: FactScope | None
    ) -> None:
        """Search the lines of a log, and read what they state besides at the machine that they name."""
        excerpt = ""
        if piece.excerpt and not log.is_all(piece.lines[0]):
            line = piece.command_line or piece.first_line
            excerpt = f"{member.address}:{line} holds {piece.excerpt}"

        def find_home() -> FactScope:
            """Return where lines belong that name no host: the prompt's, or the file's."""
            return self._find_place(piece, log, member, place)

        address, first = member.address, piece.first_line
        if piece.command and log.match_command(piece.command) is not None:
            self.into.known_logs.add(
                address
            )  # its command says what it is, whatever form its lines have
        self.log_lines.search_by_host(
            [log], None, address, find_home, piece.lines, first, excerpt=excerpt
        )
        self.log_lines.note_strange_lines(member)
        scopes = {scan.scope for scan in self.into.own_scans}
        if len(scopes) != 1:
            return
        home = self.into.places[scopes.pop()]
        for parser in self.parsers.values():
            if parser.head_of == log.name:
                block = self.artefacts.make_block(home, member, piece.lines, first)
                self.artefacts.parse_block(parser, block, home, quiet=True)

    def _find_place(
        self, piece: TranscriptPiece, parser: Parser, member: Member, place: FactScope | None
    ) -> FactScope:
        """Return the place of a piece: the machine that answered, else that of its prompt, else the file's."""
        kind = piece.kind or parser.node
        if kind == parser.node:
            kind = parser.kind_of(piece.lines)
        host = piece.host
        called = _ANSWERS.search(piece.command) if kind in _MANAGERS else None
        if called and called["host"].lower() not in _HERE:
            host = called["host"]
        if host and host.lower() not in NO_NAME:
            return self.into.get_place("host", host, kind)
        home = place or self.artefacts.place_loose(member, kind)
        if host.lower() == _UNNAMED and home.scope == "loose":
            self.into.prompted[home.key] = host.lower()
        return home


def _describe_unread(outputs: Sequence[tuple[int, str, int]], commands: int) -> str:
    """Say which outputs nothing reads; outputs: (line, command, lines) of the first of all."""
    named = []
    for line, command, _ in outputs[:NAMED]:
        named.append(f"`{one_line(command, SHOWN)}` (line {line:,})")
    more = f" and {commands - NAMED:,} more" if commands > NAMED else ""
    return f"Backline does not read the output of {', '.join(named)}{more}"


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
        self.stream_words: list[bytes] = []
        for parser in self.streams:
            self.stream_words += [word.encode() for word in find_literal_words(parser.shape)]
        logs = [parser for parser in self.parsers.values() if parser.log and parser.shape]
        self.logs = sorted(logs, key=lambda one: one.rest)
        self.into = Intake()
        self.log_lines = LogSearch(scanner, self.into, ledger, self.logs)
        self.artefacts = ArtefactReader(self.into, ledger, limits)
        self.sessions = SessionReader(self.artefacts, self.log_lines, self.parsers, self.streams)

    def read_member(self, member: Member) -> None:
        """Read one member to its end and note in the ledger what became of it."""
        self.watch.begins(member.address)
        self.into.begin_member()
        record = member.record
        head = b"" if member.measured else member.text_head(HEAD)
        self.kinds.see_member(member.root, member.path, head)
        if VSI_CACHE.search(member.path):
            record.state = "listed"
            record.why = "binary VSI cache; only measured, never parsed"
            name = re.sub(r"\.FRAG-\d+$", "", member.path.rsplit("/", 1)[-1])
            self.into.advice.append(VSI_ADVICE.format(address=member.address, name=name))
        elif member.measured or not head:
            record.why = record.why or ("only measured" if member.measured else "empty")
        elif parsers := self._find_parsers(member, head):
            self._read_known(member, parsers, head)
        else:
            self._read_by_content(member, head)

        inside = member.root != member.address and not member.measured
        if inside and (record.state == "listed" or record.faults):
            # perhaps of a format that nothing here reads, see finish_ledger
            is_sure = self.kinds.is_sure(member.root)
            if not is_sure and find_likeness(member.path, head[:FIRST]):
                self.into.strays.append(Stray(record, member.root))
        self.into.note_member(member)
        self.progress(member.address, member.read_bytes)
        self.watch.ended(member.address, record.lines or 0)

    def _find_parsers(self, member: Member, head: bytes) -> list[Parser]:
        """Return the parsers of a member by its place; a log that takes any file takes one with a line of its form.

        So does the parser of an output of which only the name of its command says what it is.
        """
        found, is_guess = self.known_files.match_path(member.path)
        if is_guess and found:
            begun = Block(first_lines(head, BEGINNING), 1, member.path)
            fitting = [parser for parser in found if fits_output(parser, begun)]
            if not fitting:
                member.record.why = UNLIKE_ITS_NAME
            return fitting
        if not any(parser.rest and parser.log for parser in found):
            return found
        lines = first_lines(head, HEAD_LINES)
        kept = []
        for parser in found:
            if not parser.log or any(re.match(parser.head, line) for line in lines):
                kept.append(parser)
        return kept

    # --- members whose place says what they are ---

    def _read_known(self, member: Member, parsers: list[Parser], head: bytes) -> None:
        logs = [parser for parser in parsers if parser.log and parser.tables[0].log]
        streams = [parser for parser in parsers if parser.stream]
        others = [parser for parser in parsers if parser not in logs and parser not in streams]
        is_edge = self.kinds.is_edge_log(member.path)
        is_loose = member.root == member.address and not is_edge
        lines = decode(head) if is_loose else first_lines(head, HEAD_LINES)
        if logs and (is_loose or passes.is_paste(lines)):
            self._read_log(logs, member, head)
            return

        if is_loose:
            place = self.artefacts.place_loose(member, parsers[0].kind_of(lines))
        elif is_edge:  # in a bundle of many machines the text of an Edge is one by itself
            self.kinds.see_member(member.address, member.path)
            place = self.into.get_place("root", member.address)
        else:
            place = self.into.get_place("root", member.root)
        self.into.member_place[member.address] = place.key
        if logs:
            self._read_head(others, lines, member, place)
            found = logs[:1]
            if MESSAGES.search(member.path):
                found = self.log_lines.search_by_host(
                    logs, member, member.address, lambda: place, lines, alone=True
                )
            else:
                self.log_lines.search_one_place(logs, member, member.address, place)
            self._note_searched(member, found)
        elif streams:
            self._read_stream(streams[0], member, place)
        else:
            self._read_artefact(member, others, place)

    def _read_head(
        self, parsers: list[Parser], lines: list[str], member: Member, place: FactScope
    ) -> None:
        """Read what the first lines of a log state besides (version and build of a section head)."""
        bare = Block(lines[:HEAD_LINES], 1, member.address)
        text = "\n".join(bare.lines) if parsers else ""
        stating = []
        for parser in parsers:
            # the words that the first line of an output needs
            choices = [one for one in literal_choices(parser.shape) if not one.ignore_case]
            if not all(any(word in text for word in choice.texts) for choice in choices):
                continue
            if any(isinstance(item, Row) for item in run_parser(parser, bare)):
                stating.append(parser)
        if stating:  # hardly ever, and to take the secrets out costs a hundred times as much
            block = self.artefacts.make_block(place, member, hide_lines(bare.lines))
            for parser in stating:
                self.artefacts.parse_block(parser, block, place, quiet=True)

    def _read_artefact(self, member: Member, parsers: list[Parser], place: FactScope) -> None:
        """Read a small artefact at once; when a prompt comes first it is a saved transcript."""
        begun = member.read(self.limits.block_bytes)
        first = next((line for line in decode(begun[:HEAD]) if line.strip()), "")
        if prompts.find_prompt(first) is not None:
            self.sessions.read_session(member, begun, place)
            return
        more = bool(member.text_head(1))
        lines, cut = self.artefacts.decode_lines(member, begun, more=more)
        if member.root == member.address:
            # a terminal or a mail may have had it, a bundle has not
            lines = remove_margin(clean_lines(lines))
        block = self.artefacts.make_block(place, member, lines, cut=cut)
        found = []
        for parser in parsers:
            if self.artefacts.parse_block(parser, block, place):
                found.append(parser.name)
        mark_cut(member, block)
        names = found or [parser.name for parser in parsers]
        self.artefacts.note_outcome(member, "read", ", ".join(names), len(lines))

    # --- members that only their content identifies ---

    def _read_by_content(self, member: Member, head: bytes) -> None:
        record = member.record
        if (stream := self._find_stream(head)) is not None:
            place = self.artefacts.place_loose(member, stream.node)
            self._read_stream(stream, member, place)
            return
        if member.in_archive and LAYOUT.match(member.path):
            record.why = record.why or "no parser reads this artefact"
            return
        if not looks_like_text(head):
            is_part = member.in_archive and is_piece(member.path)
            record.why = PIECE_INSIDE if is_part else "not text"
            return
        sample = decode(head)
        log = self._find_log(sample)
        if log is None or (len(head) < HEAD and self._shows_other_logs(log, sample)):
            self.sessions.read_session(member, member.read(self.limits.block_bytes))
            return
        self.into.known_logs.add(member.address)
        self._read_log([log], member, head)

    def _read_log(self, logs: list[Parser], member: Member, head: bytes) -> None:
        """Read a loose file that looks like a log, or is called one: the log itself, or a paste with lines of it."""
        log, address = logs[0], member.address
        begun = member.read(self.limits.block_bytes)
        more = bool(member.text_head(1))
        sample = decode(head)
        prompt = passes.find_typed(begun)
        # a search of lines behind a file name would know neither their form nor their hosts
        is_session = passes.is_searched(sample)
        if not is_session and not more:
            is_session = prompt is not None or passes.is_quoted(sample, log.starts_at)
            is_session = is_session or is_wrapped(sample)
        lead = find_lead(sample, self._starts_log)
        if is_session or (lead and not more):
            self.sessions.read_session(member, begun)
            return

        excerpt = ""
        if prompt is not None:
            excerpt = f"{address} holds an excerpt: commands were typed in between"
        elif lead:
            excerpt = f"{address} holds an excerpt: its first line is none of the log"
        if more and prompt is not None:
            most, left_out = (
                self.limits.block_bytes,
                "outputs of other commands in it were not read",
            )
            self.ledger.add_limit(LimitHit(address, "block_bytes", most, most, left_out))
            session = f"a terminal session over {most:,} bytes"
            member.record.why = f"{session}, searched as a log: {left_out}"
        kind = log.kind_of(sample)

        def find_home() -> FactScope:
            """Return where lines belong that name no host."""
            if prompt is not None and prompt.host and prompt.host.lower() not in NO_NAME:
                own_kind = prompt.node if prompt.sure else kind or prompt.node
                return self.into.get_place("host", prompt.host, own_kind)
            return self.artefacts.place_loose(member, kind)

        source: Begun | None = Begun(begun, member)
        if passes.is_utf16(begun):  # the search looks at bytes as UTF-8
            source = None
            sample, cut = self.artefacts.decode_lines(member, begun, more=more)
            if cut:
                excerpt = f"{address} holds an excerpt: only its beginning"
        parsers = self.log_lines.search_by_host(
            logs, source, address, find_home, sample, excerpt=excerpt
        )
        places = {scan.scope for scan in self.into.own_scans}
        if len(places) == 1:
            place = self.into.places[places.pop()]
            self.into.member_place.setdefault(member.address, place.key)
            heads = []
            for parser in self.parsers.values():
                if parser.log or not parser.shape:
                    continue
                if any(parser.starts_at(line) for line in sample[:5]):
                    heads.append(parser)
            self._read_head(heads, sample, member, place)
            if product := find_hosted_product(sample):
                self.into.add_remark(place, f"{member.address} is the log of a VM under {product}")
        self._note_searched(member, parsers)

    def _starts_log(self, line: str) -> bool:
        """Say whether a line is the first of an entry of any log, or of the head that a log begins with."""
        if any(one.starts_at(line) for one in self.logs if not one.rest):
            return True
        heads = (one for one in self.parsers.values() if one.head_of)
        return any(one.starts_at(line) for one in heads)

    def _shows_other_logs(self, log: Parser, sample: list[str]) -> bool:
        """Say whether a short text shows lines of several logs, as whoever collects them for a ticket pastes them."""
        if len(sample) > PASTED or count_program_lines(sample):
            return False
        others = [one for one in self.logs if not one.rest and not one.tables[0].inside]
        for line in sample:
            if not TIME_OF_ENTRY.search(line) or log.starts_at(line):
                continue
            if any(other.starts_at(line) for other in others):
                return True
        return False

    def _find_stream(self, head: bytes) -> Parser | None:
        """Return the stream parser of a text that begins as its artefact does, wherever in a bundle it lies."""
        # NUL bytes: perhaps of UTF-16
        is_likely = any(word in head for word in self.stream_words) or b"\0" in head
        if not is_likely or not looks_like_text(head):
            return None
        for line in first_lines(head[:FIRST], 5):
            for parser in self.streams:
                if parser.starts_at(line):
                    return parser
        return None

    def _find_log(self, sample: list[str]) -> Parser | None:
        """Return the log most lines of a sample belong to, when that is more than half, or most name their program."""
        lines = [line for line in sample[:200] if line.strip()]
        timed = [line for line in lines if TIME_OF_ENTRY.search(line)]
        by_program = count_program_lines(lines)
        if max(len(timed), by_program) * 2 <= len(lines):
            return None
        votes: Counter[str] = Counter()
        for line in timed:
            found = [parser for parser in self.logs if parser.starts_at(line)]
            # one that takes the rest only where no other does
            sure = [parser for parser in found if not parser.rest]
            votes.update(parser.name for parser in sure or found)
        if not votes:
            return None
        name = min(votes, key=lambda name: (-votes[name], name))
        parser = self.parsers[name]
        if parser.rest and len(votes) > 1:
            return None
        return parser if max(votes[name], by_program) * 2 > len(lines) else None

    # --- what became of a member ---

    def _note_searched(self, member: Member, parsers: list[Parser]) -> None:
        scans = self.into.own_scans
        if holes := max((scan.nul_bytes for scan in scans), default=0):
            member.record.why = f"{holes:,} NUL bytes: a gap such as a power loss leaves"
        self.log_lines.note_strange_lines(member)
        names = sorted({parser.name for parser in parsers})
        lines = self.log_lines.unread[member.address]
        lines += sum(scan.lines for scan in scans if not scan.part_of)
        self.artefacts.note_outcome(member, "searched", ", ".join(names), lines)

    def _read_stream(self, parser: Parser, member: Member, place: FactScope) -> None:
        block = self.artefacts.make_block(place, member, [])
        lines = self.artefacts.read_stream(parser, block, member.chunks(), place, member)
        trim_memory()
        self.artefacts.note_outcome(member, "read", parser.name, lines)


def fits_output(parser: Parser, begun: Block) -> bool:
    """Say whether a parser makes a row of the first lines of an output; of a few lines it need not."""
    lines = [line for line in begun.lines if line.strip()]
    if len(lines) < LEAST:
        return True
    if parser.template and not _IN_ANOTHER_FORM.match(lines[0]):
        has_ruler = any(_RULER in line for line in lines)
        if not has_ruler and not may_record(parser, lines):
            return False  # what the parser itself would say as well, ten times as slowly
    return any(isinstance(item, Row) for item in run_parser(parser, begun))


def _find_holders(shape: str, lines: set[str]) -> Iterable[str]:
    """Return those of many lines that hold one of the texts without which a shape, not ignoring case, matches none."""
    if len(lines) <= FEW:
        return lines
    whole = "\n".join(lines)
    for choice in literal_choices(shape):
        if not choice.ignore_case:
            held = [text for text in choice.texts if text in whole]
            return [line for line in lines if any(text in line for text in held)] if held else []
    return lines
