"""`etc/vmware/hostd/vmInventory.xml`: the VMs that hostd has registered, by the path of their .vmx files."""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.vm_inventory",
    "VMs registered on the host, one row a VM.",
    "etc/vmware/hostd/vmInventory.xml",
    KeyColumn("vim_vmid", "int", "id of the VM on this host: the Vmid of vim-cmd"),
    Column("vmx_path", "str", "path of the VM's .vmx file"),
    ask="`cat /etc/vmware/hostd/vmInventory.xml`",
)

PARSER = template_parser(
    "vm_inventory",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)etc/vmware/hostd/vmInventory\.xml$",),
    commands=(r"\b(?:cat|more|less)\s+\S*/?vmInventory\.xml\b",),
    shape=r"^\s*<ConfigRoot>",
    body=r"^\s*</?(?:ConfigRoot|ConfigEntry|objID|vmxCfgPath|secDomain)\b",
)
