"""`get nodes verbose` on an NSX-T manager: the nodes that are registered with the managers, a block each.

Source: the NSX CLI guide (4.0 to 9.0). Addresses are printed alone or as a list in brackets.
"""

from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value

from ..common._nsxt import DATED, MANAGER, UUID, name_refusals
from .nsxt_nodes import TABLE

PARSER = key_value(
    "nsxt_nodes_verbose",
    TABLE,
    Key("UUID", "node_uuid", "str", "", pattern=UUID),
    Field("Label", "node_kind"),
    Field("IPv4 Address|IPv4 Addresses", "addresses"),
    Field("Hostname/FQDN", "fqdn"),
    Field("Display Name", "node_name"),
    node=MANAGER,
    commands=(r"^\s*get nodes verbose\s*$",),
    begins="UUID",
    body=rf"^\s*(?:[A-Z][^:]{{0,70}}:.*|%.*|{DATED}|)$",
    answers=name_refusals,
)
