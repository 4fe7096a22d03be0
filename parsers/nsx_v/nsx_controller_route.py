"""`show network route` of an NSX Controller: its routes.

Source: the output of a controller in a public walk through the setup of a controller (J. M. Rey, 2014).
"""

from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_route",
    "show network route",
    "nsx.controller_route",
    "Routes of an NSX Controller.",
    Key(
        "Prefix/Mask",
        "route",
        "str",
        "network routed to and length of its netmask; 0.0.0.0/0 is the default route",
    ),
    Field("Gateway", "next_hop", "str", "next hop; 0.0.0.0 for a connected network"),
    Field("Metric", "route_metric", "int", "metric of the route"),
    Field("MTU", "route_mtu", "str", "MTU of the route; intf for that of the interface"),
    Field("Iface", "interface", "str", "name of the interface: breth0"),
    typed=r"^\s*show network route",
    body=r"\d+\.\d+\.\d+\.\d+/\d+\s",
)
