"""A Python regex as RE2 understands it, so that both match the same lines.

RE2 speaks another dialect: its `\\s`, `\\d`, `\\w` and `\\b` know ASCII only, its case folding knows fewer
letters, its `$` and `\\Z` differ. So the pattern is written anew from Python's parse tree, each set of
characters with the very ranges that `re` gives it. What RE2 leaves: lookaround, back references, possessive
repeats and atomic groups, counts above a thousand, and `\\b` next to letters that are not ASCII.
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
# Where the bytes that are no UTF-8 stand: a set has all of them, or none.
_HALVES = ("\ud800", "\udbff", "\udc80", "\udcff", "\udfff")
_WORDS = (_c.AT_BOUNDARY, _c.AT_NON_BOUNDARY)


class NotForRe2Error(Exception):
    """RE2 has no words for a part of the pattern."""


class Re2Pattern:
    """A pattern compiled by RE2, for lines of ASCII or of all characters.

    relaxed  leave out what RE2 has not: it then finds every line that the pattern matches, and others
    """

    def __init__(
        self, pattern: str, flags: int, *, ascii_only: bool, relaxed: bool = False
    ) -> None:
        """Raises NotForRe2Error when RE2 cannot take it, or is not installed."""
        re2 = _load_re2()
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

    def is_found(self, text: str) -> bool:
        """Say whether a line matches."""
        return self._search(_encode_text(text)) is not None

    def find_groups(self, text: str) -> dict[str, str | None] | None:
        """Return the named groups of a line that matches; None when RE2 may cut them otherwise than `re`."""
        raw = _encode_text(text)
        if not self._same_groups or _STAND_IN in text or _ODD.search(text):
            return None
        match = self._search(raw)
        if match is None:
            return {}
        found: dict[str, str | None] = {}
        for number, name in enumerate(self._names, 1):
            part = match.group(number)
            found[name] = part if part is None else part.decode()
        return found


@cache
def _load_re2() -> Any:
    try:
        return importlib.import_module("re2")
    except Exception:  # noqa: BLE001 - a broken wheel must not stop a triage
        return None


def _encode_text(text: str) -> bytes:
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
            self.text = self._write_sequence(tree, tree.state.flags)
        except RecursionError:
            raise NotForRe2Error("nested too deep") from None

    def _write_sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> str:
        return "".join(self._write_step(op, arg, flags) for op, arg in tree)

    def _write_step(self, op: Any, arg: Any, flags: int) -> str:
        if op in SINGLE:
            return _write_set(class_text(op, arg), flags & _FLAGS, self._ascii)
        if op is _c.SUBPATTERN:
            number, added, removed, inner = arg
            own = (flags | added) & ~removed
            name = self._named.get(number) if number is not None else None
            if name is None:
                return f"(?:{self._write_sequence(inner, own)})"
            self.names.append(name)
            return f"({self._write_sequence(inner, own)})"
        if op is _c.BRANCH:
            return "(?:" + "|".join(self._write_sequence(arm, flags) for arm in arg[1]) + ")"
        if op in (_c.MAX_REPEAT, _c.MIN_REPEAT):
            return self._write_repeat(arg, flags, lazy=op is _c.MIN_REPEAT)
        if op is _c.AT and (self._ascii or arg not in _WORDS or flags & re.ASCII):
            return _ANCHORS[arg]
        if self._relaxed:
            if op in (_c.AT, _c.ASSERT, _c.ASSERT_NOT):
                return ""
            if op is POSSESSIVE:
                return self._write_repeat(arg, flags, lazy=False)
            return f"(?:{self._write_sequence(arg, flags)})" if op is ATOMIC else ".*"
        raise NotForRe2Error(
            _LACKS.get(op, "a \\b of all letters" if op is _c.AT else "a possessive repeat")
        )

    def _write_repeat(self, arg: tuple[int, int, Any], flags: int, *, lazy: bool) -> str:
        least, most, inner = arg
        endless = most is _c.MAXREPEAT
        if least > MOST_COUNT or (not endless and most > MOST_COUNT):
            if not self._relaxed:
                raise NotForRe2Error("a count above a thousand")
            least, endless = min(least, 1), True
        known = len(self.names)
        body = self._write_sequence(inner, flags)
        if len(self.names) > known and not inner.getwidth()[0]:
            self.same_groups = False  # what a turn that takes nothing leaves in a group, each engine says otherwise
        if not endless:
            count = f"{{{least},{most}}}"
        elif least:
            count = f"{{{least},}}"
        else:
            count = "*"
        return f"(?:{body}){count}?" if lazy else f"(?:{body}){count}"


@lru_cache(maxsize=4096)
def _write_set(text: str, flags: int, ascii_only: bool) -> str:
    """Return a set of characters as the ranges that `re` gives it."""
    compiled = re.compile(text, flags)
    holds_stand_in = compiled.match(_STAND_IN) is not None
    for half in _HALVES:
        if (compiled.match(half) is not None) is not holds_stand_in:
            raise NotForRe2Error("a byte that is not UTF-8, by its name")
    every = _list_characters(ascii_only)
    ranges = []
    for found in re.finditer(f"(?:{text})+", every, flags):
        low, top = ord(every[found.start()]), ord(every[found.end() - 1])
        ranges.append(f"\\x{{{low:x}}}-\\x{{{top:x}}}")
    if ranges:
        return f"[{''.join(ranges)}]"
    return r"[^\x00-\x{ff}]" if ascii_only else r"[^\x00-\x{10ffff}]"


@cache
def _list_characters(ascii_only: bool) -> str:
    codes = range(0x80) if ascii_only else (*range(0xD800), *range(0xE000, 0x110000))
    return "".join(map(chr, codes)) if ascii_only else array("I", codes).tobytes().decode("utf-32")
