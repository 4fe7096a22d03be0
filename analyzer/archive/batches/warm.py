"""What a process of a batch needs; the server that starts such processes loads it once for all of them."""

from __future__ import annotations

import duckdb
import numpy

from analyzer import case, catalogs, material, parsing, triage
from analyzer.archive import store
from analyzer.archive.batches import work
from analyzer.archive.packs import keep
from analyzer.archive.recalled import recall

__all__ = ["case", "catalogs", "duckdb", "keep", "material", "numpy", "recall", "store", "triage", "work"]

parsing.registry()
