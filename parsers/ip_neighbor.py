"""`esxcli network ip neighbor list`: the neighbour (ARP) table of a host's own interfaces.

Neither the table of a distributed router nor that of an Edge. The column State is often empty.
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import IP_FORM, MAC_FORM, Block, Column, Table

TABLE = Table(
    name="esxi.ip_neighbor",
    meaning="Neighbour (ARP) table of the host's VMkernel interfaces.",
    source="esxcli network ip neighbor list",
    ask="`esxcli network ip neighbor list`",
    key=("ip", "vmknic"),
    columns=(
        Column("ip", "str", "address of the neighbour", form=IP_FORM),
        Column("mac", "str", "its MAC address", form=MAC_FORM),
        Column("vmknic", "str", "VMkernel interface: vmk0"),
        Column("expiry_s", "int", "seconds until the entry expires", "s"),
        Column("state", "str", "state as printed, where there is one"),
        Column("neighbor_type", "str", "type as printed: Unknown, …"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row a neighbour."""
    return rows(TABLE, PARSER.name, block)


PARSER = Parser(
    name="ip_neighbor",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_network-ip-neighbor-list\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+network\s+ip\s+neighbor\s+list\b",),
    shape=r"^\s*Neighbor\s+Mac Address\s+Vmknic\s+Expiry\s+State\s+Type\s*$",
    body=r"^\s*(?:Neighbor\s+Mac Address|-{3,}|\S+[.:*]\S*\s+\S+\s+\S+\s+\S+ sec\b)",
)
