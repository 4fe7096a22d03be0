"""The facts of a case: rows and frames by table, each with its origin."""

from __future__ import annotations

from analyzer.facts.records import Coverage, NodeInfo, Origin, SharedRows
from analyzer.facts.store import UNSEEN_ROW, Facts

__all__ = ["UNSEEN_ROW", "Coverage", "Facts", "NodeInfo", "Origin", "SharedRows"]
