"""Lets a pattern find lines in which somebody masked names and numbers: `vmnicX`, `vmhba#`, `naa.****`, `10.x.x.x`.

Who shows a log to others writes a sign over each digit of what is nobody's business. A pattern names the digits as `\\d`
or as a class; here each of them takes the signs of a mask as well. Numbers that a rule counts with stay numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

MASKS = "xXN#*"
_PIECE = re.compile(
    r"(?P<digits>\\d(?=[+*{]))|(?P<edge>\\b)|(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|\(\?P<(?P<name>\w+)>|(?P<open>\()|(?P<close>\))|(?P<many>[+*?]|\{[\d,]+\})|(?P<other>.)",
    re.DOTALL,
)
# A set of the digits of an identifier, and no set of words or of what must not be there.
_OF_DIGITS = re.compile(r"\[(?!\^)(?:.*0-9|.*\\d|\\w[.:])")


@lru_cache(maxsize=4096)
def admit_masks(pattern: str, numbers: Collection[str] = ()) -> str:
    """Return a pattern that finds the same lines with masked digits too; groups in `numbers` take digits alone.

    The end of a word behind masked digits is not asked for: no letter or digit ends there.
    """
    written: list[str] = []
    open_groups: list[str] = []
    masked = False  # what came last takes a mask
    for piece in _PIECE.finditer(pattern):
        text, kind = piece[0], piece.lastgroup
        counted = any(name in numbers for name in open_groups)
        if kind in ("name", "open"):
            open_groups.append(piece["name"] or "")
        elif kind == "close" and open_groups:
            open_groups.pop()
        if kind == "edge" and masked:
            continue
        if kind == "digits" and not counted:
            text, masked = f"[\\d{MASKS}]", True
        elif kind == "set" and not counted and _OF_DIGITS.match(text):
            text, masked = f"[{MASKS}{text[1:]}", True
        elif kind not in ("close", "many"):
            masked = False
        written.append(text)
    return "".join(written)
