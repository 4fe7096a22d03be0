"""The document of a comparison, which page, Markdown and terminal show; the same sides give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from analyzer import __version__
from analyzer.case.case_shape import clean
from analyzer.compare.captures import capture_records
from analyzer.compare.cards import card_changes
from analyzer.compare.finding_states import finding_records
from analyzer.compare.machines import ComparedMachine, pair_machines, paired_by, seconds
from analyzer.compare.matching import Match
from analyzer.compare.opening import summary
from analyzer.compare.resets import boot_between, interval
from analyzer.compare.row_records import RowChanges
from analyzer.compare.rows import Mode, RowComparison, with_rows
from analyzer.compare.sides import CaseSide, captured_at
from analyzer.compare.story import conclusion
from analyzer.runtime.errors import UsageError

SCHEMA = "backline/compare-1"
Record = dict[str, Any]


def compare(sides: Sequence[CaseSide], *, hosts: bool = False) -> Record:
    """Return the document that compares sides: in the order of their captures, or as given where these are unknown.

    hosts  the sides are different hosts: what differs between them is told, nothing is taken for a change in time

    Raises UsageError for fewer than two sides.
    """
    if len(sides) < 2:
        raise UsageError(
            "there is nothing to compare with",
            do="Give two cases: `backline compare BEFORE AFTER`.",
        )
    pairs, apart = pair_machines(sides, hosts=hosts)
    mode: Mode = "hosts" if hosts or apart else "time"
    notes: list[str] = []
    if mode == "time":
        sides, turned = _in_time(sides)
        if turned:
            notes.append(
                "The sides are compared in the order of their capture times, not in the order given."
            )
            pairs, _ = pair_machines(sides, hosts=hosts)
    else:
        notes.append(
            "The sides are different hosts: the differences are shown, and none counts as a change over time."
        )
    rows = (
        RowComparison(sides, pairs, mode).run()
        if with_rows(sides)
        else _from_cards(sides, pairs, notes, mode)
    )
    made: Record = {
        "schema": SCHEMA,
        "tool": {"name": "backline", "version": __version__},
        "mode": mode,
        "summary": "",
        "conclusion": [],
        "sides": [_side(side) for side in sides],
        "machines": [_machine(pair, mode) for pair in pairs],
        "findings": finding_records(sides, pairs, rows, hosts=mode == "hosts"),
        "changes": rows.changes,
        "subjects": rows.subjects,
        "counters": rows.counters,
        "samples": capture_records(sides, pairs, hosts=mode == "hosts"),
        "uncompared": rows.uncompared,
        "notes": [*notes, *_cautions(sides)],
    }
    made["summary"], made["conclusion"] = summary(made), conclusion(made)
    cleaned: Record = clean(made)
    return cleaned


def _in_time(sides: Sequence[CaseSide]) -> tuple[Sequence[CaseSide], bool]:
    times = [seconds(captured_at(side)) for side in sides]
    known = [time for time in times if time is not None]
    if len(known) < len(times) or known == sorted(known):
        return sides, False
    order = sorted(range(len(sides)), key=lambda at: (known[at], at))
    return [sides[at] for at in order], True


def _from_cards(
    sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], notes: list[str], mode: Mode
) -> RowChanges:
    lacking = [f"{side.name}" for side in sides if side.facts is None]
    notes.append(
        f"From {' and '.join(lacking)} only the case.json is here: findings and the cards of the hosts are compared. "
        "Counters, settings and all other rows are not in a case.json: give the bundles or files themselves for them."
    )
    return RowChanges(changes=card_changes(sides, pairs, mode))


def _side(side: CaseSide) -> Record:
    document = side.document
    return {
        "name": side.name,
        "captured": captured_at(side),
        "complete": document["case"]["complete"],
        "rows": side.facts is not None,
        "catalog": document["tool"]["catalog"],
        "files": [
            {"name": one["name"], "sha256": one["sha256"]} for one in document["case"]["files"]
        ],
    }


def _machine(pair: Match[ComparedMachine], mode: Mode) -> Record:
    """Return a machine as the sides know it, and what became of it from each side that has it to the next."""
    there = [machine for machine in pair.on if machine is not None]
    steps = []
    for earlier, later in pairwise(there):
        boot = boot_between(earlier, later) if later.kind == "esxi" and mode == "time" else None
        steps.append(
            {
                "from": earlier.side,
                "to": later.side,
                "seconds": interval(earlier, later) if mode == "time" else None,
                "state": boot.state if boot else "",
                "why": boot.why if boot else "",
                "at": [{"address": row.block.address, "line": row.line} for row in boot.rows]
                if boot
                else [],
            }
        )
    return {
        "name": pair.last.name,
        "kind": pair.last.kind,
        "names": [machine.name if machine is not None else None for machine in pair.on],
        "captured": [machine.captured if machine is not None else None for machine in pair.on],
        "uptime_s": [machine.uptime if machine is not None else None for machine in pair.on],
        "paired_by": paired_by(pair),
        "steps": steps,
    }


def _cautions(sides: Sequence[CaseSide]) -> list[str]:
    said = [
        f"{side.name} is not complete: what is missing there proves nothing."
        for side in sides
        if not side.document["case"]["complete"]
    ]
    if len({side.document["tool"]["catalog"] for side in sides}) > 1:
        said.append(
            "The sides were judged by different rules: a finding may be new or gone for that reason alone."
        )
    return said
