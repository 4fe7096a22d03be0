"""`Skipping invalid VM '6'`: what `vim-cmd vmsvc/getallvms` says of VMs whose configuration it cannot read.

Source: public captures of ESXi 5 to 6.7; the lines are above the list of the VMs, or alone behind `| grep invalid`.
"""

from analyzer.artefacts.signs import says_rows
from analyzer.artefacts.tables import KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.vm_invalid",
    "VMs registered on the host whose configuration it cannot read, one row a VM.",
    "vim-cmd vmsvc/getallvms",
    KeyColumn(
        "vim_vmid", "int", "id of the VM on this host: the Vmid of vim-cmd", sign=says_rows(3.5)
    ),
)
PARSER = template_parser(
    "vm_invalid",
    TABLE,
    node="esxi",
    shape=r"^\s*Skipping invalid VM '\d{1,9}'\s*$",
    body=r"^\s*Skipping invalid VM '\d{1,9}'\s*$",
)
