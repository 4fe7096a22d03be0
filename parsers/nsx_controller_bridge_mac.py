"""`show control-cluster logical-routers bridge-mac`: MAC addresses that a bridge told the controller.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import MAC_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_bridge_mac",
    meaning="MAC addresses behind the bridges of the logical routers, as one NSX Controller knows them.",
    source="show control-cluster logical-routers bridge-mac <lr-id> all (on each controller)",
    ask="`show control-cluster logical-routers bridge-mac <lr-id> all` on each NSX Controller",
    key=("lr_id", "bridge_id", "mac"),
    columns=(
        Column("lr_id", "int", "number of the logical router"),
        Column("bridge_id", "int", "number of the bridge"),
        Column("mac", "str", "MAC address", form=MAC_FORM),
        Column("vlan", "int", "VLAN it is in; 0 for a logical switch"),
        Column("vni", "int", "VXLAN network identifier; 0 for a VLAN"),
        Column("port_id", "int", "port on the host"),
        Column("source", "str", "where it was learned: vxlan, vlan"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a MAC address."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_bridge_mac",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-routers bridge-mac\b",),
    shape=r"^\s*LR-Id\s+Bridge-Id\s+Mac\s+Vlan-Id\s+Vxlan-Id\s+Port-Id\s+Source\s*$",
    body=r"^\s*(?:LR-Id\s|-{3,}|\S+\s+\S+\s+\S{2}:\S+\s+\d|error: |%)",
)
