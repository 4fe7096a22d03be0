"""The facts of a case: rows and frames by table, each with its origin."""

from __future__ import annotations

from analyzer.facts.records import Coverage, NodeInfo, Origin
from analyzer.facts.store import GHOST, Facts

__all__ = ["GHOST", "Coverage", "Facts", "NodeInfo", "Origin"]
