"""vsish `/vmkModules/lsom/disks/<uuid>/info`: how congested a disk of vSAN is, alone or in a loop over disks.

Source: Broadcom article 326650 and public notes, which print the loop (`echo $ssd; vsish -e get …/$ssd/info | grep
Congestion`) and its answer: the id of the disk, then `   ssdCongestion:227`. Labels without a column are left out.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Row

from .vsan_disk_loads import LOADS

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_WHERE = re.compile(rf"\s*(?:Device UUID:\s*)?(?P<vsan_uuid>{_UUID})[/:]?\s*$")
_LINE = re.compile(r"\s*(?P<what>ssd|log|iops|slab|mem|comp)Congestion:\s*(?P<number>\d{1,9})\b")
_OTHER = re.compile(r"\s*(?:[^:]{1,80}:.*|[^:{}]{0,80}\{|\}|-- .*|)\s*$")


def parse_block(block: Block) -> Output:
    """Read the disks, one row each; a second answer for a disk is a row of its own."""
    named: str | None = block.params.get("vsan_uuid")
    row: Row | None = None
    for number, line in enumerate(block.lines, block.first_line):
        found = _WHERE.match(line)
        cell = _LINE.match(line)
        if cell:
            column = f"{cell['what']}_congestion"
        else:
            column = ""
        if row is not None and (
            found or line.strip()[-1:] in ("{", "}") or (cell and row.values[column] is not None)
        ):
            yield row  # another disk, another dump, or a second answer
            row = None
        if found:
            named = found["vsan_uuid"]
        elif cell:
            if row is None:
                row = Row(LOADS, LOADS.blank() | {"vsan_uuid": named}, block, number, {})
            row.values[column] = int(cell["number"])
            row.lines = {**row.lines, column: number}
        elif not _OTHER.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    if row is not None:
        yield row


PARSER = Parser(
    name="vsan_disk_info",
    tables=(LOADS,),
    parse=parse_block,
    node="esxi",
    commands=(
        rf"\bvsish\s[^|]{{0,300}}/vmkModules/lsom/disks/(?:(?P<vsan_uuid>{_UUID})|\$\{{?\w+\}}?)/info\b",
    ),
    shape=r"^\s*(?:ssd|log|iops|slab|mem|comp)Congestion:\s*\d+",
    body=rf"^\s*(?:{_UUID}[/:]?|[A-Za-z#][^:]{{1,70}}:(?:\S.*)?|[^:{{}}]{{0,80}}\{{|\}}|-- .*)\s*$",
)
