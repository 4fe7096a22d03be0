"""`get nodes` on an NSX-T manager: the nodes that are registered with the managers, one a line.

Source: the NSX CLI guide (3.2 to 9.0).
"""

from analyzer.forms import Field, Key, text_table
from analyzer.forms.columns import make_table

from ..common._nsxt import DATED, MANAGER, UUID, name_refusals

_FIELDS = (
    Key("", "node_uuid", "str", "id of the node", pattern=UUID),
    Field(
        "",
        "node_kind",
        "str",
        "ctl, edg, esx, mgr; of verbose Manager, Edge, ESX",
        pattern=r"[a-z]{2,5}",
    ),
    Field("", "node_name", "str", "its name, where that is printed", pattern=r"\S.*?"),
)
_MORE = (
    Field("", "addresses", "str", "addresses as printed, where the command is verbose"),
    Field("", "fqdn", "str", "name of the node in DNS, where the command is verbose"),
)
TABLE = make_table(
    "nsxt.registered_node",
    "Nodes that are registered with the managers of NSX-T: managers, edges, hosts.",
    "get nodes; get nodes verbose",
    "`get nodes` on an NSX-T manager",
    (*_FIELDS, *_MORE),
)

PARSER = text_table(
    "nsxt_nodes",
    TABLE,
    *_FIELDS,
    node=MANAGER,
    commands=(r"^\s*get nodes\s*$",),
    body=rf"(?:{UUID}\s+[a-z]{{2,5}}\s|{DATED})",
    heading=r"-{5,}",
    shape=rf"^\s*{UUID}\s+(?:ctl|edg|esx|mgr)\s+\S",
    answers=name_refusals,
)
