"""Whether a file that looks like a log is the log itself, or a paste: a terminal session, a mail, a ticket.

A log begins with a line of its own and holds no prompts. What a paste shows of a log may be all of it
or what `grep` let through, so the two must not be taken for one another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, islice

from analyzer.sources.encoding import decode
from analyzer.sources.markup import clean_line, remove_marks
from analyzer.sources.member import Member
from analyzer.sources.passes import has_margin, measure_origin, remove_margin
from analyzer.sources.prompts import MOST_TYPED, Prompt, find_prompt
from analyzer.sources.shapes import is_fence, is_heading, is_prose, is_snip

# Lines that may begin with a prompt: whoever matches is asked again, so this may say yes too often.
_MAYBE = (
    rb"([ \t>]*+(?:\[[\w.-]++@|(?:\([\w.-]++\) ?)?[\w.-]++@[\w.-]++:|(?:~|/[\w./@:+-]*+) #"
    rb"|[A-Za-z0-9][\w.-]*+(?:\([\w-]++\))? ?[#>]|(?:[\w./~-]*+[$#]|%) ?[a-z/(]|(?:PS )?[A-Za-z]:\\)[^\r\n]*+)"
)
_FIRST, _FURTHER = (
    re.compile(_MAYBE),
    re.compile(rb"\n" + _MAYBE),
)  # a line feed is sought faster than `^`
_STAMPED = re.compile(
    r"\s*(?:<\d{1,3}>(?:1 )?|\[)?(?:\d{4}-\d\d-\d\d[T ]\d\d:|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:)"
)
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # UTF-16, as PowerShell writes it
_MOST_TRIED = 10_000
_FEW = 10  # one line in so many is enough
_SAMPLE = 200  # lines at the beginning of a text


class Begun:
    """A member of which the first bytes were read already, as a source of the log search."""

    def __init__(self, begun: bytes, member: Member) -> None:
        self._begun, self._member = memoryview(begun), member

    @property
    def cut(self) -> str:
        """Why the member ended early, or ""."""
        return self._member.cut

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Fill `buffer` from the front and return the number of bytes, 0 at the end."""
        if not self._begun:
            return self._member.readinto(buffer)
        count = min(len(self._begun), len(buffer))
        memoryview(buffer).cast("B")[:count] = self._begun[:count]
        self._begun = self._begun[count:]
        return count


def is_utf16(raw: bytes) -> bool:
    """Say whether a text begins as UTF-16 does."""
    return raw.startswith(_WIDE)


def find_typed(raw: bytes) -> Prompt | None:
    """Return a prompt with a command that is in a text, the first that names its host, or None."""
    if is_utf16(raw):
        raw = "\n".join(decode(raw)).encode("utf-8", "replace")
    first: Prompt | None = None
    first_match = _FIRST.match(raw)
    matches = chain([first_match] if first_match else [], _FURTHER.finditer(raw))
    for found in islice(matches, _MOST_TRIED):
        line = clean_line(found[1][:MOST_TYPED].decode("utf-8", "replace")).strip()
        prompt = find_prompt(line)
        if prompt is None:
            continue
        if prompt.host:
            return prompt
        if first is None and prompt.command:
            first = prompt
    return first


def is_quoted(sample: Sequence[str], starts: Callable[[str], object]) -> bool:
    """Say whether the first lines of a text are words about a log or bear marks of a page, or parts were left out.

    sample  the first lines of the text
    starts  says whether a line is one of the log
    """
    some = [line for line in sample[:_SAMPLE] if line.strip()]
    with_marks = sum(remove_marks(line) != line for line in some)
    if with_marks * 2 >= max(len(some), 1):
        return True
    if has_margin(some) and any(map(starts, remove_margin(some))):
        return True
    begun = False
    for line in sample[:_SAMPLE]:
        text = line.strip()
        if starts(line) or _STAMPED.match(line):
            begun = True
        elif is_fence(line) or is_snip(line):
            return True
        if not begun and (is_prose(text) or (text and is_heading(text))):
            return True
    return False


def is_searched(sample: Sequence[str]) -> bool:
    """Say whether grep printed the first lines of a text: a file's name or a line's number comes before them."""
    lines = [clean_line(line) for line in sample[:_SAMPLE]]
    printed = set(filter(measure_origin, lines))
    if not printed:
        return False
    stamped = [line for line in lines if line in printed or _STAMPED.match(line)]
    return sum(line in printed for line in stamped) * _FEW > len(stamped)


def is_paste(sample: Sequence[str]) -> bool:
    """Say of a file in an archive whether its first lines are a terminal session's, or what grep printed."""
    first = next((line for line in sample if line.strip()), "")
    return find_prompt(clean_line(first).strip()[:MOST_TYPED]) is not None or is_searched(sample)
