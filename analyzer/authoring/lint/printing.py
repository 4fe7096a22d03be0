"""Complaints as text for a terminal, as JSON, and as annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from analyzer.authoring.lint.codes import CODES, LOAD
from analyzer.authoring.lint.complaints import Complaint
from analyzer.runtime.text import make_visible, one_line

SOURCE = 1000  # characters of a line of the file that JSON holds


def count_words(number: int, word: str) -> str:
    """Return a number with its word: `1 rule`, `2 rules`."""
    if number == 1:
        return f"{number} {word}"
    return f"{number} {word}s"


def write_summary(files: int, complaints: Sequence[Complaint]) -> str:
    """Return the last line: how many rules, errors and warnings; and what could not be asked."""
    errors, warnings = (_count_level(complaints, level) for level in ("error", "warning"))
    found = f"{count_words(errors, 'error')}, {count_words(warnings, 'warning')}"
    line = f"{count_words(files, 'rule')}: {found}"
    unread = set()
    for one in complaints:
        if CODES[one.code].stage == LOAD:
            unread.add(one.file)
    if unread:
        line += f"\n{count_words(len(unread), 'file')} checked only in part: fix what keeps it from loading and run it again."
    return line


def _count_level(complaints: Iterable[Complaint], level: str) -> int:
    return sum(one.level == level for one in complaints)


def write_text(complaints: Iterable[Complaint]) -> str:
    """Return complaints with their carets, a blank line after each."""
    return "".join(f"{one}\n\n" for one in complaints)


def write_json(files: int, complaints: Sequence[Complaint]) -> str:
    """Return one JSON document; characters beyond ASCII are escaped."""
    document = {
        "rules": files,
        "errors": _count_level(complaints, "error"),
        "warnings": _count_level(complaints, "warning"),
        "complaints": [
            {
                "code": one.code,
                "level": one.level,
                "title": CODES[one.code].title,
                "message": one.message,
                "file": one.file,
                "line": one.place.line,
                "column": one.place.column,
                "width": one.place.width,
                "source": one.source[:SOURCE],
                "help": one.help,
            }
            for one in complaints
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def write_github(complaints: Iterable[Complaint]) -> str:
    """Return workflow commands, one a line, that GitHub shows next to the lines of a change."""
    commands = ""
    for one in complaints:
        place = one.place
        properties = {
            "file": one.file,
            "line": str(place.line),
            "col": str(place.column),
            "endColumn": str(place.column + place.width),
            "title": f"{one.code}: {CODES[one.code].title}",
        }
        pairs = []
        for key, value in properties.items():
            escaped = _escape_text(value).replace(":", "%3A").replace(",", "%2C")
            pairs.append(f"{key}={escaped}")
        if one.help:
            text = f"{one.message}. {one.help}"
        else:
            text = one.message
        message = _escape_text(text)
        commands += f"::{one.level} {','.join(pairs)}::{message}\n"
    return commands


def _escape_text(text: str) -> str:
    """Return text on one line that cannot end a workflow command or begin another."""
    return (
        make_visible(one_line(text)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    )
