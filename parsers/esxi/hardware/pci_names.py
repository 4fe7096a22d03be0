"""`lspci`: PCI devices of the host by class and model, with the name the host gives them.

Source: `commands/lspci.txt` or the command: `<address> <class>: <vendor and model> [vmnic0]`. `lspci -p -n` prints
numbers (esxi.pci_device).
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.pci_name",
    "PCI devices of the host by model, with their owner.",
    "lspci; commands/lspci.txt",
    KeyColumn("pci", "str", "PCI address"),
    Column(
        "pci_class_name",
        "str",
        "class of the device: Ethernet controller Network controller, Bridge, …",
    ),
    Column("pci_model", "str", "vendor and model"),
    Column("owner", "str", "name the host gives it: vmnic4, vmhba1"),
    ask="`lspci`",
)

_ADDRESS = r"(?:[0-9a-f]{3,4}:)?[0-9a-f]{2,3}:[0-9a-f]{2}\.[0-9a-f]"

PARSER = template_parser(
    "pci_names",
    TABLE,
    node="esxi",
    files=bundle_files("lspci"),
    commands=(r"\blspci\s*(?:$|\|)",),
    body=rf"^\s*{_ADDRESS} \S",
    common=True,
)
