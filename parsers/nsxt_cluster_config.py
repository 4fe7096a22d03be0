"""`get cluster config` on an NSX-T manager: id and size of the management cluster, as it is configured.

Source: the installation guide of NSX-T (3.0 to 3.2), which shows the first three lines; what is printed of each node
below them is in no public source and is not read.
"""

from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value

from ._nsxt import MANAGER, UUID, answers

PARSER = key_value(
    "nsxt_cluster_config",
    "nsxt.cluster_config",
    Key("Cluster Id", "cluster_id", "str", "id of the management cluster, the same on all managers", pattern=UUID),
    Field("Cluster Configuration Version", "config_version", "int", "grows with each change"),
    Field("Number of nodes in the cluster", "cluster_nodes", "int", "managers that belong to it", "nodes"),
    meaning="The management cluster of NSX-T as it is configured.",
    source="get cluster config",
    ask="`get cluster config` on an NSX-T manager",
    node=MANAGER,
    commands=(r"^\s*get cluster config\s*$",),
    shape=rf"^\s*Cluster Id\s*:\s*{UUID}\s*$",
    body=r"^\s*(?:Cluster (?:Id|Configuration Version)|Number of nodes in the cluster)\s*:",
    answers=answers,
)
