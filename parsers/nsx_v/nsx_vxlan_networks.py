"""`esxcli network vswitch dvs vmware vxlan network list`: logical switches on a host and the controller of each.

Source: the command on hosts of NSX 6.1 and 6.2, as captured. It fills the table of `net-vdl2 -l`; the switch is that of
the command. A controller 0.0.0.0 of a network without control plane is no fault.
"""

import re
from dataclasses import replace

from analyzer.artefacts.tables import Column, Row
from analyzer.forms import Field, localcli_table

from .net_vdl2 import NETWORK

_CONTROLLER = re.compile(r"(?P<ip>\S+)\s+\((?P<state>[a-z]+)\)$")
_DVS = re.compile(r"--?(?:vds-name|v)[=\s]+(?P<dvs>\S+)")


# As the list is read: address and state of the controller are in one cell.
_LISTED = replace(
    NETWORK,
    columns=tuple(
        Column("controller_ip", "str", "address and state")
        if column.name == "controller_ip"
        else column
        for column in NETWORK.columns
    ),
)


def finish_row(row: Row) -> None:
    """Part address and state of the controller, and take the switch from the command; the rows are `net-vdl2 -l`'s."""
    row.table = NETWORK
    if found := _CONTROLLER.match(str(row.values["controller_ip"] or "")):
        row.values["controller_ip"], row.values["controller_state"] = found["ip"], found["state"]
    if found := _DVS.search(row.block.command):
        row.values["dvs"] = found["dvs"]


_LIST = localcli_table(
    "nsx_vxlan_networks",
    "network vswitch dvs vmware vxlan network list",
    _LISTED,
    "",
    Field("VXLAN ID", "vni", "int", pattern=r"\w+"),
    Field("Multicast IP", "multicast", pattern=r"\S.*?"),
    Field("Control Plane", "control_plane", pattern=r"\S.*?"),
    Field("Controller Connection", "controller_ip", pattern=r"\S+ \([a-z]+\)|\S+"),
    Field("Port Count", "ports", "int"),
    Field("MAC Entry Count", "mac_entries", "int"),
    Field("ARP Entry Count", "arp_entries", "int"),
    row=r"\w+\s+(?:N/A\b|[\dXx*]+[.:])",
    finish=finish_row,
)


PARSER = replace(_LIST, tables=(NETWORK,))
