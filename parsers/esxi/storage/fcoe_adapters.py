"""`esxcli storage san fcoe list`: FCoE adapters with WWNs, MAC addresses, VLAN, NIC, firmware and driver."""

from analyzer.forms import Field, get_blocks

from ._san import FIRMWARE, HBA, PORT

PARSER = get_blocks(
    "fcoe_adapters",
    "storage san fcoe list",
    "esxi.fcoe_adapter",
    "FCoE adapters: port, VLAN, NIC, firmware, driver.",
    HBA,
    *PORT,
    Field("Controller MAC", "controller_mac", "str", "MAC address of the adapter"),
    Field("FCF MAC", "fcf_mac", "str", "MAC address of the FCoE forwarder"),
    Field("VN Port MAC|VNPort MAC", "vn_port_mac", "str", "MAC address of the virtual port"),
    Field("VLAN ID", "vlan_id", "int", "VLAN of the FCoE traffic"),
    Field("Vmnic Name", "pnic", "str", "NIC as the host names it"),
    Field("Model Description", "description", "str", "model as the driver names it"),
    *FIRMWARE,
    begins="Adapter",
)
