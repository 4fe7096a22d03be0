"""`Skipping invalid VM '6'`: what `vim-cmd vmsvc/getallvms` says of VMs whose configuration it cannot read.

Source: public captures of ESXi 5 to 6.7; the lines stand above the list of the VMs, or alone behind `| grep invalid`.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.vm_invalid",
    meaning="VMs registered on the host whose configuration it cannot read, one row a VM.",
    source="vim-cmd vmsvc/getallvms",
    ask="`vim-cmd vmsvc/getallvms`",
    key=("vim_vmid",),
    columns=(Column("vim_vmid", "int", "id of the VM on this host: the Vmid of vim-cmd"),),
)
PARSER = written(
    "vm_invalid",
    TABLE,
    node="esxi",
    shape=r"^\s*Skipping invalid VM '\d{1,9}'\s*$",
    body=r"^\s*Skipping invalid VM '\d{1,9}'\s*$",
)
