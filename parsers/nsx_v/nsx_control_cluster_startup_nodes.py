"""`show control-cluster startup-nodes` on an NSX Controller: the cluster's members as this node knows them.

Source: NSX Controller CLI (NSX for vSphere): one line, addresses separated by commas. They should be those
of the Manager's list of controllers. Without its prompt only the name of the file tells what the line is.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Column, KeyColumn, Record, Row, Table
from analyzer.forms import record_parser

from ..common._nsx import name_refusals

TABLE = Table.of(
    "nsx.controller_startup_nodes",
    "Addresses of the control cluster's nodes, as one NSX Controller has them stored.",
    "show control-cluster startup-nodes (on each controller)",
    KeyColumn("ip", "str", "address of a controller"),
    Column("position", "int", "place in the line, from 1"),
    ask="`show control-cluster startup-nodes` on each NSX Controller",
)


def read_record(block: Block, record: Record) -> Output:
    """Make a row of each address of the list."""
    for position, ip in enumerate(str(record.values["NODES"]).split(","), 1):
        if ip.strip():
            yield Row(TABLE, {"ip": ip.strip(), "position": position}, block, record.line)


PARSER = record_parser(
    "nsx_control_cluster_startup_nodes",
    (TABLE,),
    read_record,
    node="nsx_controller",
    files=(r"(?:^|/)[^/]*control-cluster[ _]+startup-nodes[^/]*$",),
    commands=(r"^\s*show control-cluster startup-nodes\b",),
    body=r"^\s*(?:[0-9A-Fa-f.:]+(?:,|\s*$)|error: |%)",
    answers=name_refusals,
)
