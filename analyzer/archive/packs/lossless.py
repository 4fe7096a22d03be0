"""Values as text that any Parquet or JSON reader can hold, and back to exactly the same values.

A column of Parquet has one type and UTF-8 text only. What comes out of a case may be an int in a
column of floats, or text with bytes that were none: such cells are kept aside, exactly.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from analyzer.artefacts.tables import INT64, Kind, Value

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile(
    "[\ud800-\udbff][\udc00-\udfff]"
)  # JSON's escapes would join these two to one character
_HEX = "\0hex"
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{6})?", re.ASCII)


def dump_lossless(value: Any) -> str:
    """Return plain values (text, numbers, lists, dictionaries with text keys) as JSON that UTF-8 can hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_unwrap_numpy)
    if text.isascii() or not _SURROGATE.search(text):
        return text
    if _PAIR.search(text):
        return json.dumps({_HEX: text.encode("utf-8", "surrogatepass").hex()})
    return json.dumps(value, separators=(",", ":"), default=_unwrap_numpy)


def load_lossless(text: str) -> Any:
    """Return what `dumps` was given; tuples come back as lists. Raises ValueError."""
    value = json.loads(text)
    if isinstance(value, dict) and len(value) == 1 and _HEX in value:
        return json.loads(bytes.fromhex(value[_HEX]).decode("utf-8", "surrogatepass"))
    return value


def _unwrap_numpy(value: Any) -> Any:
    """Return a number of numpy as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a stored case")


def bytes_to_latin(raw: bytes | bytearray | memoryview) -> str:
    """Return bytes as text of one character a byte."""
    return bytes(raw).decode("latin-1")


def odd_places(cells: Sequence[Value], kind: Kind) -> list[int]:
    """Return the places of cells that would not come back from a column of their declared type as they are."""
    types = set(map(type, cells)) - {type(None)}
    if not types or (kind == "bool" and types == {bool}):
        return []
    if kind in ("str", "version") and types == {str}:
        texts = [cell for cell in cells if isinstance(cell, str)]
        if all(text.isascii() for text in texts):
            return []
    if kind == "int" and types == {int}:
        numbers: list[Any] = [cell for cell in cells if cell is not None]
        if min(numbers) in INT64 and max(numbers) in INT64:
            return []
    return [
        place for place, cell in enumerate(cells) if cell is not None and not _fits_kind(cell, kind)
    ]


def _fits_kind(cell: Value, kind: Kind) -> bool:
    if kind == "int":
        return type(cell) is int and cell in INT64
    if kind == "float":
        return type(cell) is float and math.isfinite(cell)
    if kind == "bool":
        return type(cell) is bool
    if type(cell) is not str:
        return False
    return _is_time(cell) if kind == "time" else not _SURROGATE.search(cell)


@lru_cache(4096)
def _is_time(text: str) -> bool:
    """Say whether a time is written as `strftime` of DuckDB writes it, whole seconds without a fraction."""
    if not _TIME.fullmatch(text):
        return False
    try:
        return datetime.fromisoformat(text).isoformat(" ") == text
    except ValueError:
        return False


def tag_cell(value: Value) -> Any:
    """Return an odd cell as JSON can hold it; whole numbers of any length."""
    if isinstance(value, int) and not isinstance(value, bool) and value not in INT64:
        return {"int": hex(value)}
    return value


def untag_cell(value: Any) -> Value:
    """Return an odd cell from `tagged`."""
    if isinstance(value, dict):
        return int(value["int"], 16)
    found: Value = value
    return found


def plain_text(value: str) -> bool:
    """Say whether UTF-8 can hold a text."""
    return value.isascii() or not _SURROGATE.search(value)
