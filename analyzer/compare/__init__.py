"""Two or more cases side by side: what changed, what a counter really did, what can no longer be known."""

from __future__ import annotations

from analyzer.compare.document import compare_cases
from analyzer.compare.sides import CaseSide, read_sides

__all__ = ["CaseSide", "compare_cases", "read_sides"]
