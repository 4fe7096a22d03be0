"""`lspci -p -n`: PCI devices by number, and who owns each: vmnic4, vmhba1, or a virtual function by its parent.

Lines are `<address> Class <class>: <vendor>:<device> [<owner>]`; a device that no one owns has no bracket.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.pci_device",
    "PCI devices of the host by number, with their owner.",
    "lspci -p -n",
    KeyColumn("pci", "str", "PCI address"),
    Column("pci_class", "str", "class of the device in hex: 0200 = Ethernet"),
    Column("vendor_id", "str", "id of the vendor in hex: 8086, 14e4, 15b3"),
    Column("device_id", "str", "id of the model in hex"),
    Column("owner", "str", "name the host gives it: vmnic4, vmhba1, PF_0.202.0_VF_1"),
)


_LINE = (
    r"[0-9a-f]{4}:[0-9a-f]{2,3}:[0-9a-f]{2}\.[0-9a-f] Class [0-9a-f]{4}: [0-9a-f]{4}:[0-9a-f]{4}"
)

PARSER = template_parser(
    "pci_devices",
    TABLE,
    node="esxi",
    commands=(r"\blspci\s+(?:-p\s+-n|-n\s+-p|-pn|-np)\b",),
    shape=rf"^\s*{_LINE}\b",
    body=rf"^\s*{_LINE}\b.*$",
)
