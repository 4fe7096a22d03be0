"""`show network interface NAME` of an NSX Controller: one network interface.

Source: the output of a controller in a public walk through the setup of a controller (J. M. Rey, 2014).
"""

from analyzer.forms import Field, Param
from analyzer.forms.blocks import key_value

from ..common._nsx import name_refusals
from .nsx_controller_interface import PARSER as ALL

PARSER = key_value(
    "nsx_controller_interface_detail",
    ALL.tables[0],
    Param((), "interface", "str", "name of the interface: breth0, eth0"),
    Field("Address", "address", "str", "address and length of the netmask; none where it has none"),
    Field("MTU", "mtu", "int", "MTU", unit="bytes"),
    Field("Admin-Status", "admin_up", "bool", "it is switched on", pattern=r"[A-Z]+"),
    Field("Link-Status", "link_up", "bool", "it has a link", pattern=r"[A-Z]+"),
    commands=(r"^\s*show network interface (?P<interface>[A-Za-z][\w.:-]*)\s*$",),
    node="nsx_controller",
    answers=name_refusals,
)
