"""How the text of one artefact becomes rows, faults and covers of an Intake, as a block or as a stream.

A parser that fails costs its own artefact and nothing else. A table that has lost a row is not known whole: a rule
may judge the rows that are there, but no rule may rest on a row that is missing. Not every strange line is a row: a
remark, a ruler or a heading next to a complete table loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.ingest.intake import Cover, FactScope, Intake
from analyzer.ingest.rewrapped import undo_line_breaks
from analyzer.runtime.guard import guard
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.secrets.values import hide, hide_lines, may_hold_secrets
from analyzer.sources import Ledger, Member
from analyzer.sources.encoding import decode
from analyzer.sources.prompts import find_filter
from analyzer.sources.shapes import is_fence, is_prose, is_snip


class CountedLines:
    """Passes chunks on and counts the lines in them: those that end at LF, or at CR where there is no LF."""

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
        self._feeds = self._returns = 0
        self._last = b""

    def __iter__(self) -> Iterator[bytes | memoryview]:
        return self

    def __next__(self) -> bytes | memoryview:
        raw = bytes(next(self._chunks))
        self._feeds += raw.count(b"\n")
        if not self._feeds:
            self._returns += raw.count(b"\r")
        self._last = raw[-2:] or self._last
        return raw

    @property
    def lines(self) -> int:
        """Lines that passed; a last one without an end counts."""
        finished = (
            not self._last or (b"\n" if self._feeds else b"\r") in self._last
        )  # of UTF-16 an end is two bytes
        return (self._feeds or self._returns) + (not finished)


FAILED = "the parser failed: "
T = TypeVar("T", bound=Row | Frame | Fault)
_RULER = re.compile(r"[\W_]*$")


def run_guarded(
    parser: Parser, block: Block, run: Callable[[], Iterable[T]]
) -> Iterator[T | Fault]:
    """Yield what a parser yields of a block; one that fails costs the rest of its own artefact and nothing else.

    What came before it failed is kept, and a fault that begins with `FAILED` comes last.
    """
    failures: list[Exception] = []
    with guard(failures.append):
        yield from run()
    for error in failures:
        why = hide(f"{FAILED}{type(error).__name__}: {error}")[:300]
        yield Fault(block.address, block.first_line, "", parser.name, why=why)


def run_parser(parser: Parser, block: Block) -> Iterator[Row | Fault]:
    """Return what a parser yields of a block."""
    return run_guarded(parser, block, partial(parser.parse, block))


class ArtefactReader:
    """Runs the parser of an artefact and keeps in `into` what it gives."""

    def __init__(self, into: Intake, ledger: Ledger, limits: Limits) -> None:
        self.into, self.ledger, self.limits = into, ledger, limits
        self.order = 0

    def read_stream(
        self,
        parser: Parser,
        block: Block,
        chunks: Iterable[bytes | memoryview],
        place: FactScope,
        member: Member,
    ) -> int:
        """Keep what a stream parser yields, as it comes; return how many lines passed.

        Of samples the parser gives the columns that are wanted.
        """
        assert parser.stream is not None
        counted = CountedLines(chunks)
        run = partial(parser.stream, block, counted, self.into.samples)
        failed = ""
        filled: set[str] = set()
        for item in run_guarded(parser, block, run):
            if isinstance(item, Fault):
                self.into.add_fault(item)
                failed = item.why if item.why.startswith(FAILED) else failed
                continue
            filled.add(item.table.name)
            if isinstance(item, Frame):
                self.into.frames.append(item)
            else:
                self.into.rows.append(item)

        member.cut = member.cut or failed
        state = "cut" if member.cut else "read"
        for table in parser.tables:
            if table.name in filled or failed:
                cover = Cover(place, table.name, state, member.cut, block.address)
                self.into.covers.append(cover)
        return counted.lines

    def parse_block(
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
        for item in run_parser(parser, block):
            if isinstance(item, Row):
                rows.append(item)
            elif not quiet:
                faults.append(item)
        if faults:
            parse_again = partial(run_parser, parser)
            reread = undo_line_breaks(block, rows, faults, parse_again, below or ())
            rows, faults = reread.rows, reread.faults
            if reread.took_below and below:
                below.clear()
        for fault in faults:
            self.into.add_fault(fault)
        self.into.rows += rows

        lost = count_lost_rows(block, rows, faults)
        where = f"{block.address}:{block.first_line}"
        filter_tool = find_filter(block.command) if filtered else ""
        for table in parser.tables:
            own = [row for row in rows if row.table.name == table.name]
            state, why = self._judge_table(parser, block, own, faults, lost)
            # a list is not known whole behind a filter; one value is
            if own and filter_tool and state == "read" and table.key:
                state = "excerpt"
                why = f"the output at {where} was filtered by {filter_tool}"
            if own or (state and not quiet and not filtered):
                cover = Cover(place, table.name, state or "read", why, block.address)
                self.into.covers.append(cover)
        return bool(rows)

    def _judge_table(
        self, parser: Parser, block: Block, rows: list[Row], faults: list[Fault], lost: int
    ) -> tuple[str, str]:
        """Return how well a table is known after a block, and why; "" when the block says nothing of it."""
        where = f"{block.address}:{block.first_line}"
        output = f"the output at {where}"
        if block.cut:
            return "cut", f"{output} ends early"
        if rows and lost:
            return "unparsed", describe_lost_lines(lost, where)
        if rows:
            return "read", ""
        if len(parser.tables) > 1:
            return "", ""  # one of several tables of an artefact: its absence proves nothing
        if faults:
            share = f"{len(faults)} of {len(block.lines)} lines"
            return "unparsed", f"{share} of {output} were not understood"
        if not any(line.strip() for line in block.lines):
            return "unparsed", f"{output} is empty"
        return "read", ""

    def decode_lines(self, member: Member, raw: bytes, *, more: bool) -> tuple[list[str], bool]:
        """Return what was read of a member as lines without secrets, and whether there is more of it or it was cut.

        A cut member's broken last line is left out: half a number is no number.
        """
        lines = decode(raw, self.limits.line_bytes)
        if may_hold_secrets(raw):
            lines = hide_lines(lines)
        if more:
            most = self.limits.block_bytes
            self.ledger.add_limit(LimitHit(member.address, "block_bytes", most, most))
        is_cut = bool(more or member.cut)
        if is_cut and lines and not raw.endswith(b"\n"):
            lines.pop()
        return lines, is_cut

    def make_block(
        self,
        place: FactScope,
        member: Member,
        lines: list[str],
        first_line: int = 1,
        *,
        cut: bool = False,
    ) -> Block:
        """Return lines of a member as a block of their place, in the order in which blocks are read."""
        self.order += 1
        return Block(lines, first_line, member.address, place.key, cut=cut, order=self.order)

    def place_loose(self, member: Member, kind: str) -> FactScope:
        """Return the place of a loose file, or of a stray text inside a bundle's tree, which belongs to the bundle."""
        if member.in_archive:
            return self.into.get_place("stray", member.root, kind)
        return self.into.get_place("loose", member.address, kind)

    def note_outcome(self, member: Member, state: str, read_by: str, lines: int) -> None:
        """Note what became of a member."""
        record = member.record
        record.state = "cut" if member.cut else state
        record.why = member.cut or record.why
        record.read_by, record.lines = read_by, lines
        record.faults = self.into.faults_by[member.address]


def mark_cut(member: Member, block: Block) -> None:
    """Mark a member as cut when its parser found the text to end in the middle (XML)."""
    if block.cut:
        why = f"the text at line {block.first_line} is cut or has lines left out"
        member.cut = member.cut or why


def describe_lost_lines(lines: int, where: str) -> str:
    """Say that rows of an output may be missing, from a line of a member on."""
    count = f"{lines:,} {'line' if lines == 1 else 'lines'}"
    return f"{count} of the output at {where} may be rows that were not understood"


def count_lost_rows(block: Block, rows: Sequence[Row], faults: Sequence[Fault]) -> int:
    """Return how many lines of a block may be rows that were lost, besides those that were read.

    A line of a row of which only a value was not understood is none: the row is there. Between rows every line
    counts that is no sentence and no ruler; above the first and below the last only what looks like a row. Where
    a row takes several lines, one that is indented deeper than their first lines belongs to a row and is none.
    """
    if not rows or not faults:
        return 0
    heads = sorted({row.line for row in rows})
    understood = set(heads)
    for row in rows:
        understood.update(row.lines.values())
    first, last = min(understood), max(understood)
    deepest = None
    if len(understood) > len(heads):
        deepest = max(_measure_indent(get_line(block, head)) for head in heads)

    lost = 0
    for fault in faults:
        line = get_line(block, fault.line)
        if fault.why.startswith(FAILED):
            lost += 1
            continue
        of_a_row = deepest is not None and _measure_indent(line) > deepest
        if of_a_row or fault.line in understood:
            continue
        if first < fault.line < last:
            lost += not _is_remark(line)
        else:
            nearest = heads[0] if fault.line <= first else heads[-1]
            lost += looks_like_row(line, get_line(block, nearest))
    return lost


def looks_like_row(line: str, row: str) -> bool:
    """Say whether a line has a number, as headings have none, and at least half as many words as a row."""
    if _is_remark(line) or not any(sign.isdigit() for sign in line):
        return False
    return 2 * len(line.split()) >= len(row.split())


def get_line(block: Block, line: int) -> str:
    """Return the text of a line of a block, by its number in the member; "" when the block does not hold it."""
    place = line - block.first_line
    return block.lines[place] if 0 <= place < len(block.lines) else ""


def _is_remark(line: str) -> bool:
    return bool(_RULER.match(line)) or is_prose(line) or is_fence(line) or is_snip(line)


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
