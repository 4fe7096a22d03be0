"""Selects the rules a command works on: ids of the catalog, rule files, folders of rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from analyzer.rules import Catalog, run_catalog
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.rules.run_catalog import Local
from analyzer.runtime.errors import UsageError


def select_rules(
    names: Sequence[str],
    kb: Sequence[Path] = (),
    *,
    examples: bool = True,
    local: Local | None = None,
    material: Sequence[Path] = (),
    tuned: bool = False,
    retired: bool = False,
) -> Catalog:
    """Return the named rules, drafts too; without names all rules there are: shipped, packs, settings, `kb`.

    A name is an id, a rule file or a folder of rule files. Files with a mistake are in
    `broken`, as always. UsageError when there is no such rule, BadSettingsError when the
    settings cannot be used.

    local     settings and packs; without it the `backline.toml` of the current folder, if it does
              not lie in `material`, and all installed packs
    tuned     put the thresholds of the settings in; a rule is proved, formatted and documented as
              it is written, but explained and watched as it judges here
    retired   retired rules as well
    """
    paths = [Path(name) for name in names if _is_path(name)]
    ids = [name for name in names if not _is_path(name)]
    if local is None:
        local, _ = run_catalog.read_local(material=material)
    load = partial(
        run_catalog.load_run_catalog,
        local,
        drafts=True,
        retired=retired,
        examples=examples,
        tuned=tuned,
    )
    if not ids:
        if paths:
            return load(only=paths)
        return load(kb)
    if paths:
        whole = load(only=paths)
    else:
        whole = Catalog()
    everything = load(kb)
    for name in ids:
        found = [rule for rule in everything.rules if rule.id == name]
        broken = {Path(error.file).stem for error in everything.broken}
        if not found and name not in broken:
            raise _refuse_name(name, everything)
        whole.rules += found
    # A folder that holds no rule was named in vain, whichever rule is asked for.
    folders = set(map(str, kb))
    for error in everything.broken:
        if Path(error.file).stem in ids or error.file in folders:
            whole.broken.append(error)
    return whole


def _refuse_name(name: str, everything: Catalog) -> UsageError:
    """Return the error for a name that no rule has, with the rules that are meant perhaps."""
    if everything.known.get(name) == "retired":
        advice = "It is retired; `backline rules show` names the rule that took over."
    else:
        advice = did_you_mean(name, [rule.id for rule in everything.rules])
    return UsageError(f"there is no rule `{name}`", do=advice or "See `backline rules list`.")


def _is_path(name: str) -> bool:
    """Say whether a name is one of a file or folder: by a separator, its ending, or a folder that exists."""
    if os.sep in name:
        return True
    if name.endswith((".yaml", ".yml")):
        return True
    return os.path.lexists(name) and Path(name).is_dir()
