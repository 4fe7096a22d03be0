"""The facts of a case: rows and frames by table, each with its origin."""

from __future__ import annotations

from analyzer.facts.records import Coverage, NodeInfo, Origin
from analyzer.facts.store import GHOST, SMALLER, Facts, TimedDatabase

__all__ = ["GHOST", "SMALLER", "Coverage", "Facts", "NodeInfo", "Origin", "TimedDatabase"]
