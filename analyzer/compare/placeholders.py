"""Tells a mark of a machine from what stands there because nobody filled it in: rows of `kb.identity_placeholder`."""

from __future__ import annotations

import re
from functools import cache

from analyzer.rules.fact_tables import read_shipped

_TABLE = "kb.identity_placeholder"
_UUID = re.compile(r"\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?", re.IGNORECASE)
_SEPARATORS = re.compile(r"[^0-9a-z]")


@cache
def compile_patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of placeholders of one kind: serial, uuid, mac or name."""
    table = read_shipped().get(_TABLE)
    rows = table.own_rows if table is not None else ()
    return tuple(
        re.compile(str(cells["pattern"]), re.IGNORECASE) for cells in rows if cells["kind"] == kind
    )


def is_placeholder(kind: str, text: str) -> bool:
    """Say whether a serial, uuid, mac or name tells no machine from others."""
    text = " ".join(text.split())
    if kind in ("uuid", "mac"):
        text = _SEPARATORS.sub("", text.lower())
    return any(pattern.fullmatch(text) for pattern in compile_patterns(kind))


def is_uuid(text: str) -> bool:
    """Say whether a text is a UUID as firmware writes it."""
    return _UUID.fullmatch(text.strip()) is not None


def fold_uuid(text: str) -> str:
    """Return a UUID without its separators, lower case: tools group its bytes in several ways."""
    return _SEPARATORS.sub("", text.lower())
