"""A Python regex as RE2 understands it, so that both match the same lines.

RE2 speaks another dialect: its `\\s`, `\\d`, `\\w` and `\\b` know ASCII only, its case folding knows fewer
letters, its `$` and `\\Z` differ. So the pattern is written anew from Python's parse tree, each set of
characters with the very ranges that `re` gives it. What RE2 leaves: lookaround, back references, possessive
repeats and atomic groups, counts above a thousand, and `\\b` beside letters that are not ASCII.
Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import importlib
import re
from array import array
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from analyzer.scan.repeats import ATOMIC, POSSESSIVE, SINGLE, class_text

_parser: Any = importlib.import_module("re._parser")
_c: Any = importlib.import_module("re._constants")

MOST_COUNT = 1000  # RE2 refuses more
_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL
_ODD = re.compile("[\ud800-\udfff]")
_STAND_IN = "\ufffd"  # what half a pair of UTF-16, or a byte that is no UTF-8, is for RE2
_ANCHORS = {
    _c.AT_BEGINNING: r"\A",
    _c.AT_BEGINNING_STRING: r"\A",
    _c.AT_END: r"\z",
    _c.AT_END_STRING: r"\z",
    _c.AT_BOUNDARY: r"\b",
    _c.AT_NON_BOUNDARY: r"\B",
}
_LACKS = {
    _c.ASSERT: "a lookaround",
    _c.ASSERT_NOT: "a lookaround",
    _c.GROUPREF: "a back reference",
    _c.GROUPREF_EXISTS: "a condition on a group",
}
_WORDS = (_c.AT_BOUNDARY, _c.AT_NON_BOUNDARY)


class NotForRe2Error(Exception):
    """RE2 has no words for a part of the pattern."""


class Re2Pattern:
    """A pattern compiled by RE2, for lines of ASCII or of all characters.

    relaxed  leave out what RE2 has not: it then finds every line that the pattern matches, and others
    """

    def __init__(self, pattern: str, flags: int, *, ascii_only: bool, relaxed: bool = False) -> None:
        """Raises NotForRe2Error when RE2 cannot take it, or is not installed."""
        re2 = _re2()
        if re2 is None:
            raise NotForRe2Error("google-re2 is not installed")
        writer = _Writer(pattern, flags, ascii_only, relaxed)
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1 if ascii_only else re2.Options.Encoding.UTF8
        options.log_errors = False
        options.max_mem = 64 << 20
        try:
            self._search = re2.compile(writer.text.encode(), options).search
        except re2.error as error:
            raise NotForRe2Error(str(error)) from None
        self._names = writer.names
        self._same_groups = writer.same_groups

    def finds(self, text: str) -> bool:
        """Tell whether a line matches."""
        return self._search(_bytes(text)) is not None

    def groups(self, text: str) -> dict[str, str | None] | None:
        """Return the named groups of a line that matches; None when RE2 may cut them otherwise than `re`."""
        raw = _bytes(text)
        if not self._same_groups or _STAND_IN in text or _ODD.search(text):
            return None
        match = self._search(raw)
        if match is None:
            return {}
        parts = (match.group(number) for number in range(1, len(self._names) + 1))
        return {name: part if part is None else part.decode() for name, part in zip(self._names, parts, strict=True)}


@cache
def _re2() -> Any:
    try:
        return importlib.import_module("re2")
    except Exception:  # noqa: BLE001 - a broken wheel must not stop a triage
        return None


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _ODD.sub(_STAND_IN, text).encode()


class _Writer:
    """Writes the pattern; `names` are the named groups in the order of their numbers."""

    def __init__(self, pattern: str, flags: int, ascii_only: bool, relaxed: bool) -> None:
        tree = _parser.parse(pattern, flags)
        self._ascii, self._relaxed = ascii_only, relaxed
        self._named = {number: name for name, number in tree.state.groupdict.items()}
        self.names: list[str] = []
        self.same_groups = True
        try:
            self.text = self._sequence(tree, tree.state.flags)
        except RecursionError:
            raise NotForRe2Error("nested too deep") from None

    def _sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> str:
        return "".join(self._step(op, arg, flags) for op, arg in tree)

    def _step(self, op: Any, arg: Any, flags: int) -> str:
        if op in SINGLE:
            return _set(class_text(op, arg), flags & _FLAGS, self._ascii)
        if op is _c.SUBPATTERN:
            return self._group(arg, flags)
        if op is _c.BRANCH:
            return "(?:" + "|".join(self._sequence(arm, flags) for arm in arg[1]) + ")"
        if op in (_c.MAX_REPEAT, _c.MIN_REPEAT):
            return self._repeat(arg, flags, lazy=op is _c.MIN_REPEAT)
        if op is _c.AT and (self._ascii or arg not in _WORDS or flags & re.ASCII):
            return _ANCHORS[arg]
        if self._relaxed:
            return self._instead(op, arg, flags)
        raise NotForRe2Error(_LACKS.get(op, "a \\b of all letters" if op is _c.AT else "a possessive repeat"))

    def _instead(self, op: Any, arg: Any, flags: int) -> str:
        """Return something that matches more than what RE2 has not."""
        if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):
            return ""
        if op is POSSESSIVE:
            return self._repeat(arg, flags, lazy=False)
        return f"(?:{self._sequence(arg, flags)})" if op is ATOMIC else ".*"

    def _group(self, arg: tuple[int | None, int, int, Any], flags: int) -> str:
        number, added, removed, inner = arg
        own = (flags | added) & ~removed
        name = self._named.get(number) if number is not None else None
        if name is None:
            return f"(?:{self._sequence(inner, own)})"
        self.names.append(name)
        return f"({self._sequence(inner, own)})"

    def _repeat(self, arg: tuple[int, int, Any], flags: int, *, lazy: bool) -> str:
        least, most, inner = arg
        endless = most is _c.MAXREPEAT
        if max(least, 0 if endless else most) > MOST_COUNT:
            if not self._relaxed:
                raise NotForRe2Error("a count above a thousand")
            least, endless = min(least, 1), True
        known = len(self.names)
        body = self._sequence(inner, flags)
        if len(self.names) > known and not inner.getwidth()[0]:
            self.same_groups = False  # what a turn that takes nothing leaves in a group, each engine says otherwise
        count = "*" if endless and not least else f"{{{least},{'' if endless else most}}}"
        return f"(?:{body}){count}{'?' if lazy else ''}"


@lru_cache(maxsize=4096)
def _set(text: str, flags: int, ascii_only: bool) -> str:
    """Return a set of characters as the ranges that `re` gives it."""
    compiled = re.compile(text, flags)
    stand_in = compiled.match(_STAND_IN) is None
    if any((compiled.match(odd) is None) is not stand_in for odd in ("\ud800", "\udbff", "\udc80", "\udcff", "\udfff")):
        raise NotForRe2Error("a byte that is not UTF-8, by its name")
    every = _characters(ascii_only)
    spans = [(every[one.start()], every[one.end() - 1]) for one in re.finditer(f"(?:{text})+", every, flags)]
    ranges = "".join(f"\\x{{{ord(low):x}}}-\\x{{{ord(top):x}}}" for low, top in spans)
    return f"[{ranges}]" if ranges else rf"[^\x00-\x{{{0xFF if ascii_only else 0x10FFFF:x}}}]"


@cache
def _characters(ascii_only: bool) -> str:
    codes = range(0x80) if ascii_only else (*range(0xD800), *range(0xE000, 0x110000))
    return "".join(map(chr, codes)) if ascii_only else array("I", codes).tobytes().decode("utf-32")
