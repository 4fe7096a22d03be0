"""Lines of an output that were not understood and may have been rows.

A table that has lost a row is not known whole: a rule may judge the rows that are there, but no rule may
rest on a row that is missing. Not every strange line is a row: a remark, a ruler or a heading beside a
complete table loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.ingest.guarding import FAILED
from analyzer.sources.shapes import is_fence, is_prose, is_snip

_RULER = re.compile(r"[\W_]*$")


def lost_inside(block: Block, rows: Sequence[Row], faults: Sequence[Fault]) -> int:
    """Return how many lines of a block may be rows that were lost, beside those that were read.

    A line of a row of which only a value was not understood is none: the row is there. Between rows every line
    counts that is no sentence and no ruler; above the first and below the last only what looks like a row. Where
    a row takes several lines, one that is indented deeper than their first lines tells more of a row and is none.
    """
    if not rows or not faults:
        return 0
    heads = sorted({row.line for row in rows})
    told = {line for row in rows for line in row.lines.values()}.union(heads)
    first, last = min(told), max(told)
    indent = (
        max(_indent(line_of(block, head)) for head in heads) if len(told) > len(heads) else None
    )
    lost = 0
    for fault in faults:
        if fault.why.startswith(FAILED):
            lost += 1
        elif fault.line in told or (
            indent is not None and _indent(line_of(block, fault.line)) > indent
        ):
            continue
        elif first < fault.line < last:
            lost += not _remark(line_of(block, fault.line))
        else:
            near = heads[0] if fault.line <= first else heads[-1]
            lost += looks_like_row(line_of(block, fault.line), line_of(block, near))
    return lost


def lost_below(lines: Sequence[str], row: str) -> int:
    """Return how many lines below the end of an output look like further rows; `row`: its last one, "" for none."""
    return sum(looks_like_row(line, row) for line in lines)


def looks_like_row(line: str, row: str) -> bool:
    """Tell whether a line has a number, as headings have none, and at least half as many words as a row."""
    return (
        not _remark(line)
        and any(sign.isdigit() for sign in line)
        and 2 * len(line.split()) >= len(row.split())
    )


def line_of(block: Block, line: int) -> str:
    """Return the text of a line of a block, by its number in the member; "" when the block does not hold it."""
    place = line - block.first_line
    return block.lines[place] if 0 <= place < len(block.lines) else ""


def _remark(line: str) -> bool:
    return bool(_RULER.match(line)) or is_prose(line) or is_fence(line) or is_snip(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
