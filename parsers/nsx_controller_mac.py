"""`show control-cluster logical-switches mac-table` and `mac-records`: MAC addresses of a logical switch.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import IP_FORM, MAC_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_mac",
    meaning="MAC addresses of a logical switch and the VTEP behind which each is, as one NSX Controller knows them.",
    source="show control-cluster logical-switches mac-table <vni> (on each controller)",
    ask="`show control-cluster logical-switches mac-table <vni>` on each NSX Controller",
    key=("vni", "mac"),
    columns=(
        Column("vni", "int", "VXLAN network identifier"),
        Column("mac", "str", "MAC address", form=MAC_FORM),
        Column("vtep_ip", "str", "address of the VTEP behind which it is", form=IP_FORM),
        Column("connection_id", "int", "number of the host's connection, as in the connection table"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a MAC address."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_mac",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-switches mac-(?:table|records)\b",),
    shape=r"^\s*VNI\s+MAC\s+VTEP-IP\s+Connection-ID\s*$",
    body=r"^\s*(?:VNI\s|-{3,}|\S+\s+\S{2}:\S+\s+\S+[.:*]|error: |%)",
)
