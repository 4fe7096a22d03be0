"""`esxcli hardware pci pcipassthru list`: PCI devices that can be given to a VM as they are, and which are."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "pci_passthru",
    "hardware pci pcipassthru list",
    "esxi.pci_passthru",
    "PCI devices that passthrough can be switched on for (DirectPath I/O).",
    Key(
        "Device ID",
        "pci",
        "str",
        "PCI address",
        pattern=r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]",
    ),
    Field(
        "Enabled",
        "passthru_enabled",
        "bool",
        "passthrough is on: the host itself does not use the device",
    ),
)
