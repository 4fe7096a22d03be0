"""What a tool puts before every line of a text: numbers of lines, the times of a terminal's log.

`cat -n`, `nl`, `less -N` and editors number the lines; SecureCRT, MobaXterm and Tera Term write the time in brackets
before each line of a session. A note keeps an output behind the `#` of a script's remarks. Text copied from the source
of a web page has its signs as entities. What pandoc and note programs write as Markdown has a backslash before signs,
and brackets without one around what was underlined. `grep` puts the name of a file and the number of a line before log
lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from analyzer.sources.markup import QUOTES

LOOKED_AT = 200  # lines of a text
LEAST = 2  # lines with something in them
REMARKS = 3  # lines that all begin with #
NUMBERED = 5  # lines that are surely numbered, not by chance; from 1 on these are fewer
FROM_1 = 3
_NUMBER = re.compile(r"\s{0,7}(?P<number>\d{1,7})(?P<gap>\t|[:.)|] ?| {1,2}|$)")
_DAY = r"(?:(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d)[ T])?"
_TIME = re.compile(
    rf"(?:\[{_DAY}\d\d:\d\d[:.]\d\d(?:[.,]\d{{1,6}})?(?: \d{{4}})?\]|{_DAY}\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[>|])(?: |$)"
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#39|#x27);")
# What WordPress and mail programs make of two and three dashes and of quotes.
_TYPESET = QUOTES | str.maketrans({"–": "--", "—": "---"})
_ANY_TYPESET = re.compile(f"[{''.join(map(chr, _TYPESET))}]")
# A ruler of a table, a prompt of ESXi or the head of a log line whose signs have backslashes: no program prints that.
_ESCAPED = re.compile(
    r"\s*(?:\\-){3,}|\[?\\\[\w[\w.-]*@[\w.-]+:[^\]]*\\\]|\s*\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [\w .-]{0,40}\\\[\w{1,20}"
)
_SPAN = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\](?:\{\.\w+\})?")
# Of the writer, behind what was underlined: --> that
_REMARK = re.compile(r"(\])?(?:\[\s*\]|\[)?\s*(?:\\?-){2,}(?:\\>|\]).*$")
_SIGN = re.compile(r"\\([-_~\[\]|<>*#`'\"$.!(){}+=^&\\])")
_TAG = re.compile(r"<[/?A-Za-z]")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ORIGIN = re.compile(
    r"(?:(?=[^\s:]{0,200}(?:/|\.(?:log|gz|txt|all|\d)|messages|syslog))[^\s:]{1,200}?[:-])?(?:\d{1,8}[:-])?"
    rf"(?=(?:<\d{{1,3}}>(?:1 )?|\[)?(?:\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|{_MONTH} [ \d]\d \d\d:\d\d:\d\d )"
    r"|TSC: \d+ cpu\d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_BOLD = re.compile(
    r"(?<![\w*:.-])\*\*(\w[^*]{0,200}?\w)\*\*(?![\w*:-])"
)  # asterisks of a masked name stand inside of it


def remove_margin(lines: Sequence[str]) -> list[str]:
    """Return lines without what stands before every one of them, and with entities of HTML as the signs they mean."""
    lines = _undo_typesetting(list(lines))
    if _are_remarks(lines):
        lines = [line.lstrip() for line in lines]
        wide = all(line.startswith("# ") for line in lines if line.strip("# \t\r\n"))
        width = 2 if wide else 1
        lines = [line[width:] for line in lines]
    if not has_margin(lines):
        return lines
    if all(_TIME.match(line) for line in lines[:LOOKED_AT] if line.strip()):
        return [_TIME.sub("", line, count=1) for line in lines]
    matches = [_NUMBER.match(line) for line in lines]
    gap = min(
        (len(found["gap"]) for found in matches if found is not None and found["gap"]), default=0
    )
    kept = []
    for line, found in zip(lines, matches, strict=True):
        kept.append(line if found is None else line[found.end("number") + gap :])
    return kept


def _undo_typesetting(lines: list[str]) -> list[str]:
    """Return lines without the signs that Markdown, HTML and word processors put in place of printed ones."""
    if any("\\" in line and _ESCAPED.match(line) for line in lines):
        lines = [_undo_markdown(line) for line in lines]
    has_entities = any("&" in line and _ENTITY.search(line) for line in lines)
    if has_entities and not any(map(_TAG.search, lines)):
        import html  # noqa: PLC0415 - its table of signs costs more than most cases need

        lines = [html.unescape(line) for line in lines]
    if any(not line.isascii() and _ANY_TYPESET.search(line) for line in lines):
        lines = [line.translate(_TYPESET) for line in lines]
    if any("**" in line for line in lines):
        lines = [_BOLD.sub(r"\1", line) for line in lines]
    return lines


def _undo_markdown(line: str) -> str:
    """Return a line of Markdown as it was printed, without what a writer put behind an underlined part of it."""
    remark = _REMARK.search(line) if "[" in line else None
    if remark:
        line = line[: remark.start()] + (remark[1] or "")
    line = _SPAN.sub(r"\1", line)
    return _SIGN.sub(r"\1", line)


def _are_remarks(lines: Sequence[str]) -> bool:
    """Say whether every line of a text with something in it is the remark of a script: an output stands behind #."""
    if any(line.lstrip()[:1] not in ("#", "") for line in lines):
        return False
    return sum(bool(line.strip("# \t\r\n")) for line in lines) >= REMARKS


def has_margin(lines: Sequence[str]) -> bool:
    """Say whether the time of a terminal's log or a number stands before every line of a text."""
    some = [line for line in lines[:LOOKED_AT] if line.strip()]
    if len(some) < LEAST:
        return False
    return all(map(_TIME.match, some)) or _are_numbered(some)


def _are_numbered(lines: Sequence[str]) -> bool:
    """Say whether lines are numbered one by one; those that are blank may have no number of their own."""
    numbers = []
    for line in lines:
        found = _NUMBER.match(line)
        if found is None:
            return False
        numbers.append(int(found["number"]))
    least = FROM_1 if numbers[0] == 1 else NUMBERED
    return len(numbers) >= least and all(after == before + 1 for before, after in pairwise(numbers))


def measure_origin(line: str) -> int:
    """Return how many characters grep put before a log line: a file's name, a line's number; 0 when none."""
    if line[:1].isspace():  # no blank stands before a log line
        return 0
    found = _ORIGIN.match(line)
    return found.end() if found is not None else 0


def remove_origins(lines: list[str]) -> set[int]:
    """Remove the file name and the line number that grep puts before log lines, in place; return their indexes.

    `/var/log/vmkernel.0.gz:2017-…`, `812:2017-…`, `vmkernel.log:812:2017-…`, and with `-` the neighbours of a hit.
    """
    changed = set()
    for at, line in enumerate(lines):
        if line[:1] in (" ", "}", ""):  # most lines of a dump are indented, and none of a log is
            continue
        if width := measure_origin(line):
            lines[at] = line[width:]
            changed.add(at)
    return changed
