"""Where each key and value of a TOML text stands: `tomllib` reads values and forgets their places.

Only text that `tomllib` has accepted is walked, so there is nothing to refuse here.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

from analyzer.language.rulefile import FileSpan

# Keys of tables and numbers of list entries, from the top: ("mute", 0, "rule").
Path = tuple[str | int, ...]

_TEXT = re.compile(r'"""(?:\\[\s\S]|[^\\])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_SPACE = re.compile(r"(?:[ \t]|#[^\n]*)*")
_LINES = re.compile(r"(?:\s|#[^\n]*)*")


def places(text: str) -> dict[Path, tuple[FileSpan, FileSpan]]:
    """Return path -> (place of the key, place of the value) of a TOML text that `tomllib` accepts.

    A table has the place of its header for both; an entry of a list that of its value.
    """
    finder = _Finder(text.replace("\r\n", "\n"))
    finder.run()
    return finder.found


class _Finder:
    """Walks the text once; `at` is the offset of the next sign."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.found: dict[Path, tuple[FileSpan, FileSpan]] = {}
        self.lists: dict[Path, int] = {}  # list of tables -> number of its last entry

    def run(self) -> None:
        base: Path = ()
        while True:
            self._skip(_LINES)
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                base = self._header()
            else:
                self._pair(base)

    def _header(self) -> Path:
        start, twice = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if twice else 1
        keys = self._keys()
        self.at += 2 if twice else 1
        place = self._place(start, self.at)
        path: Path = ()
        for number, (key, _) in enumerate(keys):
            path = (*path, key)
            self.found.setdefault(path, (place, place))
            if twice and number == len(keys) - 1:
                self.lists[path] = self.lists.get(path, -1) + 1
            if path in self.lists:
                path = (*path, self.lists[path])
        self.found[path] = (place, place)
        return path

    def _pair(self, base: Path) -> None:
        keys = self._keys()
        self._skip(_SPACE)
        self.at += 1  # the sign =
        self._skip(_SPACE)
        path = base
        for key, place in keys:
            path = (*path, key)
            self.found.setdefault(path, (place, place))
        key_place = keys[-1][1]
        self.found[path] = (key_place, self._value(path))

    def _keys(self) -> list[tuple[str, FileSpan]]:
        """Return the parts of a dotted key with their places."""
        found = []
        while True:
            self._skip(_SPACE)
            start = self.at
            quoted = self.text[start] in "\"'"
            match = (_TEXT if quoted else _BARE_KEY).match(self.text, start)
            assert match is not None  # tomllib has read it
            self.at = match.end()
            key = tomllib.loads(f"key = {match[0]}")["key"] if quoted else match[0]
            found.append((key, self._place(start, self.at)))
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def _value(self, path: Path) -> FileSpan:
        start = self.at
        sign = self.text[start]
        if sign == "[":
            self._array(path)
        elif sign == "{":
            self._table(path)
        else:
            match = (_TEXT if sign in "\"'" else _BARE_VALUE).match(self.text, start)
            assert match is not None  # tomllib has read it
            self.at = match.end()
            return self._place(start, start + len(match[0].rstrip()))
        return self._place(start, self.at)

    def _array(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self._skip(_LINES)
            if self.text[self.at] == "]":
                self.at += 1
                return
            place = self._value((*path, number))
            self.found[*path, number] = (place, place)
            number += 1
            self._skip(_LINES)
            self.at += self.text[self.at] == ","

    def _table(self, path: Path) -> None:
        self.at += 1
        while True:
            self._skip(_LINES)
            if self.text[self.at] == "}":
                self.at += 1
                return
            self._pair(path)
            self._skip(_LINES)
            self.at += self.text[self.at] == ","

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _place(self, start: int, end: int) -> FileSpan:
        line = bisect_right(self.starts, start)
        stop = self.text.find("\n", start, end)
        return FileSpan(line, start - self.starts[line - 1] + 1, max(1, (end if stop < 0 else stop) - start))
