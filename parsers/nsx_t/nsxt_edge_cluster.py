"""`get edge-cluster status` on an NSX-T edge: its own state, that of its services, its peers and the sessions to them.

Source: the NSX CLI guide, and the VCF 9 page on the router's high availability status (`Up (Routing Down)`).
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, UUID, stray_fault, typed_row

_SOURCE, _ASK = "get edge-cluster status", "`get edge-cluster status` on each edge"
STATUS = Table.of(
    "nsxt.edge_status",
    "State of an NSX-T edge in its cluster, as the edge itself prints it.",
    _SOURCE,
    KeyColumn("edge_uuid", "str", "id of the edge"),
    Column("ha_state", "str", "Active, Inactive, Offline, Discover, StateSync, Disabled"),
    Column("since", "str", "time of the last change, as printed"),
    Column(
        "edge_state",
        "str",
        "Up, Down, Admin Down, Up (Routing Down)",
        sign=says_good("active", "up"),
    ),
    Column("admin_state", "str", "Up, Down: maintenance mode"),
    Column("vtep_state", "str", "state of its tunnel end points", sign=says_good("up")),
    Column("configuration", "str", "applied, …"),
    Column("datapath_config_channel", "str", "Up, Down"),
    Column("datapath_status_channel", "str", "Up, Down"),
    Column("routing_status_channel", "str", "Up, Down"),
    Column(
        "routing_status",
        "str",
        "Down when all BGP and BFD sessions of the gateway are down",
        sign=says_good("up"),
    ),
    ask=_ASK,
)
PEERS = Table.of(
    "nsxt.edge_peer",
    "Sessions of an NSX-T edge to the other edges of its cluster, one row a session.",
    _SOURCE,
    KeyColumn("peer_uuid", "str", "id of the other edge"),
    Column(
        "peer_state",
        "str",
        "Up, Down, Admin Down, Unreachable, …",
        sign=says_good("healthy", "reachable"),
    ),
    Column("interface", "str", "eth0 of the management network, vtep-0 of the tunnels"),
    KeyColumn("session", "str", "own address and that of the peer"),
    Column(
        "session_status",
        "str",
        "Up, Down, Admin Down, Unreachable, Concat Path Down",
        sign=says_good("healthy", "up", "reachable"),
    ),
    ask=_ASK,
)

_LABEL = re.compile(r"\s*(?P<label>[A-Z][A-Za-z -]{2,40}?)\s*:(?:\s+(?P<text>\S.*?))?\s*$")
_OWN = {
    "High Availability State": "ha_state", "Since": "since", "Edge Node Id": "edge_uuid",
    "Edge Node Status": "edge_state", "Admin State": "admin_state", "Vtep State": "vtep_state",
    "Configuration": "configuration",
    "Datapath Config Channel": "datapath_config_channel", "Datapath Status Channel": "datapath_status_channel",
    "Routing Status Channel": "routing_status_channel", "Routing Status": "routing_status",
}  # fmt: skip
_PEER = {
    "Node Id": "peer_uuid",
    "Node Status": "peer_state",
    "Interface": "interface",
    "Session": "session",
}
_SECTIONS = {
    "Health Check Config", "Interval", "Deadtime", "Max Hops", "Service Status", "Peer Status", "Healthcheck Sessions",
    "Device",
}  # fmt: skip


def parse_block(block: Block) -> Output:
    """Read the state of the edge, one row, and a row for each session to a peer."""
    own: dict[str, tuple[str, int]] = {}
    peer: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        found = _LABEL.match(line)
        if found:
            label = found["label"]
            text = found["text"] or ""
        else:
            label, text = ("", "")
        if label in _OWN:
            if _OWN[label] in own:  # another output begins
                yield from _read_status(block, own)
                own = {}
            own[_OWN[label]] = text, at
            peer = {}
        elif label in _PEER:
            if label == "Node Id":
                peer = {}
            peer[_PEER[label]] = text, at
        elif label == "Status" and {"peer_uuid", "session"} <= peer.keys():
            yield from typed_row(
                PEERS, block, PARSER.name, at, {**peer, "session_status": (text, at)}
            )
            peer.pop("session")
        elif label not in _SECTIONS:
            title = line.strip()  # of a section, or the date above the answer
            if title and title not in _SECTIONS and not re.match(DATED, title):
                yield stray_fault(block, number, PARSER.name)
    yield from _read_status(block, own)


def _read_status(block: Block, own: dict[str, tuple[str, int]]) -> Output:
    if "edge_uuid" in own:
        yield from typed_row(STATUS, block, PARSER.name, own["edge_uuid"][1], own)


PARSER = Parser(
    name="nsxt_edge_cluster",
    tables=(STATUS, PEERS),
    parse=parse_block,
    node=EDGE,
    commands=(r"^\s*get edge-cluster status\s*$",),
    shape=rf"^\s*(?:High Availability State\s*:|Edge Node Id\s*:\s*{UUID})",
    body=rf"^\s*(?:[A-Z][A-Za-z -]{{2,40}}?\s*:(?:\s|$)|%|{DATED})",
)
