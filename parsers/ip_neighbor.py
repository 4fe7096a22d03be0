"""`esxcli network ip neighbor list`: the neighbour (ARP) table of a host's own interfaces.

Neither the table of a distributed router nor that of an Edge. The column State is often empty.
"""

from analyzer.forms import Field, localcli_table
from analyzer.tables import IP_FORM, MAC_FORM, Column, Table

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


PARSER = localcli_table(
    "ip_neighbor",
    "network ip neighbor list",
    TABLE,
    TABLE.meaning,
    Field("Neighbor", "ip", pattern=r"[0-9A-Za-z*]*[.:][\w.:*%]+"),
    Field("Mac Address", "mac", pattern=r"\S+"),
    Field("Vmknic", "vmknic", pattern=r"\S+"),
    Field("Expiry", "expiry_s", pattern=r"\S+", behind=" sec"),
    Field("State", "state", pattern=r"\S+", maybe=True),
    Field("Type", "neighbor_type", pattern=r"[A-Z]\S*"),
    row=r"\S+[.:*]\S*\s+\S+\s+\S+\s+\S+ sec\b",
)
