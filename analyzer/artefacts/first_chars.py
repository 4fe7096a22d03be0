"""Which characters a match of a pattern can start with, and which words it must contain.

Trying sixty patterns on every line of prose is expensive; almost all of them can be ruled out by the first
character, or by a word that is not there. This reads the part of the regex syntax that shapes are
written in, and answers "any" whenever it is not sure: too many candidates cost time, one too few
would lose a dump.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

ANY = frozenset(map(chr, range(128)))
_DIGITS = frozenset("0123456789")
_WORDS = frozenset(sign for sign in ANY if sign.isalnum() or sign == "_")
_BLANKS = frozenset(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f")
_SORTS = {"d": _DIGITS, "w": _WORDS, "s": _BLANKS, "D": ANY, "W": ANY, "S": ANY}
_NOTHING = frozenset("bBAZ")
_SIGNS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_QUANTIFIER = re.compile(r"(?:([?*])|\+|\{(\d*)(?:,\d*)?\})[?+]?")
_LOOK = re.compile(r"\(\?<?[=!]")
_PLAIN = re.compile(r"(?:[\w #,/:=\"'&;<>~`!@%-]|\\[^\w\s\\])*")
_PART = re.compile(
    r"(?P<flags>\(\?[aiLmsux-])|(?P<open>\()|(?P<close>\))|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<times>[?*+]|\{\d*,?\d*\})|(?P<branch>\|)|(?P<sign>\\\W|[^\\.^$])"
    r"|(?P<other>\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|\d+|.)|.)",
    re.DOTALL,
)
_WORD_IN_A_GROUP = re.compile(r"(?<!\\)\(\?:([\w./-]*)\)(?![?*+{])")
_ANCHORED = re.compile(r"\^(?:(?:\\s| )(?:[*+]|\{\d*,?\d*\})[?+]?)*")
_OPEN = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")


class _UnsureError(Exception):
    """The pattern uses syntax this reader does not know."""


@lru_cache(maxsize=4096)
def find_first_signs(pattern: str) -> frozenset[str]:
    """Return the ASCII characters that a match of `pattern` can start with; all of them when unsure."""
    try:
        signs, empty, at = _read_alternatives(pattern, 0)
    except (_UnsureError, IndexError, RecursionError):
        return ANY
    return ANY if empty or at < len(pattern) else signs


def _read_alternatives(pattern: str, at: int) -> tuple[frozenset[str], bool, int]:
    """Read alternatives up to `)` or the end: (first characters, may be empty, where it stopped)."""
    signs, empty, at = _read_sequence(pattern, at)
    while at < len(pattern) and pattern[at] == "|":
        more, also, at = _read_sequence(pattern, at + 1)
        signs, empty = signs | more, empty or also
    return signs, empty, at


def _read_sequence(pattern: str, at: int) -> tuple[frozenset[str], bool, int]:
    signs: frozenset[str] = frozenset()
    open_still = True  # all atoms so far may be empty
    while at < len(pattern) and pattern[at] not in "|)":
        more, empty, at = _read_atom(pattern, at)
        if found := _QUANTIFIER.match(pattern, at):
            at = found.end()
            sign, least = found.groups()
            if sign is not None or (least is not None and int(least or 0) == 0):
                empty = True
        if open_still:
            signs |= more
            open_still = empty
    return signs, open_still, at


def _read_atom(pattern: str, at: int) -> tuple[frozenset[str], bool, int]:
    sign = pattern[at]
    if sign == "(":
        look, group = _LOOK.match(pattern, at), _OPEN.match(pattern, at)
        opened = look or group
        if opened is None:
            raise _UnsureError
        signs, empty, end = _read_alternatives(pattern, opened.end())
        if pattern[end] != ")":
            raise _UnsureError
        return (frozenset(), True, end + 1) if look else (signs, empty, end + 1)
    if sign == "[":
        return _read_class(pattern, at + 1)
    if sign == "\\":
        return *_read_escape(pattern[at + 1]), at + 2
    if sign in "^$":
        return frozenset(), True, at + 1
    if sign in "*+?{":
        raise _UnsureError
    return (ANY if sign == "." else frozenset(sign)), False, at + 1


def _read_escape(sign: str) -> tuple[frozenset[str], bool]:
    if sign in _NOTHING:
        return frozenset(), True
    if sign in _SORTS:
        return _SORTS[sign], False
    if sign in _SIGNS:
        return frozenset(_SIGNS[sign]), False
    if sign.isalnum():
        raise _UnsureError
    return frozenset(sign), False


def _read_class(pattern: str, at: int) -> tuple[frozenset[str], bool, int]:
    """Read `[...]` behind its bracket; a negated one may be anything."""
    negated = pattern[at] == "^"
    start = end = at + 1 if negated else at
    signs: frozenset[str] = frozenset()
    while pattern[end] != "]" or end == start:
        if pattern[end] == "\\":
            more, empty = _read_escape(pattern[end + 1])
            if empty:
                raise _UnsureError
            end += 2
        else:
            more = frozenset(pattern[end])
            end += 1
        if pattern[end] == "-" and pattern[end + 1] not in "]\\" and len(more) == 1:
            low, high = ord(*more), ord(pattern[end + 1])
            more = frozenset(map(chr, range(low, high + 1)))
            end += 2
        signs |= more
    return (ANY if negated else signs), False, end + 1


def find_beginning(pattern: str) -> str:
    """Return the text that every match of a pattern without alternatives begins with, as far as it is easily found."""
    found = _PLAIN.match(pattern)
    assert found is not None
    text, rest = found[0], pattern[found.end() :]
    if rest[:1] in ("?", "*", "{"):  # the last character may be missing
        text = text[:-2] if text[-2:-1] == "\\" else text[:-1]
    return text.replace("\\", "")


def outer_parts(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield what a pattern is made of outside its groups: (kind, text), see `_PART` for the kinds."""
    depth = 0
    for found in _PART.finditer(pattern):
        kind = found.lastgroup or ""
        depth -= kind == "close"
        if not depth or kind == "flags":
            yield kind, found[0]
        depth += kind in ("open", "flags")


@lru_cache(maxsize=4096)
def find_literals(pattern: str) -> tuple[str, ...]:
    """Return texts that every match of `pattern` holds, the longest first; () when unsure."""
    found = [""]
    for kind, text in outer_parts(_WORD_IN_A_GROUP.sub(r"\1", pattern)):
        if kind in ("branch", "flags"):
            return ()
        if kind == "sign":
            found[-1] += text[-1]
        else:
            if kind == "times":  # the sign before it may be missing
                found[-1] = found[-1][:-1]
            found.append("")
    return tuple(sorted(filter(None, dict.fromkeys(found)), key=lambda text: (-len(text), text)))


@lru_cache(maxsize=4096)
def first_characters(pattern: str) -> str | None:
    """Return the literal text that every match begins with after blanks, or None.

    Only for patterns that are anchored and literal from there on.
    """
    lead = _ANCHORED.match(pattern)
    if lead is None or any(kind in ("branch", "flags") for kind, _ in outer_parts(pattern)):
        return None
    return find_beginning(pattern[lead.end() :]).lstrip() or None
