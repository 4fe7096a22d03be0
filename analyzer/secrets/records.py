"""Secrets whose name and value are two entries of one record: `Path: /UserVars/RmqPassword`, `String Value: …`.

esxcli prints an option so as text, JSON and XML; hostd prints `key` and `value` of an option, REST answers the same
in any order, and the authentication of an edge's routing protocol is a type and a value. Lines of one record stand
together: a blank line, a brace or another name ends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

LONGEST = 14  # lines between a name and its value
LONGEST_LINE = 8192  # a longer line is not cut into its entries
# Words that the name of a secret holds; a text without any is not looked at.
SIGNS = ("pass", "pwd", "secret", "token", "psk", "authentication", "credential")

_SPLIT = r"[\"']?\s*(?:=>|[:=]|\.{3,}|[\"']?>(?:<string>)?)\s*(?:\(string\)\s*)?[\"']?"
_NAME = re.compile(
    rf"(?:^|[\s{{,<|\"'-])(?:path|key|name|option|property)(?<!\bfield name){_SPLIT}"
    r"(?P<name>[\w./\\-]{3,200})",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[\"'<]authentication[\"'>]\s*:?\s*\{?\s*$", re.IGNORECASE)
_VALUE = re.compile(
    r"(?:^|[\s{,<|\"'-])(?:default|current|configured)?[ _-]?(?:string)?[ _-]?(?<!int )(?<!min )(?<!max )value"
    rf"{_SPLIT}(?P<x>[^\s\"'<](?:\\.|[^\"'<\r\n])*)",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^(?:-->)?\s*(?:$|[\[\]{}(),;]+\s*$|</?(?:structure|list|option|entry|authentication)\b)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[,;\s]*$")
_PIECES = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"?|[^\",{}])+[,{}]?|[,{}]")
_NONE = re.compile(r"(?:\*+|null|none|<unset>|not set|true|false)\s*[,;]?\s*$", re.IGNORECASE)


def hide_records(lines: list[str], is_secret: Callable[[str], bool], hidden: str) -> list[str]:
    """Return lines without the values whose names stand on other lines of the same record.

    is_secret  says whether a name is that of a secret
    hidden     what stands in the place of a value
    """
    whole = "\n".join(lines).lower()
    if "value" not in whole or not any(sign in whole for sign in SIGNS):
        return lines
    for at, line in enumerate(lines):
        low = line.lower()
        if not any(sign in low for sign in SIGNS):
            continue
        below = range(at + 1, min(at + LONGEST, len(lines)))
        above = range(at - 1, max(at - LONGEST, -1), -1)
        if _OPENS.search(line):
            _hide_values(lines, below, hidden)
            continue
        entry = _NAME.search(line)
        if entry is not None and is_secret(re.split(r"[./\\]", entry["name"])[-1]):
            _hide_values(lines, below, hidden)
            _hide_values(lines, above, hidden)
    return lines


def hide_record(line: str, is_secret: Callable[[str], bool], hidden: str) -> str:
    """Return a line that holds a whole record, `{ key = "…", value = "…" }`, without such values."""
    if "," not in line or len(line) > LONGEST_LINE:
        return line
    pieces = _PIECES.findall(line)
    if "".join(pieces) != line:
        return line
    return "".join(hide_records(pieces, is_secret, hidden))


def _hide_values(lines: list[str], places: Iterable[int], hidden: str) -> None:
    """Hide the values on some lines, up to the end of the record."""
    for place in places:
        line = lines[place]
        if _ENDS.match(line) or _NAME.search(line):
            return
        found = _VALUE.search(line)
        if found is None or _NONE.match(line, found.start("x")):
            continue
        start, end = found.span("x")
        if tail := _TAIL.search(line, start, end):
            end = tail.start()
        lines[place] = line[:start] + hidden + line[end:]
