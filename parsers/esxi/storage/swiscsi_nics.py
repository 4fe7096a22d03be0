"""`esxcli swiscsi nic list -d vmhbaN` of 4.x: VMkernel adapters that are bound to the software iSCSI adapter.

The command ends with 4.x; `esxcli iscsi networkportal list` took its place.
"""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "swiscsi_nics",
    "swiscsi nic list",
    "esxi.swiscsi_nic",
    "Port binding of software iSCSI on 4.x: VMkernel adapter, NIC, MTU, link, driver and firmware.",
    Key("", "vmknic", "str", "VMkernel adapter", pattern=r"vmk\d+"),
    Field("pNic name", "vmnic", "str", "NIC, as the host names it: vmnic4"),
    Field("ipv4 address", "ip_address", "str", "address"),
    Field("ipv4 net mask", "netmask", "str", "mask of its network"),
    Field("mac address", "mac", "str", "MAC address", form=MAC_FORM),
    Field("mtu", "mtu", "int", "largest packet", "bytes"),
    Field("tso", "tso", "bool", "the NIC cuts large packets itself"),
    Field("vlanId", "vlan_id", "int", "VLAN"),
    Field("link connected", "link_up", "bool", "the NIC has a link"),
    Field("ethernet speed", "speed_mbps", "int", "link speed", "Mbit/s"),
    Field("packets received", "rx_packets", "int", "packets received", "packets"),
    Field("packets sent", "tx_packets", "int", "packets sent", "packets"),
    Field("NIC driver", "driver", "str", "driver in use"),
    Field("driver version", "driver_version", "version", "version of the driver"),
    Field("firmware version", "firmware_version", "version", "version of the firmware"),
    head=r"vmk\d+",
    ignored=r"[A-Za-z][A-Za-z0-9 ]{0,40}",
    twin=False,
    counts_since="boot",
    gauges=("mtu", "vlan_id", "speed_mbps"),
    sign="pNic name",
)
