"""`esxcli network ip interface ipv4 get`: IPv4 addresses of the VMkernel adapters.

Source: `commands/localcli_network-ip-interface-ipv4-get.txt` or the command. Some releases print no gateway.
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, localcli_table

from ._vmk import VMK

_ADDRESS = r"N/A|\S*\.\S*"


def finish_row(row: Row) -> None:
    """Set the family, which this command does not print."""
    row.values["ip_family"] = "IPv4"


PARSER = localcli_table(
    "vmk_ipv4",
    "network ip interface ipv4 get",
    VMK,
    VMK.meaning,
    Field("Name", "vmk", pattern=r"vmk\d+"),
    Field("IPv4 Address", "ip_address", pattern=_ADDRESS),
    Field("IPv4 Netmask", "netmask", pattern=_ADDRESS),
    Field("IPv4 Broadcast", "broadcast", pattern=_ADDRESS),
    Field("Address Type", "address_type", pattern="[A-Z]+"),
    Field("Gateway", "gateway", pattern=_ADDRESS, maybe=True),
    Field("DHCP DNS", pattern="true|false"),
    finish=finish_row,
)
