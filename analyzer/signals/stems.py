"""One pattern for lines that may say trouble: the words that weigh something, their roots inside names, codes, levels.

The search of logs proposes the lines it finds; `weigh_text` reads each kind of them once and has the last word. So this
pattern may propose too much, which costs time, and must not miss a line that weighs `LEAST` or more (held by a test).
"""

from __future__ import annotations

import csv
from pathlib import Path

LEAST = 3.0  # weight from which a line of a whole log is counted


def _read_stems() -> list[str]:
    """Return the patterns of `stems.csv`.

    Names of functions and faults hold words without a boundary: HOST_MUX_MISSING_REPORT, VmfsLockTimeout, IsBadIP.
    """
    with Path(__file__).with_name("stems.csv").open(encoding="utf-8", newline="") as stream:
        return [row["pattern"] for row in csv.DictReader(stream)]


STEMS = "|".join(_read_stems())
