"""Transcripts, and any text that may hold dumps: each output goes to its parser, at the host its prompt names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Fault
from analyzer.ingest.artefacts import (
    ArtefactReader,
    describe_lost_lines,
    get_line,
    looks_like_row,
    mark_cut,
)
from analyzer.ingest.intake import Cover, FactScope
from analyzer.ingest.loglines import SHARED, LogSearch
from analyzer.ingest.nodes import OTHER
from analyzer.runtime.text import one_line
from analyzer.signals.answers import find_answer_lines, is_sure
from analyzer.sources import Member
from analyzer.sources.prompts import Prompt
from analyzer.sources.session import TerminalSession
from analyzer.sources.transcript import (
    TranscriptPiece,
    find_last_prompt,
    find_unread_outputs,
    split,
)

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


@dataclass(frozen=True, slots=True)
class _Above:
    """An output of a transcript that was read: its parser, the line of its last row ("" for none), its covers."""

    parser: Parser
    row: str
    covers: list[Cover]


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
        self.sought = [parser for parser in parsers.values() if not parser.head_of]

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
        has_sure_signs = False
        for stretch in session.read_parts():
            pieces = split(stretch.lines, self.sought, stretch.first_line, above)
            self._assign_typed(pieces)
            above = find_last_prompt(pieces, above)
            read_by |= self._read_pieces(pieces, member, place, cut=stretch.cut)
            kind = "" if read_by else OTHER
            has_sure_signs |= self._keep_signs(pieces, member, place, kind)
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

        if not read_by and has_sure_signs:
            read_by.add(FREE_TEXT)
        state = "read" if read_by else "listed"
        self.artefacts.note_outcome(member, state, ", ".join(sorted(read_by)), lines)
        record = member.record
        if not read_by:
            record.why = "a text without output or log lines that Backline knows"
            return
        whys = [_describe_unread(outputs, commands)] if outputs else []
        if other_lines:
            whys.append(f"{other_lines} lines of other text")
        record.why = record.why or "; ".join(whys)
        record.outputs = outputs

    def _assign_typed(self, pieces: list[TranscriptPiece]) -> None:
        """Give the line of a command that is a fact by itself to its parser, unless its output went there."""
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
        for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
            if of_vcenter and piece.parser in SHARED and not piece.host:
                piece.kind = "vcenter"
            if piece.parser is None:
                if piece.after:
                    self._note_lost_below(piece, member, above)
                continue
            parser = self.parsers[piece.parser]
            if parser.greets:
                piece.host = _find_prompt_below(piece, pieces).host
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
                self._parse_piece(piece, parser, member, place, cut=cut_here, below=below)
            last = self.into.rows[-1] if len(self.into.rows) > rows else None
            row = get_line(last.block, last.line) if last is not None else ""
            above = _Above(parser, row, self.into.covers[covers:])
        return read_by

    def _keep_signs(
        self, pieces: Sequence[TranscriptPiece], member: Member, place: FactScope | None, kind: str
    ) -> bool:
        """Keep the lines that say trouble of texts that nothing reads; say whether one of them is no prose.

        kind  of the machine where the text names none
        """
        is_typed = any(piece.role == "command" for piece in pieces)
        lost = {fault.line for fault in self.into.faults if fault.address == member.address}
        has_sure = False
        for piece in pieces:
            if piece.role == "command":
                continue
            found = list(find_answer_lines(piece.lines, piece.first_line, member.address, ""))
            if piece.parser is not None:  # what its parser understood speaks by its tables
                found = [line for line in found if line.line in lost]
            if not found:
                continue
            own_kind = self.parsers[piece.parser].node if piece.parser else piece.kind
            home = place or self.artefacts.place_loose(member, own_kind or kind)
            if piece.host and piece.host.lower() not in NO_NAME:
                home = self.into.get_place("host", piece.host, own_kind)
            self.into.chosen += [line._replace(scope=home.key) for line in found]
            has_sure = has_sure or any(is_sure(line, is_typed=is_typed) for line in found)
        return has_sure

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
        self.log_lines.search_by_host(
            [log], None, address, find_home, piece.lines, first, excerpt=excerpt
        )
        self.log_lines.note_strange_lines(member)
        scopes = {scan.scope for scan in self.into.scans if scan.address == address}
        if len(scopes) != 1:
            return
        home = self.into.places[scopes.pop()]
        for parser in self.parsers.values():
            if parser.head_of == log.name:
                block = self.artefacts.make_block(home, member, piece.lines, first)
                self.artefacts.parse_block(parser, block, home, quiet=True)

    def _parse_piece(
        self,
        piece: TranscriptPiece,
        parser: Parser,
        member: Member,
        place: FactScope | None,
        *,
        cut: bool,
        below: list[str] | None,
    ) -> None:
        """Parse an output at the machine that its prompt names."""
        home = self._find_place(piece, parser, member, place)
        self.into.member_place.setdefault(member.address, home.key)
        block = self.artefacts.make_block(home, member, piece.lines, piece.first_line, cut=cut)
        block.command, block.params, block.gaps = piece.command, dict(piece.params), piece.gaps
        if parser.stream:
            raw = (f"{line}\n".encode("utf-8", "surrogateescape") for line in piece.lines)
            self.artefacts.read_stream(parser, block, raw, home, member)
        else:
            self.artefacts.parse_block(parser, block, home, filtered=piece.filtered, below=below)
            mark_cut(member, block)

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


def _find_prompt_below(
    piece: TranscriptPiece, pieces: Sequence[TranscriptPiece]
) -> TranscriptPiece:
    """Return the first command below a greeting, the greeting itself where there is none."""
    for one in pieces:
        if one.role == "command" and one.first_line > piece.first_line:
            return one
    return piece


def _describe_unread(outputs: Sequence[tuple[int, str, int]], commands: int) -> str:
    """Say which outputs nothing reads; outputs: (line, command, lines) of the first of all."""
    named = []
    for line, command, _ in outputs[:NAMED]:
        named.append(f"`{one_line(command, SHOWN)}` (line {line:,})")
    more = f" and {commands - NAMED:,} more" if commands > NAMED else ""
    return f"Backline does not read the output of {', '.join(named)}{more}"
