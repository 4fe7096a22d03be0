"""`show control-cluster logical-switches vtep-table` and `vtep-records`: VTEPs that joined a logical switch.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import IP_FORM, MAC_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_vtep",
    meaning="VTEPs of the hosts that joined a logical switch, as one NSX Controller knows them.",
    source="show control-cluster logical-switches vtep-table <vni> (on each controller)",
    ask="`show control-cluster logical-switches vtep-table <vni>` on each NSX Controller",
    key=("vni", "ip"),
    columns=(
        Column("vni", "int", "VXLAN network identifier"),
        Column("ip", "str", "address of the VTEP", form=IP_FORM),
        Column("segment", "str", "network of the VTEP", form=IP_FORM),
        Column("mac", "str", "MAC address of the VTEP", form=MAC_FORM),
        Column("connection_id", "int", "number of the host's connection, as in the connection table"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a VTEP and logical switch."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_vtep",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-switches vtep-(?:table|records)\b",),
    shape=r"^\s*VNI\s+IP\s+Segment\s+MAC\s+Connection-ID\s*$",
    body=r"^\s*(?:VNI\s|-{3,}|\S+\s+\S+[.:*]\S+\s+\S+[.:*]\S+\s+\S+:|error: |%)",
)
