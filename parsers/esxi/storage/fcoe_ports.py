"""`esxcli fcoe adapter list`: software FCoE adapters, their NIC, VLAN and forwarder."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "fcoe_ports",
    "fcoe adapter list",
    "esxi.fcoe_port",
    "Software FCoE adapters: NIC, VLAN, forwarder.",
    Key(
        "|FCOE Adapter Name",
        "hba",
        "str",
        "disk adapter as the host names it: vmhba33",
        pattern=r"vmhba\d+",
    ),
    Field("Source MAC", "source_mac", "str", "MAC address FCoE uses"),
    Field("FCF MAC", "fcf_mac", "str", "MAC address of the FCoE forwarder"),
    Field("VNPort MAC", "vn_port_mac", "str", "MAC address of the virtual port"),
    Field("Physical NIC", "pnic", "str", "NIC as the host names it"),
    Field("User Priority", "user_priority", "int", "priority of its frames"),
    Field("VLAN id", "vlan_id", "int", "VLAN of the FCoE traffic"),
    Field("VN2VN Mode Enabled", "vn2vn", "bool", "ports speak without a forwarder"),
)
