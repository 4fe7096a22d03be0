"""`show control-cluster logical-switches vtep-table` and `vtep-records`: VTEPs that joined a logical switch.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.artefacts.tables import IP_FORM, MAC_FORM
from analyzer.forms import Field, Key

from ..common._nsx import CONNECTION, VNI, controller_table

PARSER = controller_table(
    "nsx_controller_vtep",
    "show control-cluster logical-switches vtep-table <vni>",
    "nsx.controller_vtep",
    "VTEPs of the hosts that joined a logical switch, as one NSX Controller knows them.",
    VNI,
    Key("IP", "ip", "str", "address of the VTEP", form=IP_FORM),
    Field("Segment", "segment", "str", "network of the VTEP", form=IP_FORM),
    Field("MAC", "mac", "str", "MAC address of the VTEP", form=MAC_FORM),
    CONNECTION,
    typed=r"^\s*show control-cluster logical-switches vtep-(?:table|records)\b",
    body=r"\S+\s+\S+[.:*]\S+\s+\S+[.:*]\S+\s+\S+:",
)
