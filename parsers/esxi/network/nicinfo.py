"""`nicinfo.sh.txt`: everything a vm-support bundle says of the physical NICs, in one member.

The script prints the NIC list, then for each NIC `network nic get`, for legacy drivers ethtool's rings,
`network nic stats get`, and after "NIC Private statistics:" the driver's own counters. A stuck NIC
leaves an error line in the middle; the member is read section by section and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from analyzer.artefacts.parsing import Output, Parser, read_rows
from analyzer.artefacts.tables import Block

from ._pnic import (
    INFO,
    LIST,
    PRIVATE,
    RING,
    STATS,
    nic_get,
    nic_ring,
    nic_stats,
    private_stats,
)

_Reader = Callable[[Block], Output]


def _read_nic_list(block: Block) -> Output:
    return read_rows(LIST, "nic_list", block)


_TITLE = re.compile(r"^\s*Network Interface Cards Information\.\s*$")
_NIC = re.compile(r"^\s*NIC:\s+(?P<pnic>\w+)\s*$")
# heading, reader of what follows, and whether the heading itself belongs to the section
_SECTIONS: tuple[tuple[re.Pattern[str], _Reader, bool], ...] = (
    (_TITLE, _read_nic_list, False),
    (_NIC, nic_get, False),
    (re.compile(r"^\s*Ring parameters for (?P<pnic>\w+):\s*$"), nic_ring, True),
    (re.compile(r"^\s*NIC statistics for (?P<pnic>\w+):?\s*$"), nic_stats, True),
    (re.compile(r"^\s*NIC Private statistics:?\s*$"), private_stats, False),
)


class _Section(NamedTuple):
    """A section of the member: the lines of its heading and its begin, who reads it, and the NIC it is of."""

    heading: int
    begin: int
    reader: _Reader
    pnic: str


def parse_block(block: Block) -> Output:
    """Read all sections; each fills its own table, and none stops the next."""
    sections = [_Section(0, 0, _read_nic_list, "")]
    for number, line in enumerate(block.lines):
        for pattern, reader, own in _SECTIONS:
            if match := pattern.match(line):
                pnic = match.groupdict().get("pnic", sections[-1].pnic)
                begin = number if own else number + 1
                sections.append(_Section(number, begin, reader, pnic))
                break
    ends = [section.heading for section in sections[1:]]
    for section, end in zip(sections, [*ends, len(block.lines)], strict=True):
        if end > section.begin:
            lines = block.lines[section.begin : end]
            first_line = block.first_line + section.begin
            params = {"pnic": section.pnic} if section.pnic else {}
            part = replace(block, lines=lines, first_line=first_line, params=params)
            yield from section.reader(part)


PARSER = Parser(
    name="nicinfo",
    tables=(LIST, INFO, RING, STATS, PRIVATE),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)commands/nicinfo\.sh\.txt$",),
    commands=(r"\bnicinfo\.sh\b(?!\.)",),
    shape=_TITLE.pattern,
    body=(
        r"^\s*(?:Network Interface Cards Information\.|Name\s+PCI.*|-[- ]+|NIC statistics for \w+"
        r"|\w+\s+[0-9a-fA-F]{4}:[0-9a-fA-F]{2,3}:.*|[A-Za-z_#][\w #()./-]{0,60}:.*"
        r"|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*|(?:Error|Unable)\b.*)\s*$"
    ),
)
