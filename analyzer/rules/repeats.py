"""Lines of an example that are alike but for their stamp, written as one: `(repeat: 10 in 60s) LINE`.

The line stands as the first of them, and the others follow evenly until the span is over: ten in 60 s are 6.67 s
apart. The stamp that moves is the first of the line, rounded to its own digits.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

REPEATS_MOST = 2000  # lines that one stands for
_REPEAT = re.compile(r"\(repeat: (\d{1,4}) in (\d{1,9})(ms|s|m|h|d)\) (.*)", re.ASCII)
_BEGUN = re.compile(r"[ \t]*\(repeat:")
STAMP = re.compile(r"(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d:\d\d)(?:([.,])(\d{1,6}))?", re.ASCII)
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class BadRepeatError(Exception):
    """A repeated line that cannot be written out: its number in the text from 0, and why."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number, self.why = number, why


def write_out_repeats(text: str) -> str:
    """Return a text with each repeated line in full. Raises BadRepeatError."""
    if "(repeat:" not in text:
        return text
    lines: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if not _BEGUN.match(line):
            lines.append(line)
            continue
        found = _REPEAT.fullmatch(line)
        if found is None:
            raise BadRepeatError(number, "a repeated line is written `(repeat: 10 in 60s) LINE`")
        count, span = int(found[1]), int(found[2]) * UNITS[found[3]]
        if not 2 <= count <= REPEATS_MOST:
            raise BadRepeatError(number, f"a line is repeated 2 to {REPEATS_MOST:,} times")
        made = repeat_line(found[4], count, span)
        if made is None:
            why = "a repeated line has a stamp like 2024-03-01T10:00:00.000Z"
            raise BadRepeatError(number, why)
        lines += made
    return "\n".join(lines)


def repeat_line(line: str, count: int, span: int) -> list[str] | None:
    """Return a line `count` times, evenly over `span` milliseconds; None without a stamp that can move."""
    found = STAMP.search(line)
    if found is None:
        return None
    digits = found[5] or ""
    try:
        start = datetime.fromisoformat(f"{found[1]} {found[3]}")
    except ValueError:
        return None
    unit = 10 ** (6 - len(digits))  # microseconds of the last digit
    first = int(digits.ljust(6, "0"))
    lines = []
    for number in range(count):
        moved = first + (span * 1000 * number) // (count - 1)
        at = (2 * moved + unit) // (2 * unit) * unit  # the nearest that the digits can say
        try:
            time = start + timedelta(microseconds=at)
        except OverflowError:
            return None
        stamp = f"{time:%Y-%m-%d}{found[2]}{time:%H:%M:%S}"
        if digits:
            stamp += f"{found[4]}{time.microsecond // unit:0{len(digits)}d}"
        lines.append(line[: found.start()] + stamp + line[found.end() :])
    return lines
