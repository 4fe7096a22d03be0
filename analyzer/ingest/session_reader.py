"""Transcripts, and any text that may hold dumps: each output goes to its parser, at the host its prompt names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Fault
from analyzer.ingest.artefacts import ArtefactReader, cut_inside, lost_lines
from analyzer.ingest.intake import Cover, FactScope
from analyzer.ingest.loglines import SHARED, LogSearch
from analyzer.ingest.lostrows import line_of, lost_below
from analyzer.runtime.text import one_line
from analyzer.sources import Member
from analyzer.sources.prompts import Prompt
from analyzer.sources.session import TerminalSession
from analyzer.sources.transcript import find_last_prompt, split
from analyzer.sources.transcript_piece import TranscriptPiece, find_unread_outputs

# The machine that answers a call of the REST API, wherever the call was typed; what stands before the @ is a login.
_ANSWERS = re.compile(
    r"https?://(?:[^/\s\"']*@)?(?P<host>[A-Za-z0-9][\w.-]*)(?::\d+)?/(?:policy/)?api/"
)
# Prompts that say what the machine is but not which one.
NO_NAME = {"", "nsx-controller", "nsxmgr", "nsx-manager", "localhost", "manager", "nsxmanager"}
_UNNAMED = frozenset(
    ("localhost",)
)  # the name of a machine that nobody named: it is none that has a name
_HERE = ("127.0.0.1", "localhost")
_MANAGERS = ("nsx_manager", "nsxt_manager")

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
        self.artefacts, self.log_lines, self.parsers, self.streams = (
            artefacts,
            log_lines,
            parsers,
            streams,
        )
        self.into, self.ledger, self.limits = artefacts.into, artefacts.ledger, artefacts.limits
        self.typed = [parser for parser in parsers.values() if parser.typed]
        self.sought = [parser for parser in parsers.values() if not parser.head_of]

    def read(self, member: Member, begun: bytes, place: FactScope | None = None) -> None:
        """Read a transcript, or any text that may hold dumps, of which the first bytes were read already."""
        session = TerminalSession(member, begun, self.limits, self._of_stream)
        del begun  # megabytes that are lines soon
        read_by: set[str] = set()
        lines = unread = commands = 0
        outputs: list[tuple[int, str, int]] = []
        above: Prompt | None = None
        for stretch in session.read_parts():
            pieces = self._typed(split(stretch.lines, self.sought, stretch.first_line, above))
            above = find_last_prompt(pieces, above)
            read_by |= self._read_pieces(pieces, member, place, cut=stretch.cut)
            lines = stretch.first_line + len(stretch.lines) - 1
            unread += sum(
                len(piece.lines)
                for piece in pieces
                if piece.parser is None and piece.role != "command"
            )
            found = find_unread_outputs(pieces)
            commands += len(found)
            outputs += [
                (at, command[:LONGEST], size)
                for at, command, size in found[: MOST_OUTPUTS - len(outputs)]
            ]
        for hit in session.limit_hits:
            self.ledger.add_limit(hit)
        self.artefacts.say(
            member, "read" if read_by else "listed", ", ".join(sorted(read_by)), lines
        )
        if not read_by:
            member.record.why = "a text without output or log lines that Backline knows"
            return
        other = f"{unread} lines of other text" if unread else ""
        member.record.why = member.record.why or "; ".join(
            filter(None, (_named(outputs, commands), other))
        )
        member.record.outputs = outputs

    def _of_stream(self, line: str) -> bool:
        """Tell whether a line belongs to an artefact whose lines may be of any width."""
        return any(parser.starts_at(line) or parser.goes_on(line) for parser in self.streams)

    def _read_pieces(
        self, pieces: list[TranscriptPiece], member: Member, place: FactScope | None, *, cut: bool
    ) -> set[str]:
        """Read the pieces of a text; return the names of the parsers that read any."""
        read_by: set[str] = set()
        above: _Above | None = None
        of_vcenter = self._of_vcenter(pieces)
        for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
            if of_vcenter and piece.parser in SHARED and not piece.host:
                piece.kind = "vcenter"
            if piece.parser is None:
                self._lost_below(piece, member, above)
                continue
            parser = self.parsers[piece.parser]
            if parser.greets:
                prompt = next(
                    (
                        one
                        for one in pieces
                        if one.role == "command" and one.first_line > piece.first_line
                    ),
                    piece,
                )
                piece.host, piece.kind = prompt.host, parser.kind_of(piece.lines)
            read_by.add(parser.name)
            rows, covers = len(self.into.rows), len(self.into.covers)
            cut_here = cut and piece is pieces[-1]
            self._read_piece(
                piece, parser, member, place=place, cut=cut_here, below=_below(piece, following)
            )
            above = self._above(parser, rows, covers)
        return read_by

    def _of_vcenter(self, pieces: Sequence[TranscriptPiece]) -> bool:
        """Tell whether a text holds logs of vCenter, and none that only a host writes."""
        nodes = {
            self.parsers[one.parser].node
            for one in pieces
            if one.parser and one.parser not in SHARED
        }
        return "vcenter" in nodes and "esxi" not in nodes

    def _above(self, parser: Parser, rows: int, covers: int) -> _Above:
        """Return what an output gave; `rows`, `covers`: how many there were before it."""
        row = self.into.rows[-1] if len(self.into.rows) > rows else None
        return _Above(
            parser,
            line_of(row.block, row.line) if row is not None else "",
            self.into.covers[covers:],
        )

    def _lost_below(self, piece: TranscriptPiece, member: Member, above: _Above | None) -> None:
        """Count the lines of an output that goes on behind its end: no parser understood them.

        Those that look like rows may be some of the output `above`; its tables are not known whole.
        """
        if not piece.after:
            return
        for number, line in enumerate(piece.lines, piece.first_line):
            if line.strip():
                why = "after the last line that this output is known to have"
                self.into.fault(Fault(member.address, number, line, piece.after, why=why))
        if above is None or above.parser.name != piece.after:
            return
        if lost := lost_below(piece.lines, above.row):
            why = lost_lines(lost, f"{member.address}:{piece.first_line}")
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
        self,
        piece: TranscriptPiece,
        parser: Parser,
        member: Member,
        *,
        place: FactScope | None,
        cut: bool,
        below: list[str] | None = None,
    ) -> None:
        if parser.log:
            line = piece.command_line or piece.first_line
            chosen = piece.excerpt and not parser.is_all(piece.lines[0])
            excerpt = f"{member.address}:{line} holds {piece.excerpt}" if chosen else ""

            def nobody() -> FactScope:
                """Return where lines belong that name no host: the prompt's, or the file's."""
                return self._place_of(piece, parser, member, place)

            address, first = member.address, piece.first_line
            self.log_lines.search(
                [parser], None, address, nobody, piece.lines, first, excerpt=excerpt
            )
            self.log_lines.say_strange(member)
            self._read_head(piece, parser, member)
            return
        where = self._place_of(piece, parser, member, place)
        self.into.member_place.setdefault(member.address, where.key)
        block = self.artefacts.block(where, member, piece.lines, piece.first_line, cut=cut)
        block.command, block.params, block.gaps = piece.command, dict(piece.params), piece.gaps
        if parser.stream:
            raw = (f"{line}\n".encode("utf-8", "surrogateescape") for line in piece.lines)
            self.artefacts.keep_stream(parser, block, raw, where, member)
        else:
            self.artefacts.parse(parser, block, where, filtered=piece.filtered, below=below)
            cut_inside(member, block)

    def _read_head(self, piece: TranscriptPiece, log: Parser, member: Member) -> None:
        """Read what the lines of a log tell besides, at the machine that they name."""
        places = {scan.scope for scan in self.into.scans if scan.address == member.address}
        if len(places) == 1:
            place = self.into.places[places.pop()]
            for parser in self.parsers.values():
                if parser.head_of == log.name:
                    block = self.artefacts.block(place, member, piece.lines, piece.first_line)
                    self.artefacts.parse(parser, block, place, quiet=True)

    def _place_of(
        self, piece: TranscriptPiece, parser: Parser, member: Member, place: FactScope | None
    ) -> FactScope:
        kind = piece.kind or parser.node
        if kind == parser.node:
            kind = parser.kind_of(piece.lines)
        called = _ANSWERS.search(piece.command) if kind in _MANAGERS else None
        host = called["host"] if called and called["host"].lower() not in _HERE else piece.host
        if host and host.lower() not in NO_NAME:
            return self.into.place("host", host, kind)
        home = place or self.artefacts.loose(member, kind)
        if host.lower() in _UNNAMED and home.scope == "loose":
            self.into.prompted[home.key] = host.lower()
        return home


def _below(piece: TranscriptPiece, following: TranscriptPiece | None) -> list[str] | None:
    """Return the lines of the same output behind those that a parser knows: a broken row may end there."""
    own = following is not None and following.after and following.after == piece.parser
    return following.lines if following is not None and own else None


def _named(outputs: Sequence[tuple[int, str, int]], commands: int) -> str:
    """Say which outputs nothing reads, "" for none; outputs: (line, command, lines) of the first of all."""
    if not outputs:
        return ""
    named = [
        f"`{one_line(command, SHOWN)}` (line {line:,})" for line, command, _ in outputs[:NAMED]
    ]
    more = f" and {commands - NAMED:,} more" if commands > NAMED else ""
    return f"Backline does not read the output of {', '.join(named)}{more}"
