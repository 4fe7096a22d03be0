"""Writes values as YAML that always loads, whatever they contain.

Everything that is no printable character must have been taken out before (`clean`): such a sign can be
written in YAML, but neither seen in an editor nor printed safely.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

ODD = "\ufffd"  # stands for a sign that cannot be printed; itself printable and fine in YAML

_PLAIN = re.compile(r"[A-Za-z][^\x00-\x1f:#]*$")
_FLOW_SIGNS = re.compile(r"[\[\]{},]")
_WORDS = {"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def clean_text(text: str) -> str:
    """Return text of the same length with every sign that cannot be printed replaced; tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    parts = []
    for sign in text:
        if sign == "\t" or sign.isprintable():
            parts.append(sign)
        else:
            parts.append(ODD)
    return "".join(parts)


def write_scalar(text: str, *, flow: bool = False) -> str:
    """Return one text as a YAML scalar, quoted where it has to be; `flow` inside brackets or braces."""
    text = clean_text(text)
    is_plain = bool(_PLAIN.match(text)) and text.lower() not in _WORDS and text == text.strip()
    if is_plain and not (flow and _FLOW_SIGNS.search(text)):
        return text
    if "\t" in text:
        return json.dumps(text, ensure_ascii=False)
    return write_quoted(text)


def write_quoted(text: str) -> str:
    """Return one line of text in single quotes, in which a backslash is a backslash; for patterns."""
    return "'" + clean_text(text).replace("'", "''") + "'"


def write_value(item: object) -> str:
    """Return a cell of a row as it is in a flow mapping."""
    if item is None:
        return "null"
    if isinstance(item, bool):
        if item:
            return "true"
        return "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        text = f"{item!r}"
        if re.fullmatch(r"-?\d+\.\d+(?:e[-+]?\d{1,3})?", text):
            return text
        return f"{item:.6f}"
    return write_scalar(str(item), flow=True)


def write_flow(cells: Mapping[str, object]) -> str:
    """Return a row as `{a: 1, b: text}`; a list is in brackets, a mapping in braces of its own."""
    parts = []
    for name, item in cells.items():
        if isinstance(item, list | tuple):
            text = f"[{', '.join(map(write_value, item))}]"
        elif isinstance(item, Mapping):
            text = write_flow(item)
        else:
            text = write_value(item)
        parts.append(f"{name}: {text}")
    return "{" + ", ".join(parts) + "}"


def write_block(head: str, lines: Iterable[str], column: int) -> list[str]:
    """Return `head: |` with the lines below it; `column` is where the head begins."""
    cleaned = [clean_text(line) for line in lines]
    while cleaned and not cleaned[-1].strip():
        cleaned.pop()
    first = next((line for line in cleaned if line), "")
    if not first or first[0] in " \t" or not cleaned[0]:
        mark = "|2"
    else:
        mark = "|"
    return [
        f"{' ' * column}{head}: {mark}",
        *(f"{' ' * (column + 2)}{line}" if line else "" for line in cleaned),
    ]


def write_comment(text: str) -> str:
    """Return a comment on one line."""
    return "# " + " ".join(clean_text(text).split())
