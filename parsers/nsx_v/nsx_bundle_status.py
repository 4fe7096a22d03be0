"""What a support bundle of NSX 6.4 was to hold, and what became of each part.

Source: `techSupportBundleStatus` of the API guide (NSX for vSphere 6.4). A bundle may be partial: a node that was
skipped (the Manager keeps 30 % of its disk free) is no error of that node, but its logs are not there.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, make_row, xml_shape
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.bundle_part",
    "Parts of an NSX support bundle: the nodes it was collected from, and how that went.",
    "GET /api/2.0/techsupportbundle/status",
    KeyColumn("node_type", "str", "NSX-Manager, HOSTSYSTEM, Edge, Controller"),
    KeyColumn("object_id", "str", "host-22, edge-1, controller-1; none for the type as a whole"),
    KeyColumn("log_type", "str", "FIREWALL or GI, of a host"),
    Column(
        "status", "str", "COMPLETED, Skipped, …", sign=says_good("completed", "success", "skipped")
    ),
    Column("progress_pct", "float", "share that is done, of the type as a whole", "%"),
)


def parse_block(block: Block) -> Output:
    """Read the parts: one row a type of node, one for each object and log of it."""
    root, faults = read_xml(block, PARSER.name)
    for node in root.find("nodeLogStatus"):
        cells = {"node_type": node.child("nodeType"), "status": node.child("status")}
        yield from make_row(
            TABLE, block, node, cells | {"progress_pct": node.child("progressPercentage")}
        )
        for one in node.find("objectStatus"):
            cells = {"node_type": node.child("nodeType"), "object_id": one.child("objectId")}
            cells |= {"log_type": one.child("logType"), "status": one.child("status")}
            yield from make_row(TABLE, block, one, cells)
    yield from faults


PARSER = Parser(
    name="nsx_bundle_status",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/2\.0/techsupportbundle/status\b",),
    shape=xml_shape("techSupportBundleStatus"),
    body=XML_BODY,
)
