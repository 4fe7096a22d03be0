"""`get physical-port NAME` on an NSX-T edge: whether a port of the datapath is switched on and has a link.

Source: the administration guide of VCF 9.0, which shows few of the labels; the name may be in the command alone.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.physical_port",
    "Ports of the datapath of an NSX-T edge.",
    "get physical-port <name>",
    KeyColumn("port_name", "str", "name of the port: fp-eth0"),
    Column("port_admin_status", "str", "up, down: whether it is switched on"),
    Column("link_status", "str", "up, down"),
    Column("driver", "str", "driver in use"),
    Column("duplex", "str", "full, half"),
    Column("mtu", "int", "largest frame payload", "bytes"),
    ask="`get physical-port <name>` on the edge; `get physical-ports` lists the names",
)
_LINE = re.compile(r"\s*(?P<label>[A-Z][A-Z_]{1,40})\s*:(?:\s+(?P<text>\S.*?))?\s*$")
_LABELS = {
    "NAME": "port_name", "ADMIN_STATUS": "port_admin_status", "LINK": "link_status", "DRIVER": "driver",
    "DUPLEX": "duplex", "MTU": "mtu",
}  # fmt: skip


def parse_block(block: Block) -> Output:
    """Read the port, one row an output."""
    asked = str(block.params.get("port_name", ""))
    cells: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(block.lines):
        found = _LINE.match(line)
        if found:
            column = _LABELS.get(found["label"])
        else:
            column = None
        if column in cells or re.match(r"\s*Physical Port\s*$", line):
            yield from _make_row(block, asked, cells)
            cells = {}
        if found and column:
            cells[column] = found["text"] or "", block.first_line + number
        elif (
            not found and line.strip() and not re.match(rf"\s*(?:Physical Port\s*$|{DATED})", line)
        ):
            yield stray_fault(block, number, PARSER.name)
    yield from _make_row(block, asked, cells)


def _make_row(block: Block, asked: str, cells: dict[str, tuple[str, int]]) -> Output:
    if cells:
        first = min(line for _, line in cells.values())
        named = {"port_name": (asked, first)} if asked else {}
        yield from typed_row(TABLE, block, PARSER.name, first, {**named, **cells})


PARSER = Parser(
    name="nsxt_physical_port",
    tables=(TABLE,),
    parse=parse_block,
    node=EDGE,
    commands=(r"^\s*get phy(?:sical-port)? (?P<port_name>[\w.-]+)\s*$",),
    shape=r"^\s*Physical Port\s*$",
    body=rf"^\s*(?:Physical Port\s*$|[A-Z][A-Z_]{{1,40}}\s*:(?:\s|$)|%|{DATED})",
)
