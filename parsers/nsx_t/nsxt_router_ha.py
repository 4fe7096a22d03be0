"""`get high-availability status` in the VRF of a service router: whether it forwards here, and what its peers say.

The first state is that of the router on this edge; those under Peer Routers are of the other edges. Source: the
administration guide of VCF 9.0 (stateful active-active gateways) and an active-standby output in a public document.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, UUID, stray_fault, typed_row

_SOURCE = "get high-availability status; get logical-router <uuid> high-availability status"
_ASK = (
    "`get high-availability status` in the VRF of the service router, on each edge of the cluster"
)
ROUTER = Table.of(
    "nsxt.router_ha",
    "High availability of a service router, as the edge it runs on sees it.",
    _SOURCE,
    KeyColumn("router", "str", "id of the service router on this edge"),
    Column("router_state", "str", "Active, Standby, Down, …: the router on this edge"),
    Column("router_tier", "str", "TIER0, TIER1, as printed"),
    Column("ha_mode", "str", "A/S, A/A, Stateful A/A, as printed"),
    Column("failover_mode", "str", "Preemptive, Non-preemptive"),
    Column("rank", "int", "0 is preferred"),
    Column(
        "service_count",
        "int",
        "services that count for the choice of the active router",
        "services",
    ),
    Column("port_state", "str", "Up, Down: state of its first port for high availability"),
    ask=_ASK,
)
PEERS = Table.of(
    "nsxt.router_peer",
    "The same service router on the other edges, as this edge sees it, one row an edge.",
    _SOURCE,
    KeyColumn("router", "str", "id of the service router on this edge"),
    Column("router_state", "str", "state of the router on this edge"),
    Column("ha_mode", "str", "A/S, A/A, Stateful A/A, as printed"),
    KeyColumn("node_uuid", "str", "id of the other edge"),
    Column(
        "peer_router_state",
        "str",
        "Active, Standby, Down, …: the router on the other edge",
        sign=says_good("active", "standby"),
    ),
    ask=_ASK,
)
_LINE = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z _-]{1,30}?)\s*:(?:\s+(?P<text>\S.*?))?\s*$")
_SECTIONS = re.compile(
    r"\s*(?P<name>Service Router|HA ports state|Sub-cluster Information|Peer Routers)\s*$"
)
_OWN = {
    "UUID": "router", "state": "router_state", "type": "router_tier", "mode": "ha_mode",
    "failover mode": "failover_mode", "rank": "rank", "service count": "service_count",
}  # fmt: skip
_Cells = dict[str, tuple[str, int]]


def parse_block(block: Block) -> Output:
    """Read the router, one row, and a row for each edge under Peer Routers."""
    asked = str(block.params.get("router", ""))
    own: _Cells = {"router": (asked, block.first_line)} if asked else {}
    peers: list[_Cells] = []
    section = ""
    for number, line in enumerate(block.lines):
        heading = _SECTIONS.match(line)
        found = _LINE.match(line)
        title = heading["name"] if heading else ""
        label = found["label"] if found else ""
        # what is above the last section comes again with the next router
        again = label in _OWN or title in ("HA ports state", "Sub-cluster Information")
        if (section and title == "Service Router") or (section == "Peer Routers" and again):
            yield from _make_router_row(block, own, peers)
            own, peers, section = {}, [], ""
        if heading:
            section = title
        elif found:
            cell = found["text"] or "", block.first_line + number
            if section == "HA ports state":
                if label == "op_state":
                    own.setdefault("port_state", cell)
            elif section == "Peer Routers":
                if label == "Node UUID":
                    peers.append({"node_uuid": cell})
                elif label == "HA state" and peers:
                    peers[-1]["peer_router_state"] = cell
            elif section != "Sub-cluster Information" and label in _OWN:
                own.setdefault(_OWN[label], cell)
        elif line.strip() and not re.match(rf"\s*(?:{DATED}|{UUID}\s)", line):
            yield stray_fault(block, number, PARSER.name)
    yield from _make_router_row(block, own, peers)


def _make_router_row(block: Block, own: _Cells, peers: list[_Cells]) -> Output:
    if "router_state" not in own:
        return
    yield from typed_row(ROUTER, block, PARSER.name, own.get("router", own["router_state"])[1], own)
    shared = {}
    for name, cell in own.items():
        if name in ("router", "router_state", "ha_mode"):
            shared[name] = cell
    for peer in peers:
        yield from typed_row(PEERS, block, PARSER.name, peer["node_uuid"][1], {**shared, **peer})


PARSER = Parser(
    name="nsxt_router_ha",
    tables=(ROUTER, PEERS),
    parse=parse_block,
    node=EDGE,
    commands=(
        r"^\s*get high-availability status\s*$",
        r"^\s*get logical-router (?P<router>\S+) high-availability status\s*$",
    ),
    shape=r"^\s*HA ports state\s*$",
    body=(
        r"^\s*(?:Service Router|HA ports state|Sub-cluster Information|Peer Routers"
        rf"|[A-Za-z][A-Za-z _-]{{1,30}}?\s*:(?:\s|$)|%|{DATED})"
    ),
)
