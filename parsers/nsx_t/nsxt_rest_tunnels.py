"""`GET /api/v1/transport-nodes/<id>/tunnels` of NSX-T: the tunnels of an edge or a host, as the managers know them.

Source: the schemas TunnelProperties and BFDProperties of the REST API (1.1 to 4.2).
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, Fault, KeyColumn, Table

from ..common._nsxt import MANAGER, typed_row
from ._rest_json import (
    BODY,
    LEAD,
    Cells,
    answer_shape,
    pick_columns,
    read_objects,
)

TABLE = Table.of(
    "nsxt.node_tunnel",
    "Tunnels of a transport node of NSX-T, as the managers know them.",
    "GET /api/v1/transport-nodes/<id>/tunnels",
    KeyColumn("node_uuid", "str", "id of the transport node, where the command tells"),
    Column("tunnel_name", "str", "name of the tunnel"),
    Column("tunnel_status", "str", "UP, DOWN, UNKNOWN", sign=says_good("up")),
    KeyColumn("local_ip", "str", "tunnel end point of the node", form=IP_FORM),
    KeyColumn("remote_ip", "str", "tunnel end point of the other node", form=IP_FORM),
    Column("remote_uuid", "str", "id of the other node"),
    Column("remote_name", "str", "name of the other node"),
    Column("interface", "str", "interface it leaves by: vmk10, …"),
    Column("encapsulation", "str", "GENEVE, VXLAN, STT"),
    Column("bfd_session_state", "str", "UP, DOWN, INIT, ADMIN_DOWN"),
    Column("bfd_diag", "str", "why it last went down, a number of RFC 5880 or its words"),
    Column("remote_state", "str", "state the other end reports"),
    ask="`GET /api/v1/transport-nodes/<id>/tunnels` for the transport node",
)
_KEYS = {
    "name": "tunnel_name", "status": "tunnel_status", "local_ip": "local_ip", "remote_ip": "remote_ip",
    "remote_node_id": "remote_uuid", "remote_node_display_name": "remote_name", "egress_interface": "interface",
    "encap": "encapsulation",
}  # fmt: skip
_BFD = {"state": "bfd_session_state", "diagnostic": "bfd_diag", "remote_state": "remote_state"}


def parse_block(block: Block) -> Output:
    """Read the tunnels, one row each."""
    tunnels: dict[tuple[str, ...], Cells] = {}
    sessions: dict[tuple[str, ...], Cells] = {}
    for item in read_objects(block, PARSER.name):
        if isinstance(item, Fault):
            yield item
            continue
        path, cells = item
        if "encap" in cells or "remote_ip" in cells:
            tunnels[path] = cells
        elif path and path[-1] == "bfd":
            sessions[path[:-1]] = cells
    for path, own in tunnels.items():
        cells = pick_columns(own, _KEYS) | pick_columns(sessions.get(path, {}), _BFD)
        _, line = next(iter(cells.values()))
        asked = {name: (text, line) for name, text in block.params.items()}
        yield from typed_row(TABLE, block, PARSER.name, line, asked | cells)


PARSER = Parser(
    name="nsxt_rest_tunnels",
    tables=(TABLE,),
    parse=parse_block,
    node=MANAGER,
    commands=(r"/api/v1/transport-nodes/(?P<node_uuid>[0-9a-f-]{36})/tunnels\b",),
    shape=answer_shape("tunnels", "remote_node_display_name"),
    body=BODY,
    lead=LEAD,
)
