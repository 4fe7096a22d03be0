"""The lines of a TOML text where tables and keys stand: `tomllib` reads values and forgets their places.

Only what begins a line is found, as people write it: `[table]`, `[[list]]`, `key = value`. What is in an
inline table or a list has the place of what holds it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from analyzer.rules.language.rulefile import FileSpan

# Keys of tables and numbers of list entries, from the top: ("mute", 0, "rule").
Path = tuple[str | int, ...]

_KEY = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'"""
_KEYS = rf"(?:{_KEY})(?:[ \t]*\.[ \t]*(?:{_KEY}))*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEYS})[ \t]*\]\]?[ \t]*(?:#.*)?$")
_PAIR = re.compile(rf"[ \t]*({_KEYS})[ \t]*=[ \t]*")


def find_places(text: str, values: Mapping[str, Any]) -> dict[Path, tuple[FileSpan, FileSpan]]:
    """Return path -> (place of the key, place of the value) in a TOML text with the values that `tomllib` read."""
    found: dict[Path, tuple[FileSpan, FileSpan]] = {}
    counts: dict[Path, int] = {}
    base: Path = ()
    inside = ""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not inside and (header := _HEADER.match(line)):
            path = _read_path((), header[2], counts)
            if header[1] == "[[":
                counts[path] = counts.get(path, -1) + 1
                path = (*path, counts[path])
            if _is_inside(values, path):
                base = path
                span = FileSpan(number, header.start(1) + 1, len(line.strip()))
                found.setdefault(path, (span, span))
        elif not inside and (pair := _PAIR.match(line)):
            path = _read_path(base, pair[1], {})
            if _is_inside(values, path):
                value = FileSpan(
                    number,
                    pair.end() + 1,
                    max(1, len(line[pair.end() :].partition(" #")[0].rstrip())),
                )
                found.setdefault(path, (FileSpan(number, pair.start(1) + 1, len(pair[1])), value))
        for quotes in ('"""', "'''"):
            if inside in ("", quotes) and line.count(quotes) % 2:
                inside = "" if inside else quotes
    return found


def _read_path(base: Path, keys: str, counts: Mapping[Path, int]) -> Path:
    for key in re.findall(_KEY, keys):
        if base in counts:
            base = (*base, counts[base])
        base = (*base, tomllib.loads(f"key = {key}")["key"] if key[0] in "\"'" else key)
    return base


def _is_inside(values: Any, path: Path) -> bool:
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True
