"""`vim-cmd vmsvc/getallvms`: the VMs that are registered on the host, by number, name and configuration file.

A note of several lines goes on below its VM; those lines are no rows.
"""

import re
from dataclasses import replace

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, Made, text_table

from .vm_invalid import TABLE as INVALID


def finish_row(row: Row) -> None:
    """Read the version of the virtual hardware."""
    found = re.match(r"vmx-(\d{1,4})$", str(row.values["hw_text"] or ""))
    row.values["hw_version"] = int(found[1]) if found else None


_LIST = text_table(
    "vm_list",
    "esxi.vm_registered",
    Key("Vmid", "vim_vmid", "int", "id of the VM on this host: the Vmid of vim-cmd"),
    Field("Name", "vm_name", "str", "name of the virtual machine"),
    Field(
        "File",
        "vm_file",
        "str",
        "its .vmx file: [datastore] folder/name.vmx",
        pattern=r"\[[^\]]*\].*?\.vmx|\S+\.vmx",
    ),
    Field(
        "Guest OS", "guest_id", "str", "guest system as configured: rhel6_64Guest", pattern=r"\w+"
    ),
    Field("Version", "hw_text", "str", "virtual hardware as printed: vmx-13", pattern=r"vmx-\d+"),
    Field("Annotation", "vm_note", "str", "first line of its note", maybe=True),
    Made("hw_version", "int", "virtual hardware version"),
    meaning="VMs registered on the host, one row a VM.",
    source="vim-cmd vmsvc/getallvms",
    node="esxi",
    commands=(r"\b(?:vmware-)?vim-cmd\s+/?vmsvc/getallvms\b",),
    shape=r"^\s*Vmid\s+Name\s+File\s+Guest OS\s+Version\b",
    heading=r"Vmid\s+Name\s+File\s.*",
    finish=finish_row,
    body=r"\d+\s+\S.*\.vmx\s",
)
PARSER = replace(
    _LIST, tables=(*_LIST.tables, INVALID)
)  # a list without such lines says that no VM is invalid
