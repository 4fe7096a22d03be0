"""What is compared: each side is a case, read anew from its files or taken from its case.json.

A case.json holds findings and the cards of hosts, and no rows of tables: a side that was given so says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzer.case import case_file
from analyzer.case.document import SCHEMA, CaseDocument
from analyzer.facts import Facts
from analyzer.pipeline.case_data import CaseData, conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.report.choice import Choice, choose_part
from analyzer.rules import run_catalog
from analyzer.rules.column_usage import sample_columns
from analyzer.runtime.errors import UsageError
from analyzer.scan.hits import Signature
from analyzer.sources.remote import Place

# A case that was read before: what is known of it and what signatures found; its document, where that is all.
Recall = Callable[[Sequence[Signature]], CaseData | CaseDocument]
_HEAD = 4096  # bytes in which a case.json has named its schema


@dataclass(slots=True)
class CaseSide:
    """One side of a comparison.

    facts   None when it comes from a case.json: then it has no rows to compare
    broken  rules that are invalid; partial: something of it was not read
    judged  rules with a finding on another machine of the same case: they were judged here as well
    """

    name: str
    document: CaseDocument
    facts: Facts | None = None
    broken: list[str] = field(default_factory=list)
    partial: bool = False
    judged: frozenset[str] = frozenset()


def read_sides(given: Sequence[Sequence[Place] | Recall], options: Options) -> list[CaseSide]:
    """Return a side for each list of paths, in the order given; one catalog judges all that are read anew.

    Raises RefusedError when nothing of a side could be read, or its case.json is damaged.
    """
    catalog = None
    sides = []
    for one in given:
        kept = None
        if not callable(one) and len(one) == 1:
            kept = find_document(one[0])
        if kept is not None:
            sides.append(_of_document(case_file.read_case(kept)))
            continue
        if catalog is None:
            catalog = run_catalog.load_run_catalog(
                options.local, options.kb, limits=options.limits, drafts=options.with_drafts
            )
            options = replace(options, samples=sample_columns(catalog.rules))
        signatures = catalog.signatures()
        if callable(one):
            found = one(signatures)
        else:
            found = gather_case(one, signatures, replace(options, hashes=None))
        if isinstance(found, CaseDocument):
            sides.append(_of_document(found))
            continue
        outcome = conclude(found, catalog, options.local.settings, options.limits)
        sides.append(
            CaseSide(
                found.name, outcome.document, found.facts, outcome.broken_rules, outcome.partial
            )
        )
    return number_names(sides)


def _of_document(document: CaseDocument) -> CaseSide:
    return CaseSide(document.case.name, document, partial=not document.case.complete)


def sides_of_machines(side: CaseSide, names: Sequence[str]) -> list[CaseSide]:
    """Return a side for each machine of a case, called as the case calls it.

    Raises UsageError for a name that fits none of its machines, or several, and for one that is named twice.
    """
    found: list[CaseSide] = []
    judged = frozenset(one.rule for one in side.document.findings)
    for name in names:
        choice = Choice(nodes=(name,))
        choice.check_names(side.document)
        part = choose_part(side.document, choice)
        machines = [node.name or node.id for node in part.nodes]
        if len(machines) != 1:
            raise UsageError(f"--node {name} fits {', '.join(machines)}", do="Name one machine.")
        if machines[0] in [one.name for one in found]:
            raise UsageError(
                f"--node names {machines[0]} twice", do="Name another machine of the case."
            )
        found.append(replace(side, name=machines[0], document=part, judged=judged))
    return found


def find_document(path: Place) -> Path | None:
    """Return the case.json that a path is, or holds as a folder of results; None when it is material to read."""
    if not isinstance(path, Path):
        return None
    inside = path / "case.json"
    if path.is_dir():
        found = inside
    else:
        found = path
    if found.suffix == ".json" and found.is_file() and names_schema(found):
        return found
    return None


def names_schema(file: Path) -> bool:
    """Say whether a file begins as a case.json does, whatever it is called."""
    with file.open("rb") as stream:
        return f'"{SCHEMA}"'.encode() in stream.read(_HEAD)


def number_names(sides: list[CaseSide]) -> list[CaseSide]:
    """Give sides of one name a number: a reader has to tell them apart."""
    names = [side.name for side in sides]
    for number, side in enumerate(sides, 1):
        if names.count(side.name) > 1:
            side.name = f"{side.name} ({number})"
    return sides


def read_clock(side: CaseSide, node: str) -> str:
    """Return what `date` last said on a machine, ISO 8601 UTC, "" when it was not asked: of what was typed nothing else
    tells when."""
    if side.facts is None or not side.facts.count("esxi.clock", node):
        return ""
    rows = (row for row in side.facts.store("esxi.clock").rows if row.block.node == node)
    said = max(
        (str(row.values["host_time"]) for row in rows if row.values["host_time"]), default=""
    )
    if said:
        return f"{said.replace(' ', 'T').removesuffix('Z')}Z"
    return ""


def find_capture_time(side: CaseSide) -> str:
    """Return when a case was captured, ISO 8601 UTC: the newest capture of its machines, "" when nothing tells.

    SOURCE_DATE_EPOCH sets `created` of every document, so that it orders nothing then.
    """
    times = [
        time for node in side.document.nodes if (time := node.captured or read_clock(side, node.id))
    ]
    kept = ""
    if not os.environ.get("SOURCE_DATE_EPOCH"):
        kept = side.document.case.created
    return max(times, default=kept)
