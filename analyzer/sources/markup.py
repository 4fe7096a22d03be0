r"""Signs in a line that are not of the text: terminal escapes, quote marks of a mail, marks of a page.

Marks that a web page, a ticket or a word processor puts into the lines of a log, seen in public posts:
`> **Jan 22 12:39:34 host vmkernel: …**`, a log line between fences on one line, `<br />` at its end, `&#8216;` and
typographic quotes for the printed ones, `0×2` for `0x2`, `Heap\_Align`, `_2018-06-07T08:02:43Z …_`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_=>]|\x07")
_DIRT = re.compile("[\x07\x08\r\x1b\x7f\xa0\u200b\ufeff]")
_WEB_BLANKS = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None, "\x7f": None})
_QUOTE = re.compile(r"(?:> ?)+")
_MARKS = re.compile(
    '\\*\\*|```\\S|\\S ?```|</?(?:em|strong|br|tt)\\b|&#82\\d\\d;|[“”″]|\\b0×[0-9a-fA-F]|^\\s*_\\d{4}-|\\\\[_"\\[\\]]'
)
_TIMED = re.compile(r"\d:\d\d:\d\d|^\s*(?:WARNING|ALERT): ")
_FENCED = re.compile(r"\s*```+ ?(?P<text>\S.*?) ?```+\s*$")
_BOLD = re.compile(r"\*\*(?=\S)([^*]{3,4000})(?<=\S)\*\*")
_TAGS = re.compile(r"</?(?:em|strong|tt)>|<br ?/?>")
_ITALIC = re.compile(r"(\s*)_(?=\d{4}-)(.*?)_?\s*")
_OF_KERNEL = re.compile(r"\bcpu\d+:\d+|Correlator\\?\]|^\s*(?:WARNING|ALERT): |\\\[Originator@\d")
QUOTES = str.maketrans({"“": '"', "”": '"', "″": '"', "‘": "'", "’": "'"})  # of a word processor
_ENTITIES = {"&#8216;": "'", "&#8217;": "'", "&#8220;": '"', "&#8221;": '"', "&#8243;": '"'}


def clean_line(line: str) -> str:
    """Return a line without terminal escapes, web blanks and the marks of a quotation or a page."""
    if not line.isprintable() and _DIRT.search(line):  # all dirt is unprintable, a tab is no dirt
        line = wash_line(line)
    if line.startswith(">"):
        found = _QUOTE.match(line)
        line = line[found.end() :] if found else line
    return remove_marks(line)


def clean_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, each cleaned; most texts need none of it, which one look at the whole shows."""
    whole = "".join(lines)
    if (
        whole.isprintable()
        and not any(line.startswith(">") for line in lines)
        and not (not _is_bare(whole) and _MARKS.search(whole) is not None)
    ):
        return lines
    return [clean_line(line) for line in lines]


def wash_line(line: str) -> str:
    """Return a line as a terminal shows it: without escapes, with backspaces and carriage returns carried out."""
    line = _ESCAPES.sub("", line)
    while "\x08" in line:
        shorter = re.sub(r"[^\x08]\x08|^\x08", "", line)
        if shorter == line:
            break
        line = shorter
    if "\r" in line:  # a terminal wraps with blank and CR, and a CR alone starts the line anew
        line = line.replace(" \r", "").rpartition("\r")[2]
    return line.translate(_WEB_BLANKS)


def remove_marks(line: str) -> str:
    """Return a log line without the marks of a page; a line without a time of day stays, the marks may be its own."""
    if _is_bare(line) or not _MARKS.search(line) or not _TIMED.search(line):
        return line
    if found := _FENCED.match(line):
        line = found["text"]
    if "***" not in line:  # a row of asterisks masks a name
        line = _BOLD.sub(r"\1", line)
    line = _TAGS.sub("", line)
    if found := _ITALIC.fullmatch(line):
        line = found[1] + found[2]
    if _OF_KERNEL.search(
        line
    ):  # other logs print escapes of their own, but not before the bracket of their head
        line = re.sub(r'\\([_"\[\]])', r"\1", line)
    for entity, sign in _ENTITIES.items():
        line = line.replace(entity, sign)
    return re.sub(r"\b0×(?=[0-9a-fA-F])", "0x", line.translate(QUOTES)).rstrip()


def _is_bare(text: str) -> bool:
    """Say quickly that a text holds no mark: nearly no line does, and a search for marks takes ten times as long.

    A mark is not ASCII, holds one of these signs, or is an underline that begins the text.
    """
    signs = "**" in text or "```" in text or "<" in text or "&#82" in text or "\\" in text
    return not signs and text.isascii() and not text.lstrip().startswith("_")
