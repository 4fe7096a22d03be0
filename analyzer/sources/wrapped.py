"""Log lines, tables and headings that a mail program or a terminal has wrapped, joined again.

A mail breaks between words at 72 to 78 characters, a terminal after its last column. Either way the first word of a
rest would not have fitted on the line above: this is how a rest differs from a remark below a log line.

A table that was wrapped has its heading, ruler and each row on several lines. Two lines of dashes, one below the other,
are one ruler that was broken. After a terminal the places of the cells stay; after a mail only their order is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from analyzer.sources.prompts import MOST_TYPED, find_prompt
from analyzer.sources.shapes import is_fence, is_prose, is_snip

WIDEST = 200  # characters a line has been wrapped at
NARROWEST = 68
MOST_RESTS = 60  # lines that one log line became
COLUMNS = (80, 100, 120, 132, 160)  # of terminals
MAIL = 80  # characters that no mail program goes over
NARROWEST_RULER = 40  # characters of a broken ruler
MOST_PARTS = 8  # lines that one line of a table became
SHORTEST_HEADING = 48  # characters of a heading that a mail broke
MOST_HEADING = 3  # lines that such a heading became
MOST_LINES = 5000  # of a text that somebody sent as a mail
_BEGINS = re.compile(
    r"\s*(?:<\d{1,3}>(?:1 )?)?\[?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|TSC: \d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_FIRST = frozenset("0123456789<[JFMASONDT")  # characters, most lines of dumps begin with others
_PANIC = re.compile(
    r"#[A-Z]{2} Exception|@BlueScreen|\w*:?\[0x|Panic|0x[0-9a-f]+:"
)  # a line of a purple screen
_RULER = re.compile(r" *-+(?: +-+)* *$")


def join_log_lines(lines: list[str]) -> frozenset[int]:
    """Join each wrapped log line, in place; return where its rests stood, which are blank now."""
    rests = _find_rests(lines)
    if not rests:
        return frozenset()
    width = _measure_width(lines, rests)
    ends = {len(lines[at - 1]) for at in rests}
    hard = ends == {width} and (len(rests) > 1 or width in COLUMNS)
    for at in sorted(rests, reverse=True):
        if hard:
            lines[at - 1] += lines[at]
        else:
            lines[at - 1] = f"{lines[at - 1].rstrip()} {lines[at]}"
        lines[at] = ""
    return rests


def is_wrapped(lines: Sequence[str]) -> bool:
    """Say whether some lines of a text are the rests of log lines."""
    return bool(_find_rests(lines))


def _find_rests(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines that are rests of the ones above; one alone is none if it may be a sentence."""
    near: set[int] = set()
    begun = -MOST_RESTS
    for at, line in enumerate(lines):
        if line.lstrip()[:1] in _FIRST and _BEGINS.match(line):
            begun = at
        elif at - begun >= MOST_RESTS or _ends_log_line(line):
            begun = -MOST_RESTS
        else:
            near.add(at)
    if not near:
        return frozenset()
    width = _measure_width(lines, near)
    if not NARROWEST <= width <= WIDEST:
        return frozenset()
    rests = set()
    for at in near:
        # A blank is where a terminal broke the line, and then the line was full.
        word = 0 if lines[at][0] == " " else len(lines[at].split(maxsplit=1)[0])
        if len(lines[at - 1]) + word >= width:
            rests.add(at)
    chained = frozenset(at for at in rests if _follows_log_line(lines, at, rests))
    if len(chained) == 1 and _is_doubtful(lines, *chained):
        return frozenset()
    return chained


def _ends_log_line(line: str) -> bool:
    """Say whether a line is surely no rest of a log line above."""
    if not line.strip() or line.startswith(("  ", "\t", "-->")):
        return True
    if is_fence(line) or is_snip(line) or _PANIC.match(line):
        return True
    return find_prompt(line.strip()) is not None


def _measure_width(lines: Sequence[str], rests: Collection[int]) -> int:
    """Return how wide the lines are that were wrapped: as the widest of them, or of their rests."""
    return max(max(len(lines[at]), len(lines[at - 1])) for at in rests)


def _follows_log_line(lines: Sequence[str], at: int, rests: set[int]) -> bool:
    """Say whether all lines from the beginning of a log line down to one of its rests are rests."""
    while at in rests:
        at -= 1
    return _BEGINS.match(lines[at]) is not None


def _is_doubtful(lines: Sequence[str], at: int) -> bool:
    """Say whether the only rest of a text may be a sentence, or is below a line of a length that nothing wraps at."""
    line = lines[at].rstrip()
    if is_prose(line) or line.endswith("?"):
        return True
    wide = len(lines[at - 1])
    return wide > MAIL and wide not in COLUMNS


def join_tables(lines: list[str]) -> None:
    """Join the wrapped lines of tables, in place; where their rests stood is a blank line."""
    at = 1
    while at < len(lines):
        parts = _count_ruler_parts(lines, at)
        if parts:
            at = _join_table(lines, at, parts)
        at += 1


def _count_ruler_parts(lines: Sequence[str], at: int) -> int:
    """Return on how many lines a broken ruler stands that begins on a line; 0 where it is whole, or none."""
    if (
        not lines[at].lstrip(" ").startswith("--")
        or len(lines[at]) < NARROWEST_RULER
        or not _RULER.match(lines[at])
    ):
        return 0
    end = at + 1
    while (
        end < len(lines)
        and end - at <= MOST_PARTS
        and lines[end].strip()
        and _RULER.match(lines[end])
    ):
        end += 1
    parts = end - at
    if parts == 1 or parts > MOST_PARTS or parts > at:
        return 0
    heading = lines[at - parts : at]
    return parts if all(line.strip() and not _RULER.match(line) for line in heading) else 0


def _join_table(lines: list[str], at: int, parts: int) -> int:
    """Join heading, ruler and rows of a table whose ruler begins on a line; return the last line that belongs to it."""
    begin, below = at - parts, at + parts
    end = _find_table_end(lines, below)
    width = max(map(len, lines[begin:end]))
    groups = [(begin, at), (at, below), *_group_rows(lines, below, end, parts, width)]
    ruler = [len(line.strip()) for line in lines[at:below]]
    by_column = all(_fits_ruler(lines[first:after], ruler) for first, after in groups)
    for first, after in groups:
        group = lines[first:after]
        cells = [line.strip() for line in group]
        if width in COLUMNS:  # a terminal broke the lines
            joined = "".join(line.ljust(width) for line in group)
        elif by_column:  # each line was broken where a column ends: the places of the cells stay
            padded = [cell.ljust(size) for cell, size in zip(cells, ruler, strict=True)]
            joined = "  ".join(padded)
        else:
            joined = " ".join(cells)
        lines[first] = joined.rstrip()
        for rest in range(first + 1, after):
            lines[rest] = ""
    return end - 1


def _fits_ruler(group: Sequence[str], ruler: Sequence[int]) -> bool:
    """Say whether no part of a line is wider than the part of the ruler that belongs to it."""
    if len(group) != len(ruler):
        return False
    return all(len(line.strip()) <= width for line, width in zip(group, ruler, strict=True))


def _find_table_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the rows of a table."""
    while at < len(lines):
        text = lines[at].strip()
        if (
            not text
            or is_fence(lines[at])
            or (len(text) < MOST_TYPED and find_prompt(text) is not None)
        ):
            break
        at += 1
    return at


def _group_rows(
    lines: Sequence[str], begin: int, end: int, parts: int, width: int
) -> list[tuple[int, int]]:
    """Return the lines of each row: as many as the ruler has, or up to one that is not full."""
    if (end - begin) % parts == 0:
        return [(first, first + parts) for first in range(begin, end, parts)]
    rows = []
    first = begin
    for at in range(begin, end):
        if len(lines[at]) < width or at - first + 1 == parts or at + 1 == end:
            rows.append((first, at + 1))
            first = at + 1
    return rows


def join_headings(lines: list[str], starts: Callable[[str], bool]) -> None:
    """Join headings that a mail broke in two or three, in place, on the last of their lines.

    starts  says whether an output starts with a line: the joined heading must, its first part alone must not
    """
    if len(lines) > MOST_LINES or any(len(line) > MAIL and " " in line.strip() for line in lines):
        return
    for at, line in enumerate(lines):
        if len(line) < SHORTEST_HEADING or starts(line):
            continue
        heading, parts, known = line.rstrip(), 1, 0
        while parts < MOST_HEADING and at + parts < len(lines):
            below = lines[at + parts].strip()
            is_row = known > 0 and any(map(str.isdigit, below))
            if not below or is_row or starts(lines[at + parts]):
                break
            heading = f"{heading} {below}"
            parts += 1
            if starts(heading):
                known = parts
                # What is left of the heading stands right below it.
                lines[at : at + parts] = [*[""] * (parts - 1), heading]
            elif known:
                break
