"""`esxcli network vswitch dvs vmware vxlan vmknic list`: the tunnel end points of a host on a distributed switch.

Source: the command on hosts of NSX for vSphere in public documentation; one release prints the last three columns,
another does not. It fills the table of `net-vdl2 -l`; the switch is that of the command.
"""

import re
from dataclasses import replace

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, localcli_table

from .net_vdl2 import VMKNIC

_DVS = re.compile(r"--?(?:vds-name|v)[=\s]+(?P<dvs>[^\s;|]+)")
_LISTED = replace(VMKNIC)  # a table of the form's own, that its rows are read into


def finish_row(row: Row) -> None:
    """Take the switch from the command; the rows are those of the table that `net-vdl2 -l` fills."""
    row.table = VMKNIC
    if found := _DVS.search(row.block.command):
        row.values["dvs"] = found["dvs"]


_LIST = localcli_table(
    "vxlan_vmknics",
    "network vswitch dvs vmware vxlan vmknic list",
    _LISTED,
    "",
    Field("Vmknic Name", "vmknic", pattern=r"vmk\d+"),
    Field("Switch Port ID", "port_id", "int"),
    Field("VDS Port ID", "vds_port", "int"),
    Field("Endpoint ID", "endpoint", "int"),
    Field("VLAN ID", "vlan", "int"),
    Field("IP", "ip"),
    Field("Netmask", "mask"),
    Field("IP Acquire Timeout", maybe=True, pattern=r"\S+"),
    Field("Multicast Group Count", maybe=True, pattern=r"\S+"),
    Field("Segment ID", "segment", maybe=True),
    finish=finish_row,
)


PARSER = replace(_LIST, tables=(VMKNIC,))
