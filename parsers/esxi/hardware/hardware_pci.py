"""`esxcli hardware pci list`: PCI devices with the name the host gives them, their ids, slot and module.

Source: outputs that administrators published; the address is above each block as well. A device that a VM owns has
the module pciPassthru.
"""

from analyzer.forms import Field, Key, get_blocks

_ADDRESS = r"[0-9a-fA-F]{3,8}:[0-9a-fA-F]{2,3}:[0-9a-fA-F]{2}\.[0-9a-fA-F]"

PARSER = get_blocks(
    "hardware_pci",
    "hardware pci list",
    "esxi.hardware_pci",
    "PCI devices of the host: name, model, ids, slot, module and who owns them.",
    Key("Address", "pci", "str", "PCI address", pattern=_ADDRESS),
    Field("VMkernel Name", "pci_alias", "str", "name the host gives it: vmnic5, vmhba2"),
    Field("Vendor Name", "pci_vendor", "str", "maker of the chip"),
    Field("Device Name", "pci_model", "str", "model of the chip"),
    Field(
        "Configured Owner",
        "pci_owner_configured",
        "str",
        "who is to own it: VMkernel, VM Passthru, Unknown",
    ),
    Field("Current Owner", "pci_owner", "str", "who owns it: VMkernel, VM Passthru"),
    Field("Vendor ID", "vendor_id", "str", "id of the maker: 0x8086"),
    Field("Device ID", "device_id", "str", "id of the chip"),
    Field("SubVendor ID", "subvendor_id", "str", "id of who sells the card"),
    Field("SubDevice ID", "subdevice_id", "str", "id of the card"),
    Field("Device Class Name", "pci_class_name", "str", "what it is: Ethernet controller"),
    Field("Module Name", "module", "str", "module that drives it"),
    Field("Physical Slot", "pci_slot", "str", "number of the slot"),
    Field("Slot Description", "pci_slot_name", "str", "the slot as the firmware names it"),
    Field("Passthru Capable", "passthru_capable", "bool", "it can be given to a VM"),
    Field("Parent Device", "pci_parent", "str", "device above it"),
    begins="Address",
    head=_ADDRESS,
    sign="VMkernel Name|SubVendor ID",
)
