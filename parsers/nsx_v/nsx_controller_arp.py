"""`show control-cluster logical-switches arp-table` and `arp-records`: addresses of VMs that hosts reported.

Source: NSX Controller CLI (NSX for vSphere), as captured on 6.1 and 6.2. This is the cache of ARP suppression, not the
neighbour table of a logical router.
"""

from analyzer.artefacts.tables import IP_FORM, MAC_FORM
from analyzer.forms import Field, Key

from ..common._nsx import CONNECTION, VNI, controller_table

PARSER = controller_table(
    "nsx_controller_arp",
    "show control-cluster logical-switches arp-table <vni>",
    "nsx.controller_arp",
    "IP addresses of VMs on a logical switch with their MAC address, as one NSX Controller knows them.",
    VNI,
    Key("IP", "ip", "str", "address of the VM", form=IP_FORM),
    Field("MAC", "mac", "str", "MAC address of the VM", form=MAC_FORM),
    CONNECTION,
    typed=r"^\s*show control-cluster logical-switches arp-(?:table|records)\b",
    body=r"\S+\s+\S+[.:*]\S+\s+\S+:",
)
