"""`show control-cluster logical-routers bridges`: which host bridges for a logical router.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import IP_FORM, Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_bridge",
    meaning="Bridges of the logical routers and the host each is active on.",
    source="show control-cluster logical-routers bridges <lr-id> all (on each controller)",
    ask="`show control-cluster logical-routers bridges <lr-id> all` on each NSX Controller",
    key=("lr_id", "bridge_id", "host_ip"),
    columns=(
        Column("lr_id", "int", "number of the logical router"),
        Column("bridge_id", "int", "number of the bridge"),
        Column("host_ip", "str", "host that has the bridge", form=IP_FORM),
        Column("active", "bool", "the bridge is active on this host"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a bridge and host."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_bridge",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-routers bridges\b",),
    shape=r"^\s*LR-Id\s+Bridge-Id\s+Host\s+Active\s*$",
    body=r"^\s*(?:LR-Id\s|-{3,}|\S+\s+\S+\s+\S+[.:*]\S*\s+[a-z]+\s*$|error: |%)",
)
