"""vsish `/net/pNics/<vmnic>/stats`: general counters of a physical NIC, then the driver's own.

Source: `vsish -e get /net/pNics/<vmnic>/stats`; with `-p` (Python mode) the same in short keys, the
driver's text as one string over many lines under `"hw"`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser, rows, typed
from analyzer.artefacts.tables import Block

from ._pnic import PRIVATE, STATS, private_stats

_DRIVER_PART = re.compile(r'^\s*(?:-- Driver Specific Statistics:|"hw"\s*:)')
_END = re.compile(r'^\s*(?:"?,?\s*\}|"\s*,?)\s*$')


def parse_block(block: Block) -> Output:
    """Read one dump: a row of general counters, and a row for each counter of the driver."""
    at = next(
        (n for n, line in enumerate(block.lines) if _DRIVER_PART.match(line)), len(block.lines)
    )
    general = replace(block, lines=block.lines[:at])
    yield from rows(STATS, PARSER.name, general, typed(block.params, STATS))
    lines = block.lines[at:]
    if lines:
        lines[0] = re.sub(r'^\s*(?:-- Driver Specific Statistics:|"hw"\s*:\s*"?)', "", lines[0])
        lines = ["" if _END.match(line) else line for line in lines]
        yield from private_stats(replace(block, lines=lines, first_line=block.first_line + at))


PARSER = Parser(
    name="pnic_vsish_stats",
    tables=(STATS, PRIVATE),
    parse=parse_block,
    node="esxi",
    commands=(r"\b(?:get|cat)\s+\S*?/net/pNics/(?P<pnic>\w+)/stats\b",),
    shape=r"^\s*(?:device\s*\{|\"dumsw\"\s*:.*)\s*$",
    lead=r"^\s*(?:\{|main\(\):Python mode is deprecated.*)\s*$",
    body=(
        r"^\s*(?:device\s*\{?|main\(\):.*|[{}\",]+|-- .*|VSISH\w*\(\):.*|\"\w+\"\s*:.*"
        r"|\w[\w.-]{0,60}:\s*[^\s:=][^:=]{0,60}:\s*\S*|[A-Za-z_#][^:=]{0,60}\s?:\s*\S*(?:\s+\S+=\S*)*|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*)\s*$"
    ),
)
