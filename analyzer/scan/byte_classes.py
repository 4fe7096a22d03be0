"""Classes of characters as classes of bytes."""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any

_c: Any = importlib.import_module("re._constants")

ODD_PARTNERS = {
    "i": (0x130, 0x131),
    "k": (0x212A,),
    "s": (0x17F,),
}  # what an ASCII letter matches without case
HIGH = "\\x80-\\xff"  # the bytes of characters beyond ASCII, inside a class


@lru_cache(maxsize=1024)
def find_members(items: tuple[tuple[Any, Any], ...], nocase: bool) -> tuple[frozenset[int], bool]:
    """Return the ASCII characters that a class of a parsed pattern holds, and whether it may hold others."""
    negated = bool(items) and items[0][0] is _c.NEGATE
    if negated:
        items = items[1:]
    found = set()
    for code in range(128):
        if any(_item_holds(item, code, nocase) for item in items):
            found.add(code)
    if negated:
        return frozenset(range(128)) - found - {10}, True
    return frozenset(found) - {10}, any(map(_holds_high, items))


def _holds_high(item: tuple[Any, Any]) -> bool:
    """Say whether a part of a class may hold characters beyond ASCII."""
    op, arg = item
    if op is _c.CATEGORY:
        return True
    top = arg[1] if op is _c.RANGE else arg
    return bool(top > 127)


def _item_holds(item: tuple[Any, Any], code: int, nocase: bool) -> bool:
    op, arg = item
    if op is _c.CATEGORY:
        return bool(_CATEGORIES[arg].match(chr(code)))
    codes = {code}
    if nocase:
        lower = chr(code).lower()
        codes |= {ord(lower), ord(lower.upper()), *ODD_PARTNERS.get(lower, ())}
    low, top = arg if op is _c.RANGE else (arg, arg)
    return any(low <= one <= top for one in codes)


_CATEGORIES: dict[Any, re.Pattern[str]] = {
    _c.CATEGORY_DIGIT: re.compile(r"\d"),
    _c.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    _c.CATEGORY_SPACE: re.compile(r"\s"),
    _c.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    _c.CATEGORY_WORD: re.compile(r"\w"),
    _c.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def byte_class(find_members: frozenset[int], high: bool) -> str:
    """Return the characters of a class as a class of bytes; `high`: characters beyond ASCII match too."""
    if not find_members and not high:
        return "[\\x0a]"  # nothing on a line can match
    spans: list[str] = []
    codes = sorted(find_members)
    at = 0
    while at < len(codes):
        end = at
        while end + 1 < len(codes) and codes[end + 1] == codes[end] + 1:
            end += 1
        span = f"\\x{codes[at]:02x}"
        if end > at:
            span += f"-\\x{codes[end]:02x}"
        spans.append(span)
        at = end + 1
    return f"[{''.join(spans)}{HIGH if high else ''}]"
