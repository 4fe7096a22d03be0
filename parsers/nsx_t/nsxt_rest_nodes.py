"""`GET /api/v1/transport-nodes/<id>/status` of NSX-T, or of all nodes: what the managers know of an edge or a host.

Source: the schemas TransportNodeStatus, StatusCount and TunnelStatusCount of the REST API (2.2 to 9.0).
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, Fault, KeyColumn, Table

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
    "nsxt.node_status",
    "State of each transport node (edge, host) as the managers of NSX-T see it.",
    "GET /api/v1/transport-nodes/<id>/status; GET /api/v1/transport-nodes/status",
    KeyColumn("node_uuid", "str", "id of the node"),
    Column("node_name", "str", "its name, where that is printed"),
    Column(
        "node_rollup",
        "str",
        "UP, DOWN, DEGRADED, UNKNOWN: of all that follows",
        sign=says_good("up", "success"),
    ),
    Column(
        "management_status", "str", "UP, DOWN: its connection to the managers", sign=says_good("up")
    ),
    Column(
        "control_status",
        "str",
        "UP, DOWN, DEGRADED, UNKNOWN: its connections to the controllers",
        sign=says_good("up"),
    ),
    Column(
        "nic_status", "str", "UP, DOWN, DEGRADED, UNKNOWN: its physical NICs", sign=says_good("up")
    ),
    Column("nics_down", "int", "physical NICs that are down", "NICs"),
    Column(
        "tunnel_status",
        "str",
        "UP, DOWN, DEGRADED, UNKNOWN: its tunnels, where that is printed",
        sign=says_good("up"),
    ),
    Column("bfd_up", "int", "BFD sessions of its tunnels that are up", "sessions"),
    Column("bfd_down", "int", "BFD sessions of its tunnels that are down", "sessions"),
    Column("software_version", "str", "release on the node, where that is printed"),
    ask="`GET /api/v1/transport-nodes/<id>/status` for each transport node",
)
# key of the node itself, or "object.key" of an object inside it -> column
_KEYS = {
    "node_uuid": "node_uuid", "node_display_name": "node_name", "status": "node_rollup",
    "mgmt_connection_status": "management_status", "control_connection_status.status": "control_status",
    "pnic_status.status": "nic_status", "pnic_status.down_count": "nics_down", "tunnel_status.status": "tunnel_status",
    "tunnel_status.bfd_status.bfd_up_count": "bfd_up", "tunnel_status.bfd_status.bfd_down_count": "bfd_down",
    "node_status.software_version": "software_version",
}  # fmt: skip


def parse_block(block: Block) -> Output:
    """Read the nodes, one row each."""
    nodes: dict[tuple[str, ...], Cells] = {}
    inner: dict[tuple[str, ...], Cells] = {}
    for item in read_objects(block, PARSER.name):
        if isinstance(item, Fault):
            yield item
            continue
        path, cells = item
        if "mgmt_connection_status" in cells:
            nodes[path] = cells
        else:
            inner[path] = cells
    for path, own in nodes.items():
        row = pick_columns(own, _KEYS)
        for place, cells in inner.items():
            if place[: len(path)] == path:
                below = place[len(path) :]
                row |= pick_columns(
                    {".".join((*below, key)): cell for key, cell in cells.items()}, _KEYS
                )
        _, line = row.get("node_uuid", row["management_status"])
        yield from typed_row(TABLE, block, PARSER.name, line, row)


PARSER = Parser(
    name="nsxt_rest_nodes",
    tables=(TABLE,),
    parse=parse_block,
    node=MANAGER,
    commands=(r"/api/v1/transport-nodes/(?:[0-9a-f-]{36}/)?status\b",),
    shape=answer_shape("mgmt_connection_status"),
    body=BODY,
    lead=LEAD,
)
