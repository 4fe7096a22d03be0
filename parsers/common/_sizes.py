"""Sizes as `df` prints them: in bytes, or with `-h` in units of 1,024."""

import re

from analyzer.artefacts.tables import Row

SIZE = r"\d+(?:\.\d+)?[BKMGTP]?"
_POWER = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def convert_to_bytes(row: Row) -> None:
    """Fill `size_bytes`, `used_bytes` and `free_bytes` of a row from its texts; none where a text is no size."""
    for name in ("size", "used", "free"):
        found = re.fullmatch(
            r"(\d{1,18}(?:\.\d+)?)([BKMGTP]?)", str(row.values[f"{name}_text"] or "")
        )
        if found:
            row.values[f"{name}_bytes"] = int(float(found[1]) * 1024 ** _POWER[found[2]])
        else:
            row.values[f"{name}_bytes"] = None
