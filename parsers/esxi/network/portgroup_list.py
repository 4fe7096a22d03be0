"""`esxcli network vswitch standard portgroup list`: port groups of standard switches with their VLANs."""

from analyzer.forms import Field, localcli_table

from ._switches import PORTGROUPS

PARSER = localcli_table(
    "portgroup_list",
    "network vswitch standard portgroup list",
    PORTGROUPS,
    "",
    Field("Name", "portgroup"),
    Field("Virtual Switch", "switch", pattern=r"\S+"),
    Field("Active Clients", "used_ports"),
    Field("VLAN ID", "vlan_id"),
    row=r"\S.*\s\d+\s+\S+\s*$",
)
