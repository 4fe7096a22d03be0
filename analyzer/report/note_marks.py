"""The lines of a note as records, and their three printers: plain text, Markdown, and the wiki marks of Jira.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all describes those of Jira. Its renderer leaves
the entities of HTML as they are, and no mark begins with one: foreign text that could make a mark is written with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from analyzer.runtime.text import code_span, for_markdown, one_line


class NotePiece(NamedTuple):
    """A stretch of a line. `mark` is "" for words, `strong` for a heading of its own, `code` for what is copied."""

    text: str
    mark: str = ""


class NoteLine(NamedTuple):
    """One line. `kind` is `title`, `text`, `item`, `story` (the first line of one), or `gap` for an empty one."""

    kind: str
    pieces: tuple[NotePiece, ...] = ()

    @property
    def length(self) -> int:
        """Characters of its text without any marks."""
        return sum(len(piece.text) for piece in self.pieces)


GAP = NoteLine("gap")
_MARKDOWN = {"title": "# ", "item": "- "}
_JIRA = {"title": "h3. ", "item": "* "}
_PLAIN = {"item": "- "}

# What may begin or end a mark of Jira. Inside a word (`vmk_0`, `esx-01`) the signs of phrases are plain text.
_ALWAYS = r"[&\\{}\[\]|!#<>@]"
_PHRASE = r"(?<![A-Za-z0-9])[*_?+^~-]|[*_?+^~-](?![A-Za-z0-9])|(?<=[*_?+^~-])[*_?+^~-]"
_SMILEY = r":(?![\s\d]|$)|;(?=\S)|\((?=[^\s()]{0,8}\))|(?<=[:;])\)"
_ADDRESS = r"(?<!\d):(?=\S)|(?i:(?<=www)\.)|(?<=/)/"
_FOREIGN = re.compile("|".join((_ALWAYS, _PHRASE, _SMILEY, _ADDRESS)))
# The key of an issue (PROJ-1) becomes a link.
_KEYED_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]+-\d")


def print_plain(lines: Iterable[NoteLine]) -> str:
    """Return lines as text that a ticket takes as it is."""
    return _print_lines(lines, _PLAIN, lambda piece: one_line(piece.text))


def print_markdown(lines: Iterable[NoteLine]) -> str:
    """Return lines as Markdown."""
    return _print_lines(lines, _MARKDOWN, _mark_markdown)


def print_jira(lines: Iterable[NoteLine]) -> str:
    """Return lines in the wiki marks of Jira."""
    return _print_lines(lines, _JIRA, _mark_jira)


def _print_lines(
    lines: Iterable[NoteLine], heads: dict[str, str], write: Callable[[NotePiece], str]
) -> str:
    printed = []
    for line in lines:
        text = "".join(map(write, line.pieces))
        printed.append(f"{heads.get(line.kind, '')}{text}")
    return "\n".join([*printed, ""])


def _mark_markdown(piece: NotePiece) -> str:
    if piece.mark == "code":
        return code_span(piece.text)
    text = for_markdown(piece.text)
    return f"**{text}**" if piece.mark == "strong" else text


def _mark_jira(piece: NotePiece) -> str:
    text = for_jira(piece.text)
    if piece.mark == "code":
        return f"{{{{{text}}}}}"
    return f"*{text}*" if piece.mark == "strong" else text


def for_jira(text: str) -> str:
    """Return one line of text in which nothing is a mark, a link, a mention, an icon or the key of an issue."""
    shown = one_line(text)
    keyed = {found.end() - 2 for found in _KEYED_WORD.finditer(shown)}
    written = []
    at = 0
    marks = {found.start() for found in _FOREIGN.finditer(shown)}
    for place in sorted(marks | keyed):
        written += [shown[at:place], f"&#{ord(shown[place])};"]
        at = place + 1
    return "".join([*written, shown[at:]])
