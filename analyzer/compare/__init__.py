"""Two or more cases beside each other: what changed, what a counter really did, what can no longer be told."""

from __future__ import annotations

from analyzer.compare.document import compare_cases
from analyzer.compare.sides import CaseSide, read_sides

__all__ = ["CaseSide", "compare_cases", "read_sides"]
