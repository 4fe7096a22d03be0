"""Engines that propose lines of a block for patterns; they differ in speed, never in results.

An engine gets the over-approximations of `analyzer.scan.prefilter` and answers with places. Each
place names a line that the pattern may match; Python's `re` on that single line decides. So an
engine may propose too much, and must never miss a line.
"""

from __future__ import annotations

import importlib
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from analyzer.runtime.errors import UsageError
from analyzer.scan.compiled_pattern import Engine, Needle
from analyzer.scan.hyperscanengine import HyperscanEngine
from analyzer.scan.pureengine import PureEngine
from analyzer.scan.re2engine import Re2Engine

ENGINES = ("hyperscan", "re2", "pure")
KEPT = 32  # compiled engines a process keeps: one a log with signatures, and some without those that storm


def build_engine(name: str, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> Engine:
    """Return the engine `name` for numbered patterns, none of which is `every_line`.

    What costs to compile is kept in the process: the next case with the same rules gets the same engine,
    which threads may share. PureEngine costs little, and learns from the text it meets, so each gets its own.
    """
    if name in ("hyperscan", "re2"):
        return _keep_engine(name, tuple(needles.items()), cache_dir)
    return PureEngine(needles)


@lru_cache(KEPT)
def _keep_engine(
    name: str, needles: tuple[tuple[int, Needle], ...], cache_dir: Path | None
) -> Engine:
    return (
        HyperscanEngine(dict(needles), cache_dir)
        if name == "hyperscan"
        else Re2Engine(dict(needles))
    )


def choose_engine(name: str = "auto") -> str:
    """Return the engine to use: the one asked for, or with "auto" the quickest there is.

    Raises UsageError for an unknown or missing one.
    """
    if name == "auto":
        return next(engine for engine in ENGINES if _is_available(engine))
    if name not in ENGINES:
        raise UsageError(
            f"there is no engine {name}", do="Choose one of: auto, " + ", ".join(ENGINES)
        )
    if not _is_available(name):
        raise UsageError(
            f"the engine {name} cannot be loaded",
            why="its package is not installed or does not run on this processor",
            do='Install it, or leave the choice to "auto": the findings are the same',
        )
    return name


@cache
def _is_available(name: str) -> bool:
    if name == "pure":
        return True
    if name == "hyperscan" and not _safe_to_import():
        return False
    try:
        importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a broken wheel must not stop a triage
        return False
    return True


def _safe_to_import() -> bool:
    """Say whether importing hyperscan cannot kill the process.

    On an old x86 processor the import has ended with "Illegal instruction"
    (darvid/python-hyperscan#151). So without AVX2 it is tried in a child first.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    if platform.machine() not in ("x86_64", "AMD64") or " avx2" in flags:
        return True

    done = subprocess.run(
        [sys.executable, "-P", "-c", "import hyperscan"], capture_output=True, check=False
    )
    return done.returncode == 0
