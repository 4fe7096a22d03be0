"""`show control-cluster logical-switches connection-table`: hosts connected for a logical switch.

Source: NSX Controller CLI (NSX for vSphere). Only the command tells the VNI.
"""

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import IP_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_host",
    meaning="Connections of hosts to an NSX Controller for one logical switch.",
    source="show control-cluster logical-switches connection-table <vni> (on each controller)",
    ask="`show control-cluster logical-switches connection-table <vni>` on each NSX Controller",
    key=("vni", "host_ip"),
    columns=(
        Column("vni", "int", "VXLAN network identifier, where the command tells"),
        Column("host_ip", "str", "address of the host", form=IP_FORM),
        Column("port", "int", "TCP port of the host"),
        Column("connection_id", "int", "number of the host's connection, as in the connection table"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a host."""
    return answers(rows(TABLE, PARSER.name, block, typed(block.params, TABLE)))


PARSER = Parser(
    name="nsx_controller_host",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-switches connection-table(?:\s+(?P<vni>\d+))?",),
    shape=r"^\s*Host-IP\s+Port\s+ID\s*$",
    body=r"^\s*(?:Host-IP\s|-{3,}|\S+[.:*]\S*\s+\S+\s+\S+\s*$|error: |%)",
)
