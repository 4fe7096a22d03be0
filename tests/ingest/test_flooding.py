"""A log that one statement fills is told as such, and no other log is."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from analyzer.pipeline.triage import Options, gather_case

FLOOD = "WARNING: UplinkRxRing: {n}: vmnic2: cannot replenish queue {n}, retry {n} (synthetic)"
TREE = "esx-esx01.lab.example-2023-10-14--12.00-71234/var/run/log"


def _words(tmp_path: Path, *, share: int, minutes: int, members: int = 8, tree: str = TREE) -> str:
    """Write a log of some members, `share` of ten lines flooded; return what the nodes of its case are said with."""
    other = [
        "DVFilter: {n}: Checking (synthetic)",
        "World: {n}: Starting (synthetic)",
        "Net: {n}: Connected (synthetic)",
    ]
    chance = random.Random(7)
    step = minutes * 60 / (members * 600)
    for member in range(members):
        lines = []
        for number in range(600):
            at = int((member * 600 + number) * step)
            stamp = f"2023-10-{10 + at // 86400:02d}T{at // 3600 % 24:02d}:{at // 60 % 60:02d}:{at % 60:02d}.000Z"
            text = FLOOD if chance.random() < share / 10 else other[number % 3]
            lines.append(f"{stamp} cpu{number % 8}:2097{number}){text.format(n=number)}")
        rotated = f".{members - 2 - member}" if member < members - 1 else ""
        log = tmp_path / tree / f"vmkernel{rotated}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("\n".join(lines) + "\n")
    return "\n".join(
        text for node in gather_case([tmp_path], [], Options()).nodes for text in node["warnings"]
    )


def test_a_flooded_log_is_told_with_its_statement_and_how_far_it_reaches(tmp_path: Path) -> None:
    """Seven of ten lines say one thing, whatever their numbers, and the files reach back two hours."""
    said = _words(tmp_path, share=7, minutes=120)
    assert re.search(r"vmkernel\.log is flooded: about (?:6[5-9]|7[0-5])% of its lines say", said)
    assert '"WARNING: UplinkRxRing: N: vmnicN: cannot' in said
    assert "its 8 files reach back 2.0 hours" in said


@pytest.mark.parametrize(
    "how",
    [
        {"share": 5, "minutes": 120},
        {"share": 9, "minutes": 60 * 30},
        {"share": 9, "minutes": 120, "members": 2},
        {"share": 9, "minutes": 120, "tree": "sent by mail"},
    ],
    ids=[
        "half of the lines",
        "more than a day",
        "hardly rotated",
        "loose files, which somebody may have cut out",
    ],
)
def test_what_is_no_flood_is_not_called_one(tmp_path: Path, how: dict[str, int | str]) -> None:
    """A share below the bar, a reach of days, a log without lost copies, and excerpts say nothing of a flood."""
    assert "flooded" not in _words(tmp_path, **how)  # type: ignore[arg-type]
