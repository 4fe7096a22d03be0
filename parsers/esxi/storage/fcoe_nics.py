"""`esxcli fcoe nic list`: NICs that can do FCoE, and which are switched on for it."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "fcoe_nics",
    "fcoe nic list",
    "esxi.fcoe_nic",
    "NICs that can carry FCoE.",
    Key("|FCOE NIC Name", "pnic", "str", "NIC as the host names it", pattern=r"vmnic\d+"),
    Field("User Priority", "user_priority", "int", "priority of its frames"),
    Field("Source MAC", "source_mac", "str", "MAC address FCoE uses"),
    Field("Active", "fcoe_active", "bool", "FCoE is on"),
    Field("VN2VN Mode Enabled", "vn2vn", "bool", "ports speak without a forwarder"),
)
