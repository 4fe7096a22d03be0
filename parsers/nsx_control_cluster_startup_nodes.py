"""`show control-cluster startup-nodes` on an NSX Controller: the cluster's members as this node knows them.

Source: NSX Controller CLI (NSX for vSphere): one line, addresses separated by commas. They should be those
of the Manager's list of controllers. Without its prompt only the name of the file tells what the line is.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, run_template
from analyzer.tables import Block, Column, Fault, Row, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_startup_nodes",
    meaning="Addresses of the control cluster's nodes, as one NSX Controller has them stored.",
    source="show control-cluster startup-nodes (on each controller)",
    ask="`show control-cluster startup-nodes` on each NSX Controller",
    key=("ip",),
    columns=(
        Column("ip", "str", "address of a controller"),
        Column("position", "int", "place in the line, from 1"),
    ),
)


def parse(block: Block) -> Output:
    """Read the line of addresses, one row an address."""
    return answers(_rows(block))


def _rows(block: Block) -> Output:
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        for position, ip in enumerate(str(record.values["NODES"]).split(","), 1):
            if ip.strip():
                yield Row(TABLE, {"ip": ip.strip(), "position": position}, block, record.line)


PARSER = Parser(
    name="nsx_control_cluster_startup_nodes",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    files=(r"(?:^|/)[^/]*control-cluster[ _]+startup-nodes[^/]*$",),
    commands=(r"^\s*show control-cluster startup-nodes\b",),
    body=r"^\s*(?:[0-9A-Fa-f.:]+(?:,|\s*$)|error: |%)",
)
