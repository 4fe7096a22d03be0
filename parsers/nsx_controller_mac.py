"""`show control-cluster logical-switches mac-table` and `mac-records`: MAC addresses of a logical switch.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.forms import Field, Key
from analyzer.tables import IP_FORM, MAC_FORM

from ._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_mac",
    "show control-cluster logical-switches mac-table <vni>",
    "nsx.controller_mac",
    "MAC addresses of a logical switch and the VTEP behind which each is, as one NSX Controller knows them.",
    Key("VNI", "vni", "int", "VXLAN network identifier", pattern=r"\S+"),
    Key("MAC", "mac", "str", "MAC address", form=MAC_FORM),
    Field(
        "VTEP-IP",
        "vtep_ip",
        "str",
        "address of the VTEP behind which it is",
        form=IP_FORM,
    ),
    Field(
        "Connection-ID",
        "connection_id",
        "int",
        "number of the host's connection, as in the connection table",
        pattern=r"\S+",
    ),
    typed=r"^\s*show control-cluster logical-switches mac-(?:table|records)\b",
    body=r"\S+\s+\S{2}:\S+\s+\S+[.:*]",
)
