"""`nicinfo.sh.txt`: everything a vm-support bundle says of the physical NICs, in one member.

The script prints the NIC list, then for each NIC `network nic get`, for legacy drivers ethtool's rings,
`network nic stats get`, and after "NIC Private statistics:" the driver's own counters. A stuck NIC
leaves an error line in the middle; the member is read section by section and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser, rows
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


def _nic_list(block: Block) -> Output:
    return rows(LIST, "nic_list", block)


_TITLE = re.compile(r"^\s*Network Interface Cards Information\.\s*$")
_NIC = re.compile(r"^\s*NIC:\s+(?P<pnic>\w+)\s*$")
# heading, reader of what follows, and whether the heading itself belongs to the section
_SECTIONS: tuple[tuple[re.Pattern[str], _Reader, bool], ...] = (
    (_TITLE, _nic_list, False),
    (_NIC, nic_get, False),
    (re.compile(r"^\s*Ring parameters for (?P<pnic>\w+):\s*$"), nic_ring, True),
    (re.compile(r"^\s*NIC statistics for (?P<pnic>\w+):?\s*$"), nic_stats, True),
    (re.compile(r"^\s*NIC Private statistics:?\s*$"), private_stats, False),
)


def parse_block(block: Block) -> Output:
    """Read all sections; each fills its own table, and none stops the next."""
    for reader, section in _split_sections(block):
        yield from reader(section)


def _split_sections(block: Block) -> Iterator[tuple[_Reader, Block]]:
    """Yield each section's reader and lines; `pnic` is the NIC the section speaks of."""
    reader: _Reader = _nic_list
    start, pnic = 0, ""
    for number, line in enumerate([*block.lines, None]):
        found = _match_heading(line) if line is not None else None
        if line is not None and found is None:
            continue
        if number > start:
            params = {"pnic": pnic} if pnic else {}
            lines = block.lines[start:number]
            yield (
                reader,
                replace(block, lines=lines, first_line=block.first_line + start, params=params),
            )
        if found is not None:
            reader, names, own = found
            pnic = names.get("pnic", pnic)
            start = number if own else number + 1


def _match_heading(line: str) -> tuple[_Reader, dict[str, str], bool] | None:
    for pattern, reader, own in _SECTIONS:
        if match := pattern.match(line):
            return reader, match.groupdict(), own
    return None


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
