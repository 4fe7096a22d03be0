"""`esxcli iscsi physicalnetworkportal list`: NICs that the paths of iSCSI adapters take."""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "iscsi_physical_portals",
    "iscsi physicalnetworkportal list",
    "esxi.iscsi_physical_portal",
    "NICs each iSCSI adapter could use, their speed and frame size.",
    Key("Adapter", "hba", "str", "disk adapter as the host names it: vmhba64", pattern=r"vmhba\d+"),
    Key("Vmnic", "pnic", "str", "NIC as the host names it", pattern=r"vmnic\d+|\S+"),
    Field("MAC Address", "mac", form=MAC_FORM, meaning="MAC address"),
    Field("MAC Address Valid", "mac_valid", "bool", "the address is one"),
    Field("Current Speed", "speed_mbps", "int", "link speed", "Mbit/s"),
    Field("Max Speed", "max_speed_mbps", "int", "highest link speed", "Mbit/s"),
    Field("Max Frame Size", "max_frame_bytes", "int", "largest frame", "bytes"),
)
