"""Modules a back-test worker needs, imported once by the server that forks the workers."""

from __future__ import annotations

import duckdb
import numpy

from analyzer.archive.backtests import worker
from analyzer.artefacts import parsing

__all__ = ["duckdb", "numpy", "worker"]

parsing.modules()
