"""The place of a rule that is being typed: it lies in no folder of rules yet, and may name what lies next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyzer.rules import catalog, packs
from analyzer.rules.fact_tables import SHIPPED
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource, data_files, rule_files, shared_files
from analyzer.runtime.limits import Limits


def source_of(path: Path, here: Local, kb: Sequence[Path], limits: Limits) -> RuleSource:
    """Return the file of a typed rule as one of the place where the rule of its name lies: own folders, packs, tool.

    It sees the shared parts of that place and the facts of all places, as a run does. A rule of a new name is one of
    the first place with which it can be read; where there is none, the parts of the tool are all it sees.
    """
    own = [RuleSource("folder", files=[folder]) for folder in (*here.settings.kb, *kb)]
    places = [*own, *(packs.find_installed() if here.packs else ())]
    facts = [file for place in places for file in data_files(place)[0]]
    alone = RuleSource("file", files=[path], data=facts)
    homes = [place for place in places if _holds_rule(place, path.stem, limits)]
    if not homes and _holds_rule(SHIPPED, path.stem, limits):
        return replace(alone, shared=shared_files(SHIPPED))
    parts = {
        tuple(map(str, files)): files for place in homes or places if (files := shared_files(place))
    }
    found = [replace(alone, shared=files) for files in parts.values()]
    if len(found) > 1:
        found = [
            one
            for one in found
            if catalog.load([replace(one)], limits=limits, drafts=True, retired=True).rules
        ] or found
    return found[0] if found else alone


def _holds_rule(place: RuleSource, rule: str, limits: Limits) -> bool:
    return any(Path(file.name).stem == rule for _, file in rule_files([replace(place)], limits)[0])
