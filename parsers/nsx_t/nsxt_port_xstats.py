"""`get physical-port NAME xstats` on an NSX-T edge: all counters that the driver of a port keeps, by their names.

Source: the NSX CLI guide. The names are those of the driver in capitals; each NIC has its own.
"""

import re

from analyzer.artefacts.signs import counts_loss, named_by
from analyzer.artefacts.tables import Column, KeyColumn, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, EDGE

# As the library of the datapath names them for every driver (doc.dpdk.org, rte_eth_xstats); others are a driver's own.
_LOSS = dict.fromkeys(
    ("RX_MISSED_ERRORS", "RX_ERRORS", "TX_ERRORS", "RX_MBUF_ALLOCATION_ERRORS"), counts_loss()
)
TABLE = Table.of(
    "nsxt.port_counter",
    "Counters of the driver of a port of an NSX-T edge's datapath, one row a counter.",
    "get physical-port <name> xstats",
    KeyColumn("port_name", "str", "name of the port: fp-eth0"),
    KeyColumn(
        "counter", "str", "name as printed: RX Pkts, ARP Requests, Err Instance Not Found, …"
    ),
    Column("value", "int", "its value", sign=named_by("counter", **_LOSS)),
    ask="`get physical-port <name> xstats` on the edge; `get physical-ports` lists the names",
    counts_since="boot",
)
_ROW = re.compile(r"\s*(?P<counter>[A-Z][A-Z0-9_]{1,60})\s*:\s*(?P<value>\S+)\s*$")
_REST = re.compile(r"\s*Physical Port Xstats\s*$")
PARSER = line_parser(
    "nsxt_port_xstats",
    TABLE,
    _ROW,
    _REST,
    node=EDGE,
    commands=(r"^\s*get physical-port (?P<port_name>\S+) xstats\s*$",),
    shape=r"^\s*Physical Port Xstats\s*$",
    body=rf"^\s*(?:Physical Port Xstats\s*$|[A-Z][A-Z0-9_]{{1,60}}\s*:|%|{DATED})",
)
