"""What is compared: each side is a case, read anew from its files or taken from its case.json.

A case.json holds findings and the cards of hosts, and no rows of tables: a side that was given so says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from analyzer import case
from analyzer.case_data import conclude
from analyzer.facts import Facts
from analyzer.lazy_dataclass import dataclass
from analyzer.rules import run_catalog
from analyzer.rules.column_usage import sample_columns
from analyzer.sources.remote import Place
from analyzer.triage import Options, gathered

Record = dict[str, Any]
_HEAD = 4096  # bytes in which a case.json has named its schema


@dataclass(slots=True)
class CaseSide:
    """One side of a comparison.

    facts   None when it comes from a case.json: then it has no rows to compare
    broken  rules that are invalid; partial: something of it was not read
    """

    name: str
    document: Record
    facts: Facts | None = None
    broken: list[str] = field(default_factory=list)
    partial: bool = False


def read_sides(given: Sequence[Sequence[Place]], options: Options) -> list[CaseSide]:
    """Return a side for each list of paths, in the order given; one catalog judges all that are read anew.

    Raises RefusedError when nothing of a side could be read, or its case.json is damaged.
    """
    catalog = None
    sides = []
    for paths in given:
        kept = kept_document(paths[0]) if len(paths) == 1 else None
        if kept is not None:
            document = case.load(kept)
            sides.append(CaseSide(document["case"]["name"], document, partial=not document["case"]["complete"]))
            continue
        if catalog is None:
            catalog = run_catalog.load(options.local, options.kb, limits=options.limits, drafts=options.with_drafts)
            options = replace(options, samples=sample_columns(catalog.rules))
        material = gathered(paths, catalog.signatures(), replace(options, hashes=None))
        outcome = conclude(material, catalog, options.local.settings, options.limits)
        sides.append(CaseSide(material.name, outcome.document, material.facts, outcome.broken_rules, outcome.partial))
    return named_apart(sides)


def kept_document(path: Place) -> Path | None:
    """Return the case.json that a path is, or holds as a folder of results; None when it is material to read."""
    if not isinstance(path, Path):
        return None
    inside = path / "case.json"
    found = inside if path.is_dir() else path
    if found.suffix != ".json" or not found.is_file():
        return None
    with found.open("rb") as stream:
        return found if f'"{case.SCHEMA}"'.encode() in stream.read(_HEAD) else None


def named_apart(sides: list[CaseSide]) -> list[CaseSide]:
    """Give sides of one name a number: a reader has to tell them apart."""
    names = [side.name for side in sides]
    for number, side in enumerate(sides, 1):
        if names.count(side.name) > 1:
            side.name = f"{side.name} ({number})"
    return sides


def captured_at(side: CaseSide) -> str:
    """Return when a case was captured, ISO 8601 UTC: the newest capture of its machines, "" when nothing tells.

    SOURCE_DATE_EPOCH sets `created` of every document, so that it orders nothing then.
    """
    times = [node["captured"] for node in side.document["nodes"] if node["captured"]]
    kept = "" if os.environ.get("SOURCE_DATE_EPOCH") else side.document["case"]["created"]
    return max(times, default=kept)
