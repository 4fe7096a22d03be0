"""What becomes a number is a number: no pattern of a parser takes dots alone for one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("parsers", "templates") for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".textfsm"))  # fmt: skip
DOTS = re.compile(
    r"(?<!\\d)\[(?:\\d|0-9)[.,]+\](?:[+*]|\{)"
)  # `...` and `1.2.3` match such a class
# Where it may stand: what it matches is looked at again before it becomes a number, or becomes none.
LOOKED_AT = {
    "guest_memory.textfsm": "`_CELL` of guest_memory.py decides",
    "nsx_edge_bgp.py": "an AS, kept as text",
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_number_may_be_dots(path: Path) -> None:
    """A class of digits and dots that is repeated stands only where something else decides."""
    found = DOTS.findall(path.read_text(encoding="utf-8"))
    assert bool(found) == (path.name in LOOKED_AT), found


@pytest.mark.parametrize(
    "line",
    [
        "4 packets transmitted, 4 packets received, ...% packet loss",
        "4 packets transmitted, 4 packets received, 1.2.3% packet loss",
        "round-trip min/avg/max = 1.2.3/1.2.3/1.2.3 ms",
        "round-trip min/avg/max = 1./2/3 ms",
    ],
)
def test_a_broken_number_of_a_ping_costs_its_line(line: str) -> None:
    """A line whose number is none is a fault, and the rest of the output is read."""
    lines = [
        "PING 10.0.0.1 (10.0.0.1): 56 data bytes",
        "64 bytes from 10.0.0.1: icmp_seq=0 ttl=64 time=0.1 ms",
        line,
    ]
    items = list(registry()["ping"].parse(Block(lines, command="vmkping 10.0.0.1")))
    (row,) = [one for one in items if isinstance(one, Row)]
    (fault,) = [one for one in items if isinstance(one, Fault)]
    assert (row.values["ping_target"], row.values["ping_received"], fault.line) == (
        "10.0.0.1",
        1,
        3,
    )
