"""`get physical-port NAME xstats` on an NSX-T edge: all counters that the driver of a port keeps, by their names.

Source: the NSX CLI guide. The names are those of the driver in capitals; each NIC has its own.
"""

import re

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, KeyColumn, Table

from ._nsxt import DATED, EDGE, stray, typed_row

TABLE = Table.of(
    "nsxt.port_counter",
    "Counters of the driver of a port of an NSX-T edge's datapath, one row a counter.",
    "get physical-port <name> xstats",
    KeyColumn("port_name", "str", "name of the port: fp-eth0"),
    KeyColumn("counter", "str", "name as printed: RX Pkts, ARP Requests, Err Instance Not Found, …"),
    Column("value", "int", "its value"),
    ask="`get physical-port <name> xstats` on the edge; `get physical-ports` lists the names",
    counts_since="boot",
)
_COUNTER = re.compile(r"\s*(?P<counter>[A-Z][A-Z0-9_]{1,60})\s*:\s*(?P<value>\S+)\s*$")


def parse(block: Block) -> Output:
    """Read the counters, one row each."""
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _COUNTER.match(line):
            cells = {name: (text, at) for name, text in block.params.items()} | {
                name: (found[name], at) for name in ("counter", "value")
            }
            yield from typed_row(TABLE, block, PARSER.name, at, cells)
        elif line.strip() and not re.match(rf"\s*(?:Physical Port Xstats\s*$|{DATED})", line):
            yield stray(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_port_xstats",
    tables=(TABLE,),
    parse=parse,
    node=EDGE,
    commands=(r"^\s*get physical-port (?P<port_name>\S+) xstats\s*$",),
    shape=r"^\s*Physical Port Xstats\s*$",
    body=rf"^\s*(?:Physical Port Xstats\s*$|[A-Z][A-Z0-9_]{{1,60}}\s*:|%|{DATED})",
)
