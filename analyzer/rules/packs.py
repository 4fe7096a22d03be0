"""Rule packs: installed Python distributions that bring rules.

A pack names a package in the entry point group `backline.rules`; the rule files are data of that
package. Nothing of a pack is imported or run: its files are found in the list of installed files
that `pip` keeps (RECORD), and read where they lie, inside a zip as well. docs/rule-packs.md tells
how to make one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from analyzer.rules.language.rulefile import BadRuleError, FileSpan
from analyzer.rules.language.shared import SHARED
from analyzer.rules.sources import FACT_ENDINGS, FACTS, RULE_ENDINGS, RuleSource, rule_tree
from analyzer.runtime.text import one_line

GROUP = "backline.rules"


def find_installed() -> list[RuleSource]:
    """Return the rule packs of this Python environment in order of their names.

    A pack that cannot be used has its reason in `faults`. Of two packs with one name the
    first on the search path counts, as for every Python package.
    """
    if not _is_announced():
        return []

    found: dict[str, RuleSource] = {}
    for dist in distributions():
        try:
            announced = dist.read_text("entry_points.txt") or ""
        except (OSError, UnicodeDecodeError):
            continue
        if GROUP not in announced:
            continue
        pack = _read_pack(dist)
        if pack is not None:
            found.setdefault(pack.name.lower().replace("_", "-").replace(".", "-"), pack)
    return [found[name] for name in sorted(found)]


def _is_announced() -> bool:
    """Say whether a distribution may announce rules: the group is in its metadata, or it is not in a folder."""
    group = GROUP.encode()
    for place in sys.path:
        try:
            with os.scandir(place or ".") as inside:
                known = [
                    one.path
                    for one in inside
                    if one.name.endswith((".dist-info", ".egg-info", ".egg"))
                ]
        except NotADirectoryError:  # an archive
            return True
        except OSError:
            continue
        for path in known:
            if path.endswith(".egg"):
                return True
            with suppress(OSError), open(os.path.join(path, "entry_points.txt"), "rb") as stream:  # noqa: PTH118, PTH123
                if group in stream.read():
                    return True
    return False


def _read_pack(dist: Any) -> RuleSource | None:
    """Return the pack of a distribution, None when it announces no rules after all."""
    pack = RuleSource("pack", "without a name")
    try:
        # Names come from the pack: on one line, and short, wherever they are shown.
        pack.name = one_line(dist.metadata["Name"] or pack.name, 80)
        pack.version = one_line(dist.metadata["Version"] or "of unknown version", 40)
        values = [entry.value for entry in dist.entry_points if entry.group == GROUP]
        if not values:
            return None
        files: dict[str, Any] = {}
        data: dict[str, Any] = {}
        shared: dict[str, Any] = {}
        faults = []
        for value in sorted(set(values)):
            mine, why, advice = _list_files(dist, value)
            files |= {str(file): file for file in mine}
            shared |= {str(file): file for file in _find_shared(dist, value)}
            data |= {str(file): file for file in _list_facts(dist, value, mine)}
            if why:
                faults.append(_make_fault(pack, why, advice))
        pack.files, pack.faults = (
            sorted(files.values(), key=lambda file: (file.name, str(file))),
            faults,
        )
        pack.data = [data[name] for name in sorted(data)]
        pack.shared = [shared[name] for name in sorted(shared)]
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one pack, the others are used
        pack.faults = [
            _make_fault(
                pack, f"its metadata cannot be read: {type(error).__name__}: {str(error)[:200]}"
            )
        ]
    return pack


def _list_files(dist: Any, value: str) -> tuple[list[Any], str, str]:
    """Return the rule files of an entry point's value, or why there are none and what to do."""
    parts = tuple(value.strip().split("."))
    if not all(part.isidentifier() for part in parts):
        return (
            [],
            f"entry point `{value[:80]}` names no package",
            "write NAME = PACKAGE, nothing after a colon",
        )
    recorded = [(file.parts, file) for file in dist.files or ()]
    folder, deep = parts, True  # rules may lie in folders by subject
    if any(
        path == (*parts[:-1], f"{parts[-1]}.py") for path, _ in recorded
    ):  # a module: the files next to it
        folder, deep = parts[:-1], False
    inside = [
        (path, file)
        for path, file in recorded
        if path[: len(folder)] == folder and ".." not in path
    ]
    inside = [(path, file) for path, file in inside if deep or len(path) == len(folder) + 1]
    inside = [(path, file) for path, file in inside if path != (*folder, SHARED)]
    mine = [file.locate() for path, file in inside if path[-1].endswith(RULE_ENDINGS)]
    if not mine and _is_editable(dist):
        mine = [file for folder in _folders_of(parts) for file in rule_tree(folder)[0]]
    if mine:
        return mine, "", ""
    if any(path[: len(parts)] == parts for path, _ in recorded):
        return (
            [],
            f"no rule file (*.yaml) in package `{value}`",
            "is it named in the pack's package data?",
        )
    return (
        [],
        f"it has no package `{value}`",
        "the entry point must name a package of the pack itself",
    )


def _list_facts(dist: Any, value: str, rules: Iterable[Any]) -> list[Any]:
    """Return the files of facts of an entry point's package: those in its folder `facts`."""
    parts = tuple(value.strip().split("."))
    wanted = {(*parts, FACTS), (*parts[:-1], FACTS)}
    recorded = [file for file in dist.files or () if file.parts[-1].endswith(FACT_ENDINGS)]
    found = [file.locate() for file in recorded if file.parts[:-1] in wanted]
    if not found and _is_editable(dist):
        folders = sorted({file.parent / FACTS for file in rules})
        inside = [
            file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())
        ]
        found = [file for file in inside if file.name.endswith(FACT_ENDINGS)]
    return found


def _find_shared(dist: Any, value: str) -> list[Any]:
    """Return the file of shared parts of an entry point's package, which lies in its top folder."""
    parts = tuple(value.strip().split("."))
    recorded = [file for file in dist.files or () if file.parts[-1] == SHARED]
    found = [file.locate() for file in recorded if file.parts[:-1] in {parts, parts[:-1]}]
    if not found and _is_editable(dist):
        found = [folder / SHARED for folder in _folders_of(parts) if (folder / SHARED).is_file()]
    return found


def _is_editable(dist: Any) -> bool:
    """Say whether a distribution was installed with `pip install --editable`: then its files are elsewhere."""

    text = dist.read_text("direct_url.json")
    return bool(text and json.loads(text).get("dir_info", {}).get("editable"))


def _folders_of(parts: tuple[str, ...]) -> list[Path]:
    """Return the folders of a package that Python finds; only its top name is looked up, so nothing is run."""

    spec = find_spec(parts[0])
    places = (spec.submodule_search_locations or ()) if spec else ()
    found = [Path(place).joinpath(*parts[1:]) for place in places]
    return [folder for folder in found if folder.is_dir()]


def _make_fault(pack: RuleSource, why: str, advice: str = "") -> BadRuleError:
    return BadRuleError(
        f"the rule pack cannot be used: {why}", file=pack.label, place=FileSpan(), help=advice
    )
