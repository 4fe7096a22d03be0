"""How the text of one artefact becomes rows, faults and covers of an Intake, as a block or as a stream."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.ingest.guarding import guarded, guarded_stream
from analyzer.ingest.intake import Cover, FactScope, Intake
from analyzer.ingest.lostrows import lost_inside
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.secrets.values import hide_lines, may_hold_secrets
from analyzer.sources import Ledger, Member
from analyzer.sources.bytelines import CountedLines
from analyzer.sources.encoding import decode
from analyzer.sources.prompts import find_filter


class ArtefactReader:
    """Runs the parser of an artefact and keeps in `into` what it gives."""

    def __init__(self, into: Intake, ledger: Ledger, limits: Limits) -> None:
        self.into, self.ledger, self.limits = into, ledger, limits
        self.order = 0

    def keep_stream(
        self,
        parser: Parser,
        block: Block,
        chunks: Iterable[bytes | memoryview],
        place: FactScope,
        member: Member,
    ) -> int:
        """Keep what a stream parser yields, as it comes; return how many lines passed."""
        counted = CountedLines(chunks)
        reading = guarded_stream(parser, block, counted, self.into.samples)
        tables: set[str] = set()
        for item in reading:
            if isinstance(item, Fault):
                self.into.fault(item)
                continue
            tables.add(item.table.name)
            if isinstance(item, Frame):
                self.into.frames.append(item)
            else:
                self.into.rows.append(item)
        member.cut = member.cut or reading.failed
        for table in parser.tables:
            if table.name in tables or reading.failed:
                self.into.covers.append(
                    Cover(
                        place,
                        table.name,
                        "cut" if member.cut else "read",
                        member.cut,
                        block.address,
                    )
                )
        return counted.lines

    def parse(
        self,
        parser: Parser,
        block: Block,
        place: FactScope,
        *,
        filtered: bool = False,
        quiet: bool = False,
        below: list[str] | None = None,
    ) -> bool:
        """Parse a block; note rows, faults and how far its tables are now known. True when rows came.

        below  lines that follow and that nothing reads; emptied where they prove to be its own
        """
        rows: list[Row] = []
        faults: list[Fault] = []
        for item in guarded(parser, block):
            if isinstance(item, Row):
                rows.append(item)
            elif not quiet:
                faults.append(item)
        if faults:
            from analyzer.ingest.rewrapped import as_printed  # noqa: PLC0415 - most outputs are understood

            rows, faults, took_below = as_printed(
                block, rows, faults, partial(guarded, parser), below or ()
            )
            if took_below and below:
                below.clear()
        for fault in faults:
            self.into.fault(fault)
        self.into.rows += rows
        by = find_filter(block.command) if filtered else ""
        for table in parser.tables:
            own = [row for row in rows if row.table.name == table.name]
            state, why = self._state(parser, block, own, faults, lost_inside(block, rows, faults))
            if (
                own and by and state == "read" and table.key
            ):  # a list is not known whole then; one value is
                state, why = (
                    "excerpt",
                    f"the output at {block.address}:{block.first_line} was filtered by {by}",
                )
            if own or (state and not quiet and not filtered):
                self.into.covers.append(
                    Cover(place, table.name, state or "read", why, block.address)
                )
        return bool(rows)

    def _state(
        self, parser: Parser, block: Block, rows: list[Row], faults: list[Fault], lost: int
    ) -> tuple[str, str]:
        """How well a table is known after a block; "" when the block says nothing of it."""
        where = f"{block.address}:{block.first_line}"
        output = f"the output at {where}"
        if block.cut:
            return "cut", f"{output} ends early"
        if rows and lost:
            return "unparsed", lost_lines(lost, where)
        if rows:
            return "read", ""
        if len(parser.tables) > 1:
            return "", ""  # one of several tables of an artefact: its absence proves nothing
        if faults:
            return (
                "unparsed",
                f"{len(faults)} of {len(block.lines)} lines of {output} were not understood",
            )
        if not any(line.strip() for line in block.lines):
            return "unparsed", f"{output} is empty"
        return "read", ""

    def lines(self, member: Member, raw: bytes, *, more: bool) -> tuple[list[str], bool]:
        """Return what was read of a member as lines without secrets, and whether there is more of it or it was cut.

        A cut member's broken last line is left out: half a number is no number.
        """
        lines = decode(raw, self.limits.line_bytes)
        if may_hold_secrets(raw):
            lines = hide_lines(lines)
        if more:
            at = self.limits.block_bytes
            self.ledger.add_limit(LimitHit(member.address, "block_bytes", at, at))
        if (more or member.cut) and lines and not raw.endswith(b"\n"):
            lines.pop()
        return lines, bool(more or member.cut)

    def block(
        self,
        place: FactScope,
        member: Member,
        lines: list[str],
        first_line: int = 1,
        *,
        cut: bool = False,
    ) -> Block:
        """Return lines of a member as a block of their place, in the order in which blocks are read."""
        return Block(lines, first_line, member.address, place.key, cut=cut, order=self._next())

    def _next(self) -> int:
        self.order += 1
        return self.order

    def loose(self, member: Member, kind: str) -> FactScope:
        """A loose file, or a stray text inside a bundle's tree, which belongs to the bundle."""
        if member.in_archive:
            return self.into.place("stray", member.root, kind)
        return self.into.place("loose", member.address, kind)

    def say(self, member: Member, state: str, read_by: str, lines: int) -> None:
        """Note what became of a member."""
        record = member.record
        record.state = "cut" if member.cut else state
        record.why = member.cut or record.why
        record.read_by, record.lines = read_by, lines
        record.faults = self.into.faults_by[member.address]


def lost_lines(lines: int, where: str) -> str:
    """Say that rows of an output may be missing, from a line of a member on."""
    return f"{lines:,} {'line' if lines == 1 else 'lines'} of the output at {where} may be rows that were not understood"


def cut_inside(member: Member, block: Block) -> None:
    """Say of a member that it is cut, when its parser found the text to end in the middle (XML)."""
    if block.cut:
        member.cut = (
            member.cut or f"the text at line {block.first_line} is cut or has lines left out"
        )
