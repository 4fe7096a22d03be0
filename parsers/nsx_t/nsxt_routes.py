"""`get route` on an NSX-T edge: routes of a gateway, in the VRF of its service router.

Source: a capture of an edge of NSX 4.2 in a public document; a note of one of 2.x shows rows without interface and
time. A route with several hops has one line for each; the further ones name no network. `#` begins a remark that
whoever pasted it wrote.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Row, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, EDGE

TABLE = Table.of(
    "nsxt.route",
    "Routes of a gateway on an NSX-T edge, one row for each network and next hop.",
    "get route (in the VRF of the gateway); get logical-router <uuid> route",
    KeyColumn("router", "str", "id of the gateway, where the command names it"),
    KeyColumn(
        "route",
        "str",
        "network routed to and length of its netmask; 0.0.0.0/0 is the default route",
    ),
    Column(
        "learned_from",
        "str",
        "t0c connected, t0s static, b BGP, o OSPF, t1c, t1s, t1n NAT, t1l LB VIP, isr, …",
    ),
    Column("is_selected", "bool", "`>` stands before it: the route that is used"),
    Column("in_fib", "bool", "`*` stands before it: packets are forwarded by it"),
    Column("distance", "int", "administrative distance: the lower wins"),
    Column("route_metric", "int", "metric of the protocol"),
    KeyColumn("next_hop", "str", "next hop; none for a connected network", form=IP_FORM),
    Column("interface", "str", "interface of the gateway: uplink-282, downlink-310"),
    Column("age_text", "str", "time since the route came, as printed: 01:24:22, 1d20h52m"),
    ask="`get route` on the edge, in the VRF of the gateway",
)

_ROW = re.compile(
    r"\s*(?:(?P<learned_from>[A-Za-z]\w{0,6}))?[ >*]*"
    r"(?:(?<![\w.:])(?P<route>[\dXx*a-fA-F:.]+/\d{1,3})\s+)?"
    r"(?:\[(?P<distance>\d+)/(?P<route_metric>\d+)\]\s+)?(?:is directly connected|via (?P<next_hop>[\w.:*]+))"
    r"(?:, (?P<interface>[a-zA-Z][\w.-]*))?(?:, (?P<age_text>[\dwdhm:]+))?\s*(?:#.*)?$"
)
_REST = re.compile(
    r"\s*(?:Flags: |Codes: |\w+\s?[:-] [A-Za-z0-9-]+.*(?:, |,$)|ivs:|Total number of routes:|Logical Router|UUID\s+VRF)"
)
_MARKS = re.compile(r"\s*[a-zA-Z]?\w{0,6}[ >*]*")
_TITLE = r"Flags: (?:t0c - Tier0-Connected|c - connected)"


def finish_row(row: Row) -> None:
    """Read the marks printed before a route: selected, in the FIB."""
    marks = _MARKS.match(row.block.lines[row.line - row.block.first_line])
    before = marks[0] if marks else ""
    row.values["is_selected"], row.values["in_fib"] = ">" in before, "*" in before


PARSER = line_parser(
    "nsxt_routes",
    TABLE,
    _ROW,
    _REST,
    carried="route",
    finish=finish_row,
    node=EDGE,
    commands=(
        r"^\s*get route(?:s| bgp| static| connected)?\s*$",
        r"^\s*get logical-router (?P<router>\S+) route\s*$",
    ),
    shape=rf"^\s*{_TITLE}",
    body=(
        rf"^\s*(?:Flags: |\w+\s?[:-] [A-Za-z]|Total number|[A-Za-z]\w{{0,6}}[ >*]+[\w.:*]+/\d"
        rf"|[>* ]*(?:\[\d+/\d+\]\s+)?via |%|$|{DATED})"
    ),
)
