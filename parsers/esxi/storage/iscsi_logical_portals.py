"""`esxcli iscsi logicalnetworkportal list`: VMkernel adapters that iSCSI could be bound to."""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "iscsi_logical_portals",
    "iscsi logicalnetworkportal list",
    "esxi.iscsi_logical_portal",
    "VMkernel adapters each iSCSI adapter could use, and whether their teaming fits port binding.",
    Key("Adapter", "hba", "str", "disk adapter as the host names it: vmhba64", pattern=r"vmhba\d+"),
    Key("Vmknic", "vmknic", "str", "VMkernel adapter", pattern=r"vmk\d+"),
    Field("MAC Address", "mac", form=MAC_FORM, meaning="MAC address"),
    Field("MAC Address Valid", "mac_valid", "bool", "the address is one"),
    Field(
        "Compliant", "compliant", "bool", "one active uplink and no standby, as port binding needs"
    ),
)
