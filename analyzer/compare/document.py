"""The document of a comparison, which page, Markdown and terminal show; the same sides give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer import __version__
from analyzer.case.case_file import clean_value
from analyzer.case.comparison import (
    ComparedSide,
    ComparingTool,
    Comparison,
    MachinePair,
    MachineStep,
    Mode,
    SideFile,
)
from analyzer.compare.captures import capture_records
from analyzer.compare.cards import card_changes
from analyzer.compare.finding_states import finding_records
from analyzer.compare.machines import (
    ONLY,
    ComparedMachine,
    list_replaced,
    pair_machines,
    paired_by,
    to_seconds,
)
from analyzer.compare.matching import Match
from analyzer.compare.opening import write_summary
from analyzer.compare.resets import (
    boot_between,
    measure_clock_change,
    measure_interval,
    measure_wall,
)
from analyzer.compare.row_records import RowChanges, list_places
from analyzer.compare.rows import RowComparison, with_rows
from analyzer.compare.sides import CaseSide, find_capture_time
from analyzer.compare.story import write_conclusion
from analyzer.runtime.errors import UsageError


def compare_cases(sides: Sequence[CaseSide], *, hosts: bool = False) -> Comparison:
    """Return the document that compares sides: in the order of their captures, or as given where these are unknown.

    hosts  the sides are different hosts: what differs between them is shown, nothing is taken for a change in time

    Raises UsageError for fewer than two sides.
    """
    if len(sides) < 2:
        raise UsageError(
            "there is nothing to compare with",
            do="Give two cases: `backline compare BEFORE AFTER`.",
        )
    pairs, apart = pair_machines(sides, hosts=hosts)
    mode: Mode = "time"
    if hosts or apart:
        mode = "hosts"
    notes: list[str] = []
    if mode == "time":
        sides, turned = order_by_time(sides, pairs)
        if turned:
            notes.append(
                "The sides are compared in the order of their capture times, not in the order given."
            )
            pairs, _ = pair_machines(sides, hosts=hosts)
    else:
        notes.append(
            "The sides are different hosts: the differences are shown, and none counts as a change over time."
        )
    if with_rows(sides):
        rows = RowComparison(sides, pairs, mode).run()
    else:
        rows = compare_cards(sides, pairs, notes, mode)
    made = Comparison(
        tool=ComparingTool(name="backline", version=__version__),
        mode=mode,
        sides=[describe_side(side) for side in sides],
        machines=[describe_machine(pair, mode) for pair in pairs],
        findings=finding_records(sides, pairs, rows, hosts=mode == "hosts"),
        changes=rows.changes,
        subjects=rows.subjects,
        counters=rows.counters,
        samples=capture_records(sides, pairs, hosts=mode == "hosts"),
        uncompared=rows.uncompared,
        notes=[
            *notes,
            *list_replaced(pairs),
            *list_assumed(pairs),
            *list_same_files(sides),
            *list_cautions(sides),
        ],
    )
    clean_value(made)
    return add_sentences(made)


def add_sentences(made: Comparison) -> Comparison:
    """Return a comparison with the sentences on top of it, made of its records: of names and pseudonyms alike."""
    made.summary = write_summary(made)
    made.conclusion = write_conclusion(made)
    clean_value(made)
    return made


def order_by_time(
    sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]]
) -> tuple[Sequence[CaseSide], bool]:
    """Return the sides in the order of their captures where all are known, and whether it is another order.

    Where the uptimes of a machine grow in the order given, and the clocks alone run against it, the clock was set back.
    """
    times = [to_seconds(find_capture_time(side)) for side in sides]
    known = [time for time in times if time is not None]
    if len(known) < len(times) or known == sorted(known) or are_in_order(pairs):
        return sides, False
    order = sorted(range(len(sides)), key=lambda at: (known[at], at))
    return [sides[at] for at in order], True


def are_in_order(pairs: Sequence[Match[ComparedMachine]]) -> bool:
    """Say whether the order given is right against the clocks: read the other way, an uptime fell without a boot."""
    for pair in pairs:
        there = [machine for machine in pair.on if machine is not None]
        for earlier, later in pairwise(there):
            wall = measure_wall(earlier, later)
            if wall is None or wall >= 0 or earlier.uptime is None or later.uptime is None:
                continue
            if earlier.uptime < later.uptime and earlier.uptime >= abs(wall):
                return True
    return False


def compare_cards(
    sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], notes: list[str], mode: Mode
) -> RowChanges:
    """Return what the cards of the hosts show, where a side has no rows; a note says what is not compared."""
    lacking = [f"{side.name}" for side in sides if side.facts is None]
    notes.append(
        f"From {' and '.join(lacking)} only the case.json is here: findings and the cards of the hosts are compared. "
        "Counters, settings and all other rows are not in a case.json: give the bundles or files themselves for them."
    )
    return RowChanges(changes=card_changes(sides, pairs, mode))


def describe_side(side: CaseSide) -> ComparedSide:
    """Return a side as the document has it."""
    document = side.document
    return ComparedSide(
        name=side.name,
        captured=find_capture_time(side),
        complete=document.case.complete,
        rows=side.facts is not None,
        catalog=document.tool.catalog,
        files=[SideFile(one.name, one.sha256) for one in document.case.files],
    )


def describe_machine(pair: Match[ComparedMachine], mode: Mode) -> MachinePair:
    """Return a machine as the sides know it, and what became of it from each side that has it to the next."""
    there = [machine for machine in pair.on if machine is not None]
    steps = []
    for earlier, later in pairwise(there):
        boot = None
        if later.kind == "esxi" and mode == "time":
            boot = boot_between(earlier, later)
        steps.append(
            MachineStep(
                from_side=earlier.side,
                to_side=later.side,
                seconds=measure_interval(earlier, later) if mode == "time" else None,
                state=boot.state if boot else "",
                why=boot.why if boot else "",
                at=list_places(boot) if boot else [],
                clock_s=measure_clock_change(earlier, later) if boot else 0.0,
                unsure=boot.unsure if boot else "",
            )
        )
    return MachinePair(
        name=pair.last.name,
        kind=pair.last.kind,
        names=[machine.name if machine is not None else None for machine in pair.on],
        captured=[machine.captured if machine is not None else None for machine in pair.on],
        uptime_s=[machine.uptime if machine is not None else None for machine in pair.on],
        paired_by=paired_by(pair),
        steps=steps,
    )


def list_assumed(pairs: Sequence[Match[ComparedMachine]]) -> list[str]:
    """Return a sentence for each pair that rests on nothing but being the only one on each side."""
    said = []
    for pair in pairs:
        if paired_by(pair) == ONLY:
            names = " and ".join(dict.fromkeys(one.name for one in pair.on if one is not None))
            said.append(
                f"It is assumed that {names} is one host: no name, serial number or address says so, and it is "
                "the only host of each side."
            )
    return said


def list_same_files(sides: Sequence[CaseSide]) -> list[str]:
    """Return a sentence for sides that are the very same files, by their hashes."""
    by_hash: dict[tuple[str, ...], list[str]] = {}
    for side in sides:
        hashes = tuple(sorted(one.sha256 for one in side.document.case.files if one.sha256))
        if hashes and len(hashes) == len(side.document.case.files):
            by_hash.setdefault(hashes, []).append(side.name)
    return [
        f"{' and '.join(names)} are the same file (SHA-256): nothing can differ between them. Was another one meant?"
        for names in by_hash.values()
        if len(names) > 1
    ]


def list_cautions(sides: Sequence[CaseSide]) -> list[str]:
    """Return what limits the whole comparison: sides that are not complete, different rules."""
    said = []
    for side in sides:
        if not side.document.case.complete:
            said.append(f"{side.name} is not complete: what is missing there proves nothing.")
    if len({side.document.tool.catalog for side in sides}) > 1:
        said.append(
            "The sides were judged by different rules: a finding may be new or gone for that reason alone."
        )
    return said
