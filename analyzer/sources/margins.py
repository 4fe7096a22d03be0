"""What a tool puts before every line of a text: numbers of lines, the times of a terminal's log.

`cat -n`, `nl`, `less -N` and editors number the lines; SecureCRT, MobaXterm and Tera Term write the time in brackets
before each line of a session. A note keeps an output behind the `#` of a script's remarks. Text copied from the source
of a web page has its signs as entities. What pandoc and note programs write as Markdown has a backslash before signs,
and brackets without one around what was underlined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer.kept_patterns import compiled
from analyzer.sources.markup import QUOTES

LOOKED_AT = 200  # lines of a text
LEAST = 2  # lines with something in them
REMARKS = 3  # lines that all begin with #
NUMBERED = 5  # lines that are surely numbered, not by chance; from 1 on these are fewer
FROM_1 = 3
_NUMBER = compiled(r"\s{0,7}(?P<number>\d{1,7})(?P<gap>\t|[:.)|] ?| {1,2}|$)")
_DAY = r"(?:(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d)[ T])?"
_TIME = compiled(
    rf"(?:\[{_DAY}\d\d:\d\d[:.]\d\d(?:[.,]\d{{1,6}})?(?: \d{{4}})?\]|{_DAY}\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[>|])(?: |$)"
)
_ENTITY = compiled(r"&(?:lt|gt|amp|quot|nbsp|#39|#x27);")
# What WordPress and mail programs make of two and three dashes and of quotes.
_TYPESET = QUOTES | str.maketrans({"–": "--", "—": "---"})
_ANY_TYPESET = compiled(f"[{''.join(map(chr, _TYPESET))}]")
# A ruler of a table, a prompt of ESXi or the head of a log line whose signs have backslashes: no program prints that.
_ESCAPED = compiled(
    r"\s*(?:\\-){3,}|\[?\\\[\w[\w.-]*@[\w.-]+:[^\]]*\\\]|\s*\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [\w .-]{0,40}\\\[\w{1,20}"
)
_SPAN = compiled(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\](?:\{\.\w+\})?")
_REMARK = compiled(
    r"(\])?(?:\[\s*\]|\[)?\s*(?:\\?-){2,}(?:\\>|\]).*$"
)  # of the writer, behind what was underlined: --> that
_SIGN = compiled(r"\\([-_~\[\]|<>*#`'\"$.!(){}+=^&\\])")
_TAG = compiled(r"<[/?A-Za-z]")
_BOLD = compiled(r"(?<![\w*:.-])\*\*(\w[^*]{0,200}?\w)\*\*(?![\w*:-])")  # asterisks of a masked name stand inside of it


def without_margin(lines: Sequence[str]) -> list[str]:
    """Return lines without what stands before every one of them, and with entities of HTML as the signs they mean."""
    if any("\\" in line and _ESCAPED.match(line) for line in lines):
        lines = [_SIGN.sub(r"\1", _SPAN.sub(r"\1", _without_remark(line))) for line in lines]
    if any("&" in line and _ENTITY.search(line) for line in lines) and not any(map(_TAG.search, lines)):
        import html  # noqa: PLC0415 - its table of signs costs more than most cases need

        lines = [html.unescape(line) if "&" in line else line for line in lines]
    if any(not line.isascii() and _ANY_TYPESET.search(line) for line in lines):
        lines = [line.translate(_TYPESET) for line in lines]
    if any("**" in line for line in lines):
        lines = [_BOLD.sub(r"\1", line) if "**" in line else line for line in lines]
    if _all_remarks(lines):
        lines = [line.lstrip() for line in lines]
        wide = all(line.startswith("# ") for line in lines if line.strip("# \t\r\n"))
        lines = [line[2 if wide else 1 :] for line in lines]
    if not has_margin(lines):
        return list(lines)
    if all(_TIME.match(line) for line in lines[:LOOKED_AT] if line.strip()):
        return [_TIME.sub("", line, count=1) for line in lines]
    return _without_numbers(lines)


def _all_remarks(lines: Sequence[str]) -> bool:
    """Tell whether every line of a text with something in it is the remark of a script: an output stands behind #."""
    if any(line.lstrip()[:1] not in ("#", "") for line in lines):
        return False
    return sum(bool(line.strip("# \t\r\n")) for line in lines) >= REMARKS


def has_margin(lines: Sequence[str]) -> bool:
    """Tell whether the time of a terminal's log or a number stands before every line of a text."""
    told = [line for line in lines[:LOOKED_AT] if line.strip()]
    if len(told) < LEAST:
        return False
    return all(map(_TIME.match, told)) or (_NUMBER.match(told[0]) is not None and _numbered(told))


def _without_remark(line: str) -> str:
    """Return a line of Markdown without the arrow and the words that a writer put behind an underlined part of it."""
    found = _REMARK.search(line) if "[" in line else None
    return line[: found.start()] + (found[1] or "") if found else line


def _numbered(told: Sequence[str]) -> bool:
    """Tell whether lines are numbered one by one; those that are blank may have no number of their own."""
    found = [_NUMBER.match(line) for line in told]
    numbers = [int(one["number"]) for one in found if one is not None]
    if len(numbers) < len(told) or len(numbers) < (FROM_1 if numbers[0] == 1 else NUMBERED):
        return False
    return all(after == before + 1 for before, after in pairwise(numbers))


def _without_numbers(lines: Sequence[str]) -> list[str]:
    """Return lines without their numbers and the gap behind them, which is as wide on each of them."""
    found = [_NUMBER.match(line) for line in lines]
    gap = min((len(one["gap"]) for one in found if one is not None and one["gap"]), default=0)
    return [line if one is None else line[one.end("number") + gap :] for line, one in zip(lines, found, strict=True)]
