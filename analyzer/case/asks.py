"""What to ask a customer for: a thing to send, or commands in backticks with words next to them.

    ``the VM's .vmx file``
    `` `esxtop -b -a -d 5 -n 120 > esxtop.csv` on the host, while the problem is there``

A command stands bare in its backticks: it can be copied and run as it is, once names in <…> are filled in.
Everything else is a remark, for people. `parse_ask` makes records of the written form; the case document holds these
records, and no output takes the written form apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from analyzer.runtime.text import code_span, for_markdown

_COMMAND = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class AskPiece:
    """A stretch of an ask: a command, or words."""

    text: str
    command: bool


def split_ask(ask: str) -> list[AskPiece]:
    """Return the commands and the words of an ask in their order; words without a letter or digit are left out."""
    found: list[AskPiece] = []
    for place, text in enumerate(_COMMAND.split(ask)):
        if place % 2:
            found.append(AskPiece(text.strip(), command=True))
        elif any(sign.isalnum() for sign in text):
            found.append(AskPiece(text.strip().lstrip(",;").strip(), command=False))
    return found


def markdown_ask(ask: str) -> str:
    """Return an ask as one line of Markdown: commands as code, everything else made harmless."""
    parts = []
    for piece in split_ask(ask):
        if piece.command:
            parts.append(code_span(piece.text))
        else:
            parts.append(for_markdown(piece.text))
    return " ".join(parts)


def list_commands(ask: str) -> list[str]:
    """Return the commands of an ask, each once."""
    return list(dict.fromkeys(piece.text for piece in split_ask(ask) if piece.command))


_OPENERS = (
    r"`|/?var/|/\w+/|README|vmware\.log|vmware-\*|(?:the|a|an)\s|(?:NSX|support|tech-support)\s"
)
_BREAK = re.compile(rf"\s*;\s*(?:and\s+)?|\s*,\s+(?:and\s+)?(?={_OPENERS})|\s+and\s+(?={_OPENERS})")
_OR = re.compile(r"\s*,?\s+or\s+")
_PATH = re.compile(
    r"(?P<what>/?(?:[\w.*<>-]+/)+[\w.*<>-]*|README|[\w*-]+(?:\.\w+)*\.log)(?:,?\s+|$)"
)
_REMARK = re.compile(r",\s+|\s+(?=(?:with|holding|while|before|after|from the time)\s)")
_BLANKS = re.compile(r"<[^<>]*>")
_ARTICLE = re.compile(r"(?:the|a|an) (?:whole |complete )?")
_JOINED = re.compile(
    r"(?:with|from|of|in|on|for|at|to|that|which|who|or|as|holding|while|before|after|when|lists)\b"
)


class AskItem(NamedTuple):
    """One thing to ask for.

    what     a command as it is typed, or a file in words
    command  tells which of both
    remark   where, when and of what, or what may come in its place: a whole phrase, "" for none
    """

    what: str
    command: bool
    remark: str = ""

    @property
    def key(self) -> str:
        """The same for all wordings of one thing: names in <…>, the article and blanks make no other thing."""
        words = " ".join(self.what.split())
        if self.command:
            return _BLANKS.sub("<>", words)
        return _ARTICLE.sub("", words, count=1).lstrip("/").casefold()

    @property
    def blank(self) -> bool:
        """Say whether a name in <…> is to be filled in: what came of it for one name says nothing of another."""
        return _BLANKS.search(self.what) is not None


@cache
def parse_ask(text: str) -> tuple[AskItem, ...]:
    """Return what a rule or a table asks for, one record for each command and file; each text is read once.

    A remark behind several commands that nothing parts (`a` and `b` on the host) holds for all of them. What follows
    "or" is no thing of its own: it comes in the place of the one before, and is a remark of that.
    """
    found: list[AskItem] = []
    shared = 0  # items before this one without a remark, which take that of the next
    for part, goes_on in split_parts(text):
        item = read_item(part)
        if item is None:
            continue
        if not goes_on:
            shared = len(found)
        if item.remark and not item.remark.startswith("or "):
            found[shared:] = [
                one._replace(remark=one.remark or item.remark) for one in found[shared:]
            ]
        if item.remark:
            shared = len(found) + 1
        found.append(item)
    return tuple(found)


def split_parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of an ask, and whether the part goes on with the one before (joined by "and" alone)."""
    hidden = _PROTECTED.sub(lambda found: found[0][0] + "\0" * (len(found[0]) - 1), text)
    at, goes_on, alternative = 0, False, False
    for found in _BREAK.finditer(hidden):
        alternative = alternative or _OR.search(hidden, at, found.start()) is not None
        parts = ";" in found[0]
        if (
            alternative and not parts
        ):  # what comes in the place of another thing is one remark to its end
            continue
        yield text[at : found.start()], goes_on
        at = found.end()
        goes_on = found[0].strip() == "and"
        alternative = False
    yield text[at:], goes_on


_PROTECTED = re.compile(r"`[^`\n]*`|\([^()]*\)")


def read_item(part: str) -> AskItem | None:
    """Return one part of an ask as a record; None where it holds no word."""
    ends = " ,;."
    if not part.endswith((".", ",", ";", " ")):
        ends = " ,;"
    part = part.strip(ends)
    if not any(sign.isalnum() for sign in part):
        return None
    command = _COMMAND.search(part)
    instead = _OR.search(_hide_protected(part))
    if command is not None and (instead is None or command.start() < instead.start()):
        before = part[: command.start()].strip(" ,")
        after = part[command.end() :].strip(" ,")
        remark = " ".join(filter(None, [before, after]))
        return AskItem(command[1].strip(), command=True, remark=remark)
    path = _PATH.match(part)
    if path is not None:
        remark = part[path.end() :].strip()
        return AskItem(path["what"], command=False, remark=remark)
    words = part
    rest = ""
    if instead is not None:
        words = part[: instead.start()]
        rest = f"or {part[instead.end() :].strip()}"
    found = _REMARK.search(_hide_protected(words))
    if found is not None:
        rest = " ".join(filter(None, [words[found.end() :], rest]))
        words = words[: found.start()]
    return AskItem(words.strip(" ,"), command=False, remark=rest)


def _hide_protected(text: str) -> str:
    """Return a text with zeros where a word that parts an ask would not part it; lengths stay."""
    return _PROTECTED.sub(lambda found: "\0" * len(found[0]), text)


def merge_remarks(remarks: Iterable[str]) -> list[str]:
    """Return remarks on one thing, each once, without those that another one holds already."""
    known = [remark for remark in dict.fromkeys(remarks) if remark]
    whole = {}
    for one in known:
        whole[one] = re.compile(rf"(?<!\w){re.escape(one)}(?!\w)")
    return [
        one
        for one in known
        if not any(one != other and whole[one].search(other) for other in known)
    ]


def write_phrase(what: str, remarks: Sequence[str]) -> str:
    """Return a thing with its remarks as one line of words."""
    phrase = what
    for place, remark in enumerate(remarks):
        if place:
            joint = "; "
        elif _JOINED.match(remark):
            joint = " "
        else:
            joint = ", "
        phrase += f"{joint}{remark}"
    return phrase
