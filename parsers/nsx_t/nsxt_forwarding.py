"""`get logical-router UUID forwarding` and `get forwarding` on an NSX-T edge: the forwarding table of a router.

Source: a capture of an edge of 4.x in a public document. Further hops of a network are below it without its name.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Column, KeyColumn, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, EDGE, ROUTER_LINE, UUID

TABLE = Table.of(
    "nsxt.forwarding",
    "Forwarding tables of the routers on an NSX-T edge, one row for each network and hop.",
    "get logical-router <uuid> forwarding; get forwarding (in the VRF of the router)",
    KeyColumn("router", "str", "id of the router"),
    Column("vrf_number", "int", "number that `vrf` takes on this edge"),
    KeyColumn("route", "str", "network and length of its netmask; 0.0.0.0/0 is the default route"),
    KeyColumn("next_hop", "str", "gateway; none for a connected network", form=IP_FORM),
    Column("route_kind", "str", "route, …, as printed"),
    KeyColumn("interface", "str", "id of the interface"),
    Column(
        "next_hop_mac",
        "str",
        "MAC address of the gateway; none where it is not resolved",
        form=MAC_FORM,
    ),
    ask="`get logical-router <uuid> forwarding` on the edge",
)

_ROW = re.compile(
    r"\s*(?:(?P<route>[\dXx*a-fA-F:.]+/\d{1,3})(?:\s+|$))?(?:(?P<next_hop>[\dXx*a-fA-F]+[.:][\w.:*]+)\s+)?"
    rf"(?:(?P<route_kind>[a-z][a-z_-]+)\s+)?(?P<interface>{UUID})(?:\s+(?P<next_hop_mac>[\w*]{{2}}(?::[\w*]{{2}}){{5}}))?\s*$"
)
_REST = re.compile(r"\s*(?:Logical Router\s*$|UUID\s+VRF|IPv[46] Forwarding Table|IP Prefix\s)")
PARSER = line_parser(
    "nsxt_forwarding",
    TABLE,
    _ROW,
    _REST,
    (ROUTER_LINE,),
    carried="route",
    node=EDGE,
    commands=(r"^\s*get (?:logical-router (?P<router>\S+) )?forwarding\b",),
    shape=r"^\s*IPv[46] Forwarding Table\s*$",
    body=(
        rf"^\s*(?:Logical Router\s*$|UUID\s+VRF|IPv[46] Forw|IP Prefix|[\w.:*]+/\d+\s|[\w.:*]+\s+.*{UUID}"
        rf"|{UUID}|%|$|{DATED})"
    ),
    lead=rf"^\s*(?:Logical Router\s*$|UUID\s+VRF|{UUID}\s+\d|{DATED})",
)
