"""`show network interface` of an NSX Controller: its network interfaces.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_interface",
    "show network interface",
    "nsx.controller_interface",
    "Network interfaces of an NSX Controller.",
    Key(
        "Interface",
        "interface",
        "str",
        "name of the interface: breth0, eth0",
        pattern=r"[A-Za-z][\w.:-]*",
    ),
    Field(
        "Address/Netmask",
        "address",
        "str",
        "address and length of the netmask; none where it has none",
        pattern=r"\S+/\S+",
        maybe=True,
    ),
    Field("MTU", "mtu", "int", "MTU", unit="bytes", pattern=r"\S+"),
    Field("Admin-Status", "admin_up", "bool", "it is switched on", pattern=r"[A-Z]+"),
    Field("Link-Status", "link_up", "bool", "it has a link", pattern=r"[A-Z]+"),
    typed=r"^\s*show network interfaces?\s*$",
    body=r"[A-Za-z][\w.:-]*\s.*\b(?:UP|DOWN|UNKNOWN)\s*$",
)
