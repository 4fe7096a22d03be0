"""`show control-cluster logical-switches connection-table`: hosts connected for a logical switch.

Source: NSX Controller CLI (NSX for vSphere). Only the command tells the VNI.
"""

from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key, Param

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_host",
    "show control-cluster logical-switches connection-table <vni>",
    "nsx.controller_host",
    "Connections of hosts to an NSX Controller for one logical switch.",
    Param((), "vni", "int", "VXLAN network identifier, where the command tells"),
    Key("Host-IP", "host_ip", "str", "address of the host", form=IP_FORM),
    Field("Port", "port", "int", "TCP port of the host", pattern=r"\S+"),
    Field(
        "ID",
        "connection_id",
        "int",
        "number of the host's connection, as in the connection table",
        pattern=r"\S+",
    ),
    typed=r"^\s*show control-cluster logical-switches connection-table(?:\s+(?P<vni>\d+))?",
    body=r"\S+[.:*]\S*\s+\S+\s+\S+\s*$",
)
