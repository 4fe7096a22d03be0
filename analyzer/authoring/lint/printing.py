"""Complaints as text for a terminal, as JSON, and as annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from analyzer.authoring.lint.codes import CODES, LOAD
from analyzer.authoring.lint.complaints import Complaint
from analyzer.runtime.text import make_visible, one_line

SOURCE = 1000  # characters of a line of the file that JSON holds


def counted(number: int, word: str) -> str:
    """Return a number with its word: `1 rule`, `2 rules`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def summary(files: int, complaints: Sequence[Complaint]) -> str:
    """Return the last line: how many rules, errors and warnings; and what could not be asked."""
    errors, warnings, hints = (_count(complaints, level) for level in ("error", "warning", "hint"))
    line = f"{counted(files, 'rule')}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    line += f", {counted(hints, 'hint')}" if hints else ""
    unread = {one.file for one in complaints if CODES[one.code].stage == LOAD}
    if unread:
        line += f"\n{counted(len(unread), 'file')} checked only in part: fix what keeps it from loading and run it again."
    return line


def _count(complaints: Iterable[Complaint], level: str) -> int:
    return sum(one.level == level for one in complaints)


def as_text(complaints: Iterable[Complaint]) -> str:
    """Return complaints with their carets, a blank line after each."""
    return "".join(f"{one}\n\n" for one in complaints)


def as_json(files: int, complaints: Sequence[Complaint]) -> str:
    """Return one JSON document; characters beyond ASCII are escaped."""
    document = {
        "rules": files,
        "errors": _count(complaints, "error"),
        "warnings": _count(complaints, "warning"),
        "hints": _count(complaints, "hint"),
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


def as_github(complaints: Iterable[Complaint]) -> str:
    """Return workflow commands, one a line, that GitHub shows beside the lines of a change."""
    return "".join(f"{_command(one)}\n" for one in complaints)


def _command(one: Complaint) -> str:
    place = one.place
    properties = {
        "file": one.file,
        "line": str(place.line),
        "col": str(place.column),
        "endColumn": str(place.column + place.width),
        "title": f"{one.code}: {CODES[one.code].title}",
    }
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = f"{one.message}. {one.help}" if one.help else one.message
    level = "notice" if one.level == "hint" else one.level
    return f"::{level} {written}::{_data(one_line(text))}"


def _data(text: str) -> str:
    """Return text that cannot end a workflow command or begin another."""
    return make_visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")
