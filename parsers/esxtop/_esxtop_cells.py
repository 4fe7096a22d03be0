"""Single cells of an esxtop CSV: stamps, numbers as spreadsheets write them, and where wanted cells are in a row."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Any

from analyzer.artefacts.logtime import check_range, check_year

_DATE = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4}) (\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d{1,9})?")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d{1,9})?Z?")
_NUMBER = re.compile(r"[-+]?\d{1,30}(?:[.,]\d{1,30})?(?:[eE][-+]?\d{1,3})?", re.ASCII)


def place_array(positions: list[int]) -> Any:
    import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

    return np.array(positions, dtype=np.int64)


def find_runs(positions: list[int]) -> tuple[Any, Any]:
    """Return first and last position of each run of neighbours among ascending positions."""
    import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

    at = np.array(positions, dtype=np.int64)
    breaks = np.flatnonzero(np.diff(at) > 1)
    return at[np.r_[0, breaks + 1]] if len(at) else at, at[np.r_[breaks, len(at) - 1]] if len(
        at
    ) else at


def count_decimals(field: str) -> int:
    found = re.search(r"[.,](\d+)\"?[,;\t]?$", field)
    return len(found[1]) if found else 0


def unquote_field(field: str, delimiter: str) -> str:
    """Return a field without quotes, its comma as a point; blank when it holds the delimiter: that is no number."""
    text = field.replace('"', "").replace(",", ".")
    return "" if delimiter in text else text


def read_number(text: str) -> float:
    text = text.strip('" ,;\t')
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    return math.nan


def read_time(text: str, bias_s: int = 0) -> datetime | None:
    """Read a stamp: `MM/DD/YYYY HH:MM:SS` as esxtop writes it, or what spreadsheets make of it.

    bias_s  seconds to add for UTC

    Raises FarTimeError for one out of range.
    """
    if found := _DATE.fullmatch(text):
        one = int(found[1])
        sign = found[2]
        two = int(found[3])
        year = int(found[4])
        if sign == "." or one > 12:
            month, day = (two, one)
        else:
            month, day = (one, two)
        rest = found.group(5, 6, 7)
    elif found := _ISO.fullmatch(text):
        year, month, day = (int(part) for part in found.group(1, 2, 3))
        rest = found.group(4, 5, 6)
    else:
        return None
    check_year(year)
    try:
        hour, minute, second = (int(part or 0) for part in rest)
        time = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    return check_range(time + timedelta(seconds=bias_s))
