"""Which rules a command speaks of: ids of the catalog, rule files, folders of rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from analyzer import rules
from analyzer.errors import UsageError
from analyzer.rulebook.rulefile import did_you_mean
from analyzer.rules import Catalog


def select(names: Sequence[str], kb: Sequence[Path] = (), *, examples: bool = True) -> Catalog:
    """Return the named rules, drafts too; without names all rules of the catalog and of `kb`.

    A name is an id, a rule file or a folder of rule files. Files with a mistake are in
    `broken`, as always. UsageError when there is no such rule.
    """
    paths = [Path(name) for name in names if _is_path(name)]
    ids = [name for name in names if not _is_path(name)]
    whole = rules.load(paths, drafts=True, examples=examples) if paths else Catalog()
    if not ids and paths:
        return whole
    shipped = rules.load([*rules.default_paths(), *kb], drafts=True, examples=examples)
    if not ids:
        return shipped
    for name in ids:
        found = [rule for rule in shipped.rules if rule.id == name]
        if not found and not any(Path(error.file).stem == name for error in shipped.broken):
            known = [rule.id for rule in shipped.rules]
            raise UsageError(f"there is no rule `{name}`", do=did_you_mean(name, known) or "See `backline rules list`.")
        whole.rules += found
    whole.broken += [error for error in shipped.broken if Path(error.file).stem in ids]
    return whole


def _is_path(name: str) -> bool:
    return os.sep in name or name.endswith((".yaml", ".yml")) or (os.path.lexists(name) and Path(name).is_dir())
