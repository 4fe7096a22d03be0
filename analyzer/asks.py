"""What to ask a customer for: a thing to send, or commands in backticks with words beside them.

    ``the VM's .vmx file``
    `` `esxtop -b -a -d 5 -n 120 > esxtop.csv` on the host, while the problem is there``

A command stands bare in its backticks: it can be copied and run as it is, once names in <…> are filled in.
Everything else is a remark, for people.
"""

from __future__ import annotations

import re

from analyzer.lazy_dataclass import dataclass
from analyzer.text import code, for_markdown

_COMMAND = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class AskPiece:
    """A stretch of an ask: a command, or words."""

    text: str
    command: bool


def pieces(ask: str) -> list[AskPiece]:
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
    return " ".join(code(piece.text) if piece.command else for_markdown(piece.text) for piece in pieces(ask))


def commands(ask: str) -> list[str]:
    """Return the commands of an ask, each once."""
    return list(dict.fromkeys(piece.text for piece in pieces(ask) if piece.command))
