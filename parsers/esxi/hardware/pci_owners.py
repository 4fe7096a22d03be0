"""`vmkchdev -l`: each PCI device by the four numbers a compatibility guide asks for, and who uses it.

Source: the command, as administrators publish it of 5.x to 8.x, whole or through `grep`: `<address> <vendor>:<device>
<subvendor>:<subdevice> vmkernel vmnic0`; a device that is passed through to VMs has no name of the host behind it.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.pci_owner",
    "PCI devices of the host by vendor, model and their subsystem, and whether the host or a VM uses each.",
    "vmkchdev -l",
    KeyColumn("pci", "str", "PCI address"),
    Column("vendor_id", "str", "id of the vendor in hex: 8086, 14e4, 15b3"),
    Column("device_id", "str", "id of the model in hex"),
    Column("subvendor_id", "str", "id of the vendor of the card in hex: 1028, 103c"),
    Column("subdevice_id", "str", "id of the card in hex"),
    Column("pci_user", "str", "vmkernel: the host; passthru: virtual machines"),
    Column("owner", "str", "name the host gives it: vmnic4, vmhba1, PF_0.202.0_VF_1"),
)

_ADDRESS = r"(?:[0-9a-f]{4}:)?[0-9a-f]{2,4}:[0-9a-f]{2}\.[0-9a-f]"
_LINE = rf"{_ADDRESS}\s+[0-9a-f]{{4}}:[0-9a-f]{{4}}\s+[0-9a-f]{{4}}:[0-9a-f]{{4}}\s+[a-z]\w{{2,20}}"

PARSER = template_parser(
    "pci_owners",
    TABLE,
    node="esxi",
    commands=(r"\bvmkchdev\s+(?:-l|--list)\b",),
    shape=rf"^\s*{_LINE}\b",
    body=rf"^\s*{_LINE}(?:\s+\S+)?\s*$",
)
