"""Modules a batch worker needs, imported once by the server that forks the workers."""

from __future__ import annotations

import duckdb
import numpy

from analyzer.archive import store
from analyzer.archive.batches import work
from analyzer.archive.packs import encode
from analyzer.archive.restore import recall
from analyzer.artefacts import parsing
from analyzer.pipeline import case, case_data, triage
from analyzer.rules import run_catalog

__all__ = [
    "case",
    "case_data",
    "duckdb",
    "encode",
    "numpy",
    "recall",
    "run_catalog",
    "store",
    "triage",
    "work",
]

parsing.modules()
