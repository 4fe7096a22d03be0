"""Lines of a log that a mail program or a terminal has wrapped: the rest of a line stands on those below it.

A mail breaks between words at 72 to 78 characters, a terminal after its last column. Either way the first word of a
rest would not have fitted above: that tells it from a remark below a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.kept_patterns import compiled
from analyzer.sources.prompts import find_prompt
from analyzer.sources.shapes import is_fence, is_prose, is_snip

WIDEST = 200  # characters a line has been wrapped at
NARROWEST = 68
MOST_RESTS = 60  # lines that one line of a log became
COLUMNS = (80, 100, 120, 132, 160)  # of terminals
_BEGINS = compiled(
    r"\s*(?:<\d{1,3}>(?:1 )?)?\[?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|TSC: \d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_FIRST = frozenset("0123456789<[JFMASONDT")  # characters, most lines of dumps begin with others
_PANIC = compiled(r"#[A-Z]{2} Exception|@BlueScreen|\w*:?\[0x|Panic|0x[0-9a-f]+:")  # a line of a purple screen
MAIL = 80  # characters that no mail program goes over


def unwrapped(lines: list[str]) -> frozenset[int]:
    """Put each wrapped line of a log together again, in place; return where its rests stood, which are blank now."""
    rests = _rests(lines)
    if not rests:
        return frozenset()
    width = _width(lines, rests)
    ends = {len(lines[at - 1]) for at in rests}
    between = "" if ends == {width} and (len(rests) > 1 or width in COLUMNS) else " "
    for at in sorted(rests, reverse=True):
        lines[at - 1] = f"{lines[at - 1].rstrip()}{between}{lines[at]}" if between else lines[at - 1] + lines[at]
        lines[at] = ""
    return rests


def is_wrapped(lines: Sequence[str]) -> bool:
    """Tell whether some lines of a text are the rests of lines of a log."""
    return bool(_rests(lines))


def _rests(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines that are rests of the ones above; one alone is none if it may be a sentence."""
    near: set[int] = set()
    begun = -MOST_RESTS
    for at, line in enumerate(lines):
        if line.lstrip()[:1] in _FIRST and _BEGINS.match(line):
            begun = at
        elif at - begun >= MOST_RESTS or not line.strip() or line.startswith(("  ", "\t", "-->")) or _ends(line):
            begun = -MOST_RESTS
        else:
            near.add(at)
    if not near:
        return frozenset()
    width = _width(lines, near)
    if not NARROWEST <= width <= WIDEST:
        return frozenset()
    found = {at for at in near if len(lines[at - 1]) + _first_word(lines[at]) >= width}
    found = {at for at in found if _chained(lines, at, found)}
    return frozenset() if len(found) == 1 and any(_doubtful(lines, at) for at in found) else frozenset(found)


def _doubtful(lines: Sequence[str], at: int) -> bool:
    """Tell whether the only rest of a text may be a sentence, or is below a line of a length that nobody wraps at."""
    wide, line = len(lines[at - 1]), lines[at].rstrip()
    return is_prose(line) or line.endswith("?") or (wide > MAIL and wide not in COLUMNS)


def _first_word(line: str) -> int:
    """Return the length of the first word; a blank is where a terminal broke the line, and then it was full."""
    return 0 if line[0] == " " else len(line.split(maxsplit=1)[0])


def _width(lines: Sequence[str], rests: set[int] | frozenset[int]) -> int:
    """Return how wide the lines are that were wrapped: as the widest of them, or of their rests."""
    return max(max(len(lines[at]), len(lines[at - 1])) for at in rests)


def _chained(lines: Sequence[str], at: int, found: set[int]) -> bool:
    """Tell whether all lines from the beginning of a line of a log down to one of its rests are rests."""
    while at in found:
        at -= 1
    return _BEGINS.match(lines[at]) is not None


def _ends(line: str) -> bool:
    if is_fence(line) or is_snip(line) or _PANIC.match(line):
        return True
    return find_prompt(line.strip()) is not None
