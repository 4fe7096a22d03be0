"""`get cluster vip` on an NSX-T manager: the address that moves between the managers, and which one has it.

Source: an output of NSX 9.0.1 in a public report of a start after power was lost.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, MANAGER, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.cluster_vip",
    "Virtual address of the management cluster of NSX-T.",
    "get cluster vip",
    KeyColumn("vip", "str", "virtual IPv4 address; none where none is configured", form=IP_FORM),
    Column("vip6", "str", "virtual IPv6 address; none where none is configured", form=IP_FORM),
    Column("vip_owner", "str", "address of the manager that has it; none where none has it"),
    ask="`get cluster vip` on an NSX-T manager",
)
_LINE = re.compile(
    r"\s*(?P<label>Virtual IPv4 address|Virtual IPv6 address|Assigned to)\s*:\s*(?P<text>.*?)\s*$"
)
_COLUMNS = {
    "Virtual IPv4 address": "vip",
    "Virtual IPv6 address": "vip6",
    "Assigned to": "vip_owner",
}


def parse_block(block: Block) -> Output:
    """Read the address, one row an output; the brackets and quotes around its owner are left out."""
    cells: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(block.lines):
        if found := _LINE.match(line):
            if found["text"] == "not configured":
                text = ""
            else:
                text = found["text"].strip("[]'\" ")
            if _COLUMNS[found["label"]] in cells:
                yield from _make_row(block, cells)
                cells = {}
            cells[_COLUMNS[found["label"]]] = text, block.first_line + number
        elif line.strip() and not re.match(rf"\s*{DATED}", line):
            yield stray_fault(block, number, PARSER.name)
    yield from _make_row(block, cells)


def _make_row(block: Block, cells: dict[str, tuple[str, int]]) -> Output:
    if cells:
        first = min(line for _, line in cells.values())
        yield from typed_row(
            TABLE, block, PARSER.name, first, {key: cell for key, cell in cells.items() if cell[0]}
        )


PARSER = Parser(
    name="nsxt_cluster_vip",
    tables=(TABLE,),
    parse=parse_block,
    node=MANAGER,
    commands=(r"^\s*get cluster vip\s*$",),
    shape=r"^\s*Virtual IPv4 address\s*:",
    body=rf"^\s*(?:Virtual IPv[46] address|Assigned to)\s*:|^\s*(?:%|{DATED})",
)
