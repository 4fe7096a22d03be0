"""`show control-cluster logical-routers bridge-mac`: MAC addresses that a bridge reported to the controller.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_bridge_mac",
    "show control-cluster logical-routers bridge-mac <lr-id> all",
    "nsx.controller_bridge_mac",
    "MAC addresses behind the bridges of the logical routers, as one NSX Controller knows them.",
    Key("LR-Id", "lr_id", "int", "number of the logical router", pattern=r"\S+"),
    Key("Bridge-Id", "bridge_id", "int", "number of the bridge", pattern=r"\S+"),
    Key("Mac", "mac", "str", "MAC address", form=MAC_FORM),
    Field("Vlan-Id", "vlan", "int", "VLAN it is in; 0 for a logical switch", pattern=r"\S+"),
    Field("Vxlan-Id", "vni", "int", "VXLAN network identifier; 0 for a VLAN", pattern=r"\S+"),
    Field("Port-Id", "port_id", "int", "port on the host", pattern=r"\S+"),
    Field("Source", "source", "str", "where it was learned: vxlan, vlan", pattern=r"[A-Za-z]\S*"),
    typed=r"^\s*show control-cluster logical-routers bridge-mac\b",
    body=r"\S+\s+\S+\s+\S{2}:\S+\s+\d",
)
