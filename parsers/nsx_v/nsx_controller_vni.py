"""`show control-cluster logical-switches vni` and `joined-vnis`: logical switches of an NSX Controller.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_vni",
    "show control-cluster logical-switches vni <vni>",
    "nsx.controller_vni",
    "Logical switches as one NSX Controller knows them: who serves them, how many hosts joined.",
    Key("VNI", "vni", "int", "VXLAN network identifier", pattern=r"\S+"),
    Field(
        "Controller",
        "controller_ip",
        "str",
        "controller that serves the logical switch",
        form=IP_FORM,
    ),
    Field(
        "BUM-Replication",
        "bum_replication",
        "bool",
        "the controller replicates broadcast, unknown unicast and multicast",
        pattern=r"[A-Za-z]+",
    ),
    Field("ARP-Proxy", "arp_proxy", "bool", "the controller answers ARP", pattern=r"[A-Za-z]+"),
    Field(
        "Connections",
        "connections",
        "int",
        "open connections of hosts",
        unit="connections",
        pattern=r"\S+",
    ),
    Field("VTEPs", "vteps", "int", "VTEPs that joined", unit="VTEPs", pattern=r"\S+", maybe=True),
    typed=r"^\s*show control-cluster logical-switches (?:vni|joined-vnis)\b",
    body=r"\S+\s+\S+\s+[A-Z]\w+\s+[A-Z]\w+\s+\d",
)
