"""Where the catalog of the tool is: in the program, or in a folder that `backline rules update` has filled."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "BACKLINE_CATALOG"  # folder of catalogs
CURRENT, PREVIOUS, KEY = "current", "previous", "key"


def find_catalog() -> Path:
    """Return the folder of rules that count as those of the tool; that of the program where no update was taken."""
    named = os.environ.get(VARIABLE, "")
    updated = Path(named) / CURRENT / "kb"
    if named and updated.is_dir():
        return updated.resolve()
    return Path(__file__).resolve().parent.parent / "kb"
