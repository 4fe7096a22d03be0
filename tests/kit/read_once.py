"""The shipped rules, read once in a process: thousands of tests ask for them, and nothing in them changes.

A run of the tool that starts a process of its own reads them as ever, and so does every test that names
another cache, rules of its own or changed thresholds: what reading does is proved there (`test_rule_store`).
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analyzer import rules
from analyzer.rules import Catalog, catalog

KB = Path(rules.__file__).resolve().parent.parent / "kb"
_read = catalog.load
_kept: dict[tuple[Any, ...], Catalog] = {}


def load(paths: Sequence[Any] | None = None, tables: Any = None, **how: Any) -> Catalog:
    """Return what `rules.load` returns, in lists of its own; the rules in them are the same objects each time."""
    asked = catalog.default_paths() if paths is None else list(paths)
    if (
        asked != [KB]
        or tables is not None
        or how.get("thresholds")
        or os.environ.get("BACKLINE_CACHE") != CACHE
    ):
        return _read(paths, tables, **how)
    key = (how.get("limits"), *(bool(how.get(name)) for name in ("drafts", "retired", "examples")))
    if key not in _kept:
        _kept[key] = _read(paths, tables, **how)
    found = copy.copy(_kept[key])
    found.rules, found.broken, found.sources = found.rules[:], found.broken[:], found.sources[:]
    found.known, found.tables = dict(found.known), dict(found.tables)
    return found


CACHE = ""  # of the run; another one is that of a test which watches the rules being read


def begin(cache: Path) -> None:
    """Let all of this process ask `load` for the shipped rules; `cache` is the cache of the run."""
    global CACHE  # noqa: PLW0603 - told once, before the first test is imported
    CACHE = str(cache)
    rules.load = catalog.load = load
