"""`esxcli iscsi networkportal list`: VMkernel adapters that are bound to an iSCSI adapter, and whether they fit."""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "iscsi_portals",
    "iscsi networkportal list",
    "esxi.iscsi_portal",
    "Port binding of iSCSI: VMkernel adapter, NIC, MTU, compliance, state of the path.",
    Key("Adapter", "hba", "str", "disk adapter as the host names it: vmhba64"),
    Key("Vmknic", "vmknic", "str", "VMkernel adapter"),
    Field("MAC Address", "mac", "str", "MAC address", form=MAC_FORM),
    Field("IPv4", "ip_address", "str", "address"),
    Field("IPv4 Subnet Mask", "netmask", "str", "mask of its network"),
    Field("MTU", "mtu", "int", "largest packet", "bytes"),
    Field("Vlan ID", "vlan_id", "int", "VLAN"),
    Field("Link Up", "link_up", "bool", "the NIC has a link"),
    Field("Current Speed", "speed_mbps", "int", "link speed", "Mbit/s"),
    Field("Rx Packets", "rx_packets", "int", "packets received", "packets"),
    Field("Tx Packets", "tx_packets", "int", "packets sent", "packets"),
    Field("NIC Driver", "driver", "str", "driver in use"),
    Field(
        "Compliant Status",
        "compliance",
        "str",
        "compliant, not compliant: the teaming of its port group",
    ),
    Field("NonCompliant Message", "noncompliance", "str", "why it does not fit"),
    Field("Vswitch", "switch", "str", "its switch"),
    Field("PortGroup", "portgroup", "str", "its port group"),
    Field("Path Status", "binding_state", "str", "active, last path, unused, …"),
    begins="Adapter",
    head=r"vmhba\d+",
    counts_since="boot",
    gauges=("mtu", "vlan_id", "speed_mbps"),
    sign="Compliant Status",
)
