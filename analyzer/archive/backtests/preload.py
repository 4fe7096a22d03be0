"""What a process of a back-test needs; the server that starts such processes loads it once for all of them."""

from __future__ import annotations

import duckdb
import numpy

from analyzer import parsing
from analyzer.archive.backtests import worker

__all__ = ["duckdb", "numpy", "worker"]

parsing.registry()
