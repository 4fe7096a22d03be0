"""`etc/vmware/hostd/vmInventory.xml`: the VMs that hostd has registered, by the path of their .vmx files."""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.vm_inventory",
    meaning="VMs registered on the host, one row a VM.",
    source="etc/vmware/hostd/vmInventory.xml",
    ask="`cat /etc/vmware/hostd/vmInventory.xml`",
    key=("vim_vmid",),
    columns=(
        Column("vim_vmid", "int", "id of the VM on this host: the Vmid of vim-cmd"),
        Column("vmx_path", "str", "path of the VM's .vmx file"),
    ),
)

PARSER = written(
    "vm_inventory",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)etc/vmware/hostd/vmInventory\.xml$",),
    commands=(r"\b(?:cat|more|less)\s+\S*/?vmInventory\.xml\b",),
    shape=r"^\s*<ConfigRoot>",
    body=r"^\s*</?(?:ConfigRoot|ConfigEntry|objID|vmxCfgPath|secDomain)\b",
)
