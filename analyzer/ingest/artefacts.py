"""How the text of one artefact becomes rows, faults and covers of an Intake, as a block or as a stream.

A parser that fails costs its own artefact and nothing else. A table that has lost a row is not known whole: a rule
may judge the rows that are there, but no rule may rest on a row that is missing. Not every strange line is a row: a
remark, a ruler or a heading next to a complete table loses nothing.

A terminal breaks lines after its last column, a mail between words: the first word of a rest had no room in the line
above. A table without a ruler shows nothing by which a broken row is known. So the parser decides: what is put together
counts when it then understands every line and finds more rows than before, or as many where all it did not understand
are rests. Where a rest stood is a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple, TypeVar

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.ingest.intake import Cover, FactScope, Intake
from analyzer.runtime.guard import guard_part
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.secrets.values import hide, hide_lines, may_hold_secrets
from analyzer.sources import Ledger, Member
from analyzer.sources.encoding import decode
from analyzer.sources.passes import COLUMNS, MAIL
from analyzer.sources.prompts import find_filter
from analyzer.sources.shapes import is_fence, is_prose, is_snip

FAILED = "the parser failed: "
T = TypeVar("T", bound=Row | Frame | Fault)
_RULER = re.compile(r"[\W_]*$")
_LABEL = re.compile(r"^\s*([A-Z#][^:\n]{0,70}):(?=\s|$)", re.MULTILINE)

MOST_LINES = 2000  # of an output that is tried again
NARROWEST = 60  # characters of the widest line of what a mail broke
_MOST_MAILED = 200  # lines of an output that a mail may have broken
_MOST_TRIES = 300
_SURE = 3  # rests that are no accident
_PARTS = (2, 3)  # lines that one line became, where the blanks at their ends were lost
_NEIGHBOURS = ((0, 2), (-1, 1), (0, 3), (-1, 2))  # lines joined with a strange one, in order

ReadBlock = Callable[[Block], Iterable[Row | Fault]]


class Reread(NamedTuple):
    """What an output gives: its rows and faults, and whether the lines below it were its own."""

    rows: list[Row]
    faults: list[Fault]
    took_below: bool = False


def undo_line_breaks(
    block: Block,
    rows: list[Row],
    faults: list[Fault],
    read: ReadBlock,
    below: Sequence[str] = (),
) -> Reread:
    """Return what an output gives as it was before a terminal broke its lines; what was given where none did.

    below  lines that follow and that nothing reads: the rest of the last row may be among them
    """
    unchanged = Reread(rows, faults)
    size = len(block.lines) + len(below)
    if not faults or size > MOST_LINES:
        return unchanged
    width = max(map(len, block.lines), default=0)
    if width not in COLUMNS:
        if size > _MOST_MAILED:
            return unchanged
        return _undo_mail(block, rows, read, below) or unchanged

    # All strange lines below full ones: cells of rows that are there already
    above = [fault.line - block.first_line - 1 for fault in faults]
    all_rests = len(above) >= _SURE and all(
        at >= 0 and len(block.lines[at]) == width for at in above
    )
    least = len(rows) if all_rests else len(rows) + 1
    for further in (below, ()) if below else ((),):
        for lines in _propose_joins([*block.lines, *further], width):
            items = list(read(replace(block, lines=lines)))
            found = [item for item in items if isinstance(item, Row)]
            if len(found) == len(items) >= least:
                return Reread(found, [], bool(further))
    return unchanged


def _undo_mail(
    block: Block, rows: list[Row], read: ReadBlock, below: Sequence[str]
) -> Reread | None:
    """Return what an output gives as it was before a mail broke its lines; None where none did."""
    width = max((len(line) for line in block.lines if " " in line.strip()), default=0)
    if not NARROWEST <= width <= MAIL:
        return None

    def find_strange(lines: list[str]) -> list[int]:
        """Return which of some lines are not understood, counted from 0, in order."""
        items = read(replace(block, lines=lines))
        faults = {item.line - block.first_line for item in items if isinstance(item, Fault)}
        return sorted(faults)

    for further, gap in product((below, ()) if below else ((),), ("  ", " ")):
        lines = _join_between_words([*block.lines, *further], width, gap, find_strange)
        items = list(read(replace(block, lines=lines)))
        found = [item for item in items if isinstance(item, Row)]
        if len(found) == len(items) > len(rows):
            return Reread(found, [], bool(further))
    return None


def _propose_joins(lines: Sequence[str], width: int) -> Iterator[list[str]]:
    """Yield the lines put together: each full line with the next, or all of a paragraph in twos or threes."""
    full = [at for at in range(1, len(lines)) if len(lines[at - 1]) == width and lines[at].strip()]
    yield _join_full_lines(lines, full, width)
    for parts in _PARTS:
        rests: list[int] = []
        begin = 0
        for end in range(len(lines) + 1):
            if end < len(lines) and lines[end].strip():
                continue
            is_full = any(len(line) == width for line in lines[begin:end])
            if is_full and (end - begin) % parts == 0:
                rests += [at for at in range(begin, end) if (at - begin) % parts]
            begin = end + 1
        yield _join_full_lines(lines, rests, width)


def _join_full_lines(lines: Sequence[str], rests: Sequence[int], width: int) -> list[str]:
    """Put each rest behind the line above, which was as wide as the terminal."""
    joined = list(lines)
    for at in reversed(rests):
        joined[at - 1] = joined[at - 1].ljust(width) + joined[at]
        joined[at] = ""
    return joined


def _join_between_words(
    lines: Sequence[str], width: int, gap: str, find_strange: Callable[[list[str]], list[int]]
) -> list[str]:
    """Return the lines put together as a mail broke them: where the parser says it, else by the room that was left.

    A line is joined only where it is not understood alone: whole lines may fill a mail's width, too.

    gap           what stood where a line was broken: one blank between words, more between cells
    find_strange  tells which lines are not understood, counted from 0, in order
    """
    joined = list(lines)
    strange, tries = find_strange(joined), 0
    places = list(range(len(joined)))  # of the lines that no other has taken
    while strange and tries < _MOST_TRIES:
        at = places.index(strange[0]) if strange[0] in places else 0
        for before, after in _NEIGHBOURS:
            taken = places[max(at + before, 0) : at + after]
            if len(taken) < after - before or not all(joined[place].strip() for place in taken):
                continue
            tries += 1
            trial = _join_places(joined, taken, gap)
            left = find_strange(trial)
            if len(left) < len(strange) and not (left and left[0] <= strange[0]):
                joined, strange = trial, left
                places = [place for place in places if place not in taken[1:]]
                break
        else:
            break
    if not strange:
        return joined

    joined = list(lines)
    for at in reversed(range(1, len(lines))):
        above, rest = lines[at - 1], lines[at]
        if not above.strip() or not rest.strip() or len(above) > MAIL:
            continue
        first_word = rest.split(maxsplit=1)[0]
        if len(above) + 1 + len(first_word) > width:
            joined = _join_places(joined, [at - 1, at], gap)
    return joined


def _join_places(lines: list[str], places: Sequence[int], gap: str) -> list[str]:
    """Put the lines at some places into the first of them; the others become blank."""
    first, *rests = places
    joined = list(lines)
    joined[first] = gap.join([lines[first].rstrip(), *(lines[rest].strip() for rest in rests)])
    for rest in rests:
        joined[rest] = ""
    return joined


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


def run_guarded(
    parser: Parser, block: Block, run: Callable[[], Iterable[T]]
) -> Iterator[T | Fault]:
    """Yield what a parser yields of a block; one that fails costs the rest of its own artefact and nothing else.

    What came before it failed is kept, and a fault that begins with `FAILED` comes last.
    """
    failures: list[Exception] = []
    with guard_part(failures.append):
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

        if "esxcli" in "".join(parser.commands) and ends_inside(block.lines):
            block.cut = True
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


def ends_inside(lines: Sequence[str]) -> bool:
    """Say whether the last block of a list has only the first labels of those above, which are all alike.

    esxcli prints every label of every object, also those without a value.
    """
    labels = [f":{label}:" for label in _LABEL.findall("\n".join(lines))]
    if not labels:
        return False
    _, *whole, last = "".join(labels).split(labels[0])
    return len(set(whole)) == 1 and whole[0] != last and whole[0].startswith(last)


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
