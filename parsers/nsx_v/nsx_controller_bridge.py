"""`show control-cluster logical-routers bridges`: which host bridges for a logical router.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_controller_bridge",
    "show control-cluster logical-routers bridges <lr-id> all",
    "nsx.controller_bridge",
    "Bridges of the logical routers and the host each is active on.",
    Key("LR-Id", "lr_id", "int", "number of the logical router", pattern=r"\S+"),
    Key("Bridge-Id", "bridge_id", "int", "number of the bridge", pattern=r"\S+"),
    Key("Host", "host_ip", "str", "host that has the bridge", form=IP_FORM),
    Field("Active", "active", "bool", "the bridge is active on this host", pattern=r"[A-Za-z]+"),
    typed=r"^\s*show control-cluster logical-routers bridges\b",
    body=r"\S+\s+\S+\s+\S+[.:*]\S*\s+[a-z]+\s*$",
)
