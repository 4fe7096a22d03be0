"""`show control-cluster logical-switches vni` and `joined-vnis`: logical switches of an NSX Controller.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import IP_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_vni",
    meaning="Logical switches as one NSX Controller knows them: who serves them, how many hosts joined.",
    source="show control-cluster logical-switches vni <vni> (on each controller)",
    ask="`show control-cluster logical-switches vni <vni>` on each NSX Controller",
    key=("vni",),
    columns=(
        Column("vni", "int", "VXLAN network identifier"),
        Column("controller_ip", "str", "controller that serves the logical switch", form=IP_FORM),
        Column("bum_replication", "bool", "the controller replicates broadcast, unknown unicast and multicast"),
        Column("arp_proxy", "bool", "the controller answers ARP"),
        Column("connections", "int", "open connections of hosts", "connections"),
        Column("vteps", "int", "VTEPs that joined", "VTEPs"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a logical switch."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_vni",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-switches (?:vni|joined-vnis)\b",),
    shape=r"^\s*VNI\s+Controller\s+BUM-Replication\s+ARP-Proxy\s+Connections(?:\s+VTEPs)?\s*$",
    body=r"^\s*(?:VNI\s|-{3,}|\S+\s+\S+\s+[A-Z]\w+\s+[A-Z]\w+\s+\d|error: |%)",
)
