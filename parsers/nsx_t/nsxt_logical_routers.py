"""`get logical-routers` on an NSX-T edge: service and distributed routers on the edge, and its tunnel router.

Source: captures of edges of 2.5, 3.2 and 4.x in public documents. Releases before 3.2 print no column Neighbors. Where
whoever pasted it had a narrow page, type and numbers are on a second line.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._cli_lines import text_rows
from ..common._nsxt import DATED, EDGE, UUID

TABLE = Table.of(
    "nsxt.logical_router",
    "Routers on an NSX-T edge (tunnel router, service and distributed parts of gateways) or on a host.",
    "get logical-routers",
    KeyColumn("router", "str", "id of the router"),
    Column("vrf_number", "int", "number that `vrf` takes on this edge"),
    Column("router_number", "int", "LR-ID"),
    Column(
        "router_name",
        "str",
        "name: SR-… service, DR-… distributed router; none for the tunnel router",
    ),
    Column(
        "router_type",
        "str",
        "TUNNEL, SERVICE_ROUTER_TIER0, DISTRIBUTED_ROUTER_TIER1, VRF_SERVICE_ROUTER_TIER0, …",
    ),
    Column("router_ports", "int", "ports of the router", "ports"),
    Column("routes", "int", "routes, on a host", "routes"),
    Column("neighbor_entries", "int", "entries of its neighbour table (3.2 and later)"),
    Column("neighbor_limit", "int", "most entries that table may have"),
    ask="`get logical-routers` on the edge, or `nsxcli -c get logical-routers` on the host",
)

_ID = rf"\s*(?P<router>{UUID})\s+(?P<vrf_number>\d+)\s+(?P<router_number>\d+)"
_KIND = r"(?P<router_type>TUNNEL|[A-Z][A-Z0-9_]*ROUTER[A-Z0-9_]*)"
_NUMBERS = r"(?P<router_ports>\d+)(?:\s+(?P<neighbor_entries>\d+)/(?P<neighbor_limit>\d+))?\s*$"
_WHOLE = re.compile(rf"{_ID}(?:\s+(?P<router_name>\S.*?))??\s+{_KIND}\s+{_NUMBERS}")
_FIRST = re.compile(rf"{_ID}(?:\s+(?P<router_name>\S.*?))?\s*$")
_SECOND = re.compile(rf"\s*{_KIND}\s+{_NUMBERS}")
_WRAPPED = re.compile(r"\s*Type\s+Ports\b")  # the second line of the heading
_REST = re.compile(r"\s*(?:Logical Routers?\s*$|UUID\s+VRF|Type\s+Ports|-+\s*CUT\b)")


def parse_block(block: Block) -> Output:
    """Read the routers, one row each."""
    wrapped = any(_WRAPPED.match(line) for line in block.lines)
    above, row = ((_FIRST,), _SECOND) if wrapped else ((), _WHOLE)
    return text_rows(TABLE, block, PARSER.name, above, row, _REST)


PARSER = Parser(
    name="nsxt_logical_routers",
    tables=(TABLE,),
    parse=parse_block,
    node=EDGE,
    commands=(r"^\s*get logical-routers?\s*$",),
    shape=r"^\s*UUID\s+VRF\s+LR-ID\s+Name(?:\s+Type\s+Ports.*)?\s*$",
    body=rf"^\s*(?:Logical Routers?\s*$|UUID\s+VRF|Type\s+Ports|TUNNEL\s|[A-Z0-9_]*ROUTER_|{UUID}\s+\d|%|$|{DATED})",
    lead=rf"^\s*(?:Logical Routers?\s*$|{DATED})",
)
