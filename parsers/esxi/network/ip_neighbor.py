"""`esxcli network ip neighbor list`: the neighbour (ARP) table of a host's own interfaces.

Neither the table of a distributed router nor that of an Edge. The column State is often empty.
"""

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import IP_FORM, MAC_FORM
from analyzer.forms import Field, Key, localcli_table

_IP = r"[0-9A-Za-z*]*[.:][\w.:*%]+"

PARSER = localcli_table(
    "ip_neighbor",
    "network ip neighbor list",
    "esxi.ip_neighbor",
    "Neighbour (ARP) table of the host's VMkernel interfaces.",
    Key("Neighbor", "ip", "str", "address of the neighbour", form=IP_FORM, pattern=_IP),
    Field("Mac Address", "mac", "str", "its MAC address", form=MAC_FORM, pattern=r"\S+"),
    Key("Vmknic", "vmknic", "str", "VMkernel interface: vmk0", pattern=r"\S+"),
    Field(
        "Expiry",
        "expiry_s",
        "int",
        "seconds until the entry expires",
        "s",
        pattern=r"\S+",
        behind=" sec",
    ),
    Field(
        "State",
        "state",
        "str",
        "state as printed, where there is one",
        pattern=r"(?![A-Z][a-z])\S+",
        maybe=True,
        sign=says_bad("incomplete", "unreachable", "failed", weight=3),
    ),
    Field(
        "Type",
        "neighbor_type",
        "str",
        "type as printed: Unknown, …",
        pattern=r"[A-Z]\S*",
        maybe=True,
    ),
    row=r"\S+[.:*]\S*\s+\S+\s+\S+\s+\S+ sec\b",
)
