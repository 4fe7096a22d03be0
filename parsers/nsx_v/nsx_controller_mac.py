"""`show control-cluster logical-switches mac-table` and `mac-records`: MAC addresses of a logical switch.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.artefacts.tables import IP_FORM, MAC_FORM
from analyzer.forms import Field, Key

from ..common._nsx import CONNECTION, VNI, controller_table

PARSER = controller_table(
    "nsx_controller_mac",
    "show control-cluster logical-switches mac-table <vni>",
    "nsx.controller_mac",
    "MAC addresses of a logical switch and the VTEP behind which each is, as one NSX Controller knows them.",
    VNI,
    Key("MAC", "mac", "str", "MAC address", form=MAC_FORM),
    Field("VTEP-IP", "vtep_ip", "str", "address of the VTEP behind which it is", form=IP_FORM),
    CONNECTION,
    typed=r"^\s*show control-cluster logical-switches mac-(?:table|records)\b",
    body=r"\S+\s+\S{2}:\S+\s+\S+[.:*]",
)
