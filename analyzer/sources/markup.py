r"""Marks that a web page, a ticket or a word processor puts into the lines of a log that somebody pastes.

Seen in public posts: `> **Jan 22 12:39:34 host vmkernel: …**`, a log line between fences on one line, `<br />` at its
end, `&#8216;` and typographic quotes for the printed ones, `0×2` for `0x2`, `Heap\_Align`, `_2018-06-07T08:02:43Z …_`.
"""

from __future__ import annotations

import re

from analyzer.kept_patterns import compiled

_MARKS = compiled(
    '\\*\\*|```\\S|\\S ?```|</?(?:em|strong|br|tt)\\b|&#82\\d\\d;|[“”″]|\\b0×[0-9a-fA-F]|^\\s*_\\d{4}-|\\\\[_"\\[\\]]'
)
_TIMED = compiled(r"\d:\d\d:\d\d|^\s*(?:WARNING|ALERT): ")
_FENCED = compiled(r"\s*```+ ?(?P<text>\S.*?) ?```+\s*$")
_BOLD = compiled(r"\*\*(?=\S)([^*]{3,4000})(?<=\S)\*\*")
_TAGS = compiled(r"</?(?:em|strong|tt)>|<br ?/?>")
_ITALIC = compiled(r"(\s*)_(?=\d{4}-)(.*?)_?\s*")
_OF_KERNEL = compiled(r"\bcpu\d+:\d+|Correlator\\?\]|^\s*(?:WARNING|ALERT): |\\\[Originator@\d")
QUOTES = str.maketrans({"“": '"', "”": '"', "″": '"', "‘": "'", "’": "'"})  # of a word processor
_ENTITIES = {"&#8216;": "'", "&#8217;": "'", "&#8220;": '"', "&#8221;": '"', "&#8243;": '"'}


def marked(text: str) -> bool:
    """Tell whether a text may hold such marks."""
    return not _bare(text) and _MARKS.search(text) is not None


def unmarked(line: str) -> str:
    """Return a line of a log without such marks; a line without a time of day stays, for the marks may be its own."""
    if _bare(line) or not _MARKS.search(line) or not _TIMED.search(line):
        return line
    if found := _FENCED.match(line):
        line = found["text"]
    if "***" not in line:  # a row of asterisks masks a name
        line = _BOLD.sub(r"\1", line)
    line = _TAGS.sub("", line)
    if found := _ITALIC.fullmatch(line):
        line = found[1] + found[2]
    if _OF_KERNEL.search(line):  # other logs print escapes of their own, but not before the bracket of their head
        line = re.sub(r'\\([_"\[\]])', r"\1", line)
    for entity, sign in _ENTITIES.items():
        line = line.replace(entity, sign)
    return re.sub(r"\b0×(?=[0-9a-fA-F])", "0x", line.translate(QUOTES)).rstrip()


def _bare(text: str) -> bool:
    """Tell quickly that a text holds no mark: nearly no line does, and to search for marks takes ten times as long.

    A mark is not ASCII, holds one of these signs, or is an underline that begins the text.
    """
    signs = "**" in text or "```" in text or "<" in text or "&#82" in text or "\\" in text
    return not signs and text.isascii() and not text.lstrip().startswith("_")
