"""`show ip route` on an NSX Edge: routes of an Edge or of the control VM of a logical router.

Source: captures of an Edge (NSX for vSphere) in a public collection of test data. Several hops of one network are
several lines.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Table

from ..common._cli_lines import line_parser

TABLE = Table.of(
    "nsx.edge_route",
    "Routes of an NSX Edge, one row for each network and next hop.",
    "show ip route (on the Edge)",
    KeyColumn(
        "route",
        "str",
        "network routed to and length of its netmask; 0.0.0.0/0 is the default route",
    ),
    Column("learned_from", "str", "C connected, S static, B BGP, O OSPF, i IS-IS"),
    Column("route_kind", "str", "of OSPF and IS-IS: E1, E2, N1, N2, IA, L1, L2"),
    Column("distance", "int", "administrative distance: the lower wins"),
    Column("route_metric", "int", "metric of the protocol"),
    KeyColumn("next_hop", "str", "next hop; of a connected network the own address", form=IP_FORM),
    ask="`show ip route` on the Edge",
)

_ROW = re.compile(
    r"\s*(?P<learned_from>[A-Zi])(?:\s+(?P<route_kind>E[12]|N[12]|IA|L[12]))?\s+(?P<route>[\dXx*.:a-fA-F]+/\d+)"
    r"\s+\[(?P<distance>\d+)/(?P<route_metric>\d+)\]\s+via (?P<next_hop>[\w.:*]+)\s*$"
)
_REST = re.compile(
    r"\s*(?:Codes: O - OSPF derived|C - connected, S - static|IA - OSPF|N1 - OSPF|Total number of routes:)"
)
PARSER = line_parser(
    "nsx_edge_routes",
    TABLE,
    _ROW,
    _REST,
    node="nsx_edge",
    commands=(r"^\s*show ip route\b",),
    shape=r"^\s*Codes: O - OSPF derived",
    body=(
        r"^\s*(?:Codes:|C - connected, S|IA - OSPF|N1 - OSPF|Total number of routes:|%|$"
        r"|[A-Zi](?:\s+[A-Z]+\d?)?\s+[\w.:*]+/\d+\s)"
    ),
    common=True,
)
