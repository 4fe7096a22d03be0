"""`get bgp neighbor summary` on an NSX-T edge: BGP neighbours of a gateway for each address family.

Source: the NSX CLI guide, and an output with an EVPN session in a public document. The state of a session that is up
is `Estab`; the others are cut to five letters (Idle, Activ, Conne, OpenS, …).
"""

from __future__ import annotations

import re

from analyzer.artefacts.signs import lies_below, says_good
from analyzer.artefacts.tables import IP_FORM, Column, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, EDGE

TABLE = Table.of(
    "nsxt.bgp_neighbor",
    "BGP neighbours of a gateway on an NSX-T edge, one row for each neighbour and address family.",
    "get bgp neighbor summary (in the VRF of the gateway); get logical-router <uuid> bgp neighbor summary",
    Column("router", "str", "id of the gateway, where the command names it"),
    Column("vrf", "str", "VRF of the gateway: default"),
    Column("address_family", "str", "ipv4Unicast, ipv6Unicast, l2VpnEvpn"),
    Column("router_id", "str", "BGP router id of the gateway"),
    Column("local_as", "int", "AS of the gateway"),
    Column("neighbor", "str", "address of the neighbour", form=IP_FORM),
    Column("remote_as", "int", "AS of the neighbour"),
    Column(
        "bgp_state",
        "str",
        "Estab when the session is up; Idle, Activ, Conne, OpenS, …",
        sign=says_good("estab", "established"),
    ),
    Column("up_down_time", "str", "time since the state changed, as printed: 1d01h27m, never"),
    Column(
        "bfd_state",
        "str",
        "UP; DW down, IN init, AD admin down, NC not configured, DC disconnected",
        sign=says_good("up", "nc", "na", "dis"),
    ),
    Column("messages_in", "int", "messages received", "messages"),
    Column("messages_out", "int", "messages sent", "messages"),
    Column("prefixes_in", "int", "prefixes received", "prefixes", sign=lies_below(0.5, weight=2.5)),
    Column("prefixes_out", "int", "prefixes announced", "prefixes"),
    ask="`get bgp neighbor summary` on the edge, in the VRF of the tier-0 gateway",
    key=("router", "neighbor", "address_family"),
)

_FAMILY = re.compile(
    r"\s*BGP summary information for VRF (?P<vrf>\S+) for address-family:\s*(?P<address_family>\w+)"
)
_ROUTER = re.compile(r"\s*Router ID:\s*(?P<router_id>\S+)\s+Local AS:\s*(?P<local_as>\S+)\s*$")
_ROW = re.compile(
    r"\s*(?P<neighbor>[0-9A-Fa-fXx*]*[.:][\w.:*]+)\s+(?P<remote_as>\d+)\s+(?P<bgp_state>[A-Z][A-Za-z]+)"
    r"\s+(?P<up_down_time>\S+)\s+(?P<bfd_state>[A-Z]{2})\s+(?P<messages_in>\d+)\s+(?P<messages_out>\d+)"
    r"\s+(?P<prefixes_in>\d+)\s+(?P<prefixes_out>\d+)\s*$"
)
_REST = re.compile(r"\s*(?:BFD States:|[A-Z]{2} - |Neighbor\s+AS\s+State|Total number of)")
PARSER = line_parser(
    "nsxt_bgp_neighbors",
    TABLE,
    _ROW,
    _REST,
    (_FAMILY, _ROUTER),
    node=EDGE,
    commands=(
        r"^\s*get bgp neighbor summary(?:\s+\w+)?\s*$",
        r"^\s*get (?:logical-router|gateway) (?P<router>\S+) bgp neighbor summary(?:\s+\w+)?\s*$",
    ),
    shape=r"^\s*(?:BFD States: NC - Not configured|BGP summary information for VRF \S+ for address-family:)",
    body=(
        r"^\s*(?:BFD States:|[A-Z]{2} - |BGP summary information|Router ID:|Neighbor\s+AS|Total number|%"
        rf"|[0-9A-Fa-fXx*]*[.:][\w.:*]+\s+\d+\s|{DATED})"
    ),
)
