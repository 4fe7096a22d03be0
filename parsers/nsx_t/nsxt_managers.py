"""`get managers` of an NSX-T node: its connections to the managers.

Source: the NSX CLI guide (`- 10.1.1.101 Connected`). Releases add words behind the state, which are kept as printed.
"""

from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key, text_table

from ..common._nsxt import name_refusals

PARSER = text_table(
    "nsxt_managers",
    "nsxt.manager_channel",
    Field("", pattern="-"),
    Key("", "manager_ip", "str", "manager that the node is connected to", form=IP_FORM),
    Field(
        "",
        "channel_state",
        "str",
        "Connected, Disconnected, Standby, …",
        pattern=r"[A-Z][a-z]+",
        sign=says_good("up", "connected", "standby"),
    ),
    Field(
        "",
        "channel_detail",
        "str",
        "what is printed behind it: (NSX-RPC) *",
        pattern=r"\S.*?",
        maybe=True,
    ),
    meaning="Connections of an NSX-T node (edge, host, manager) to the managers.",
    source="get managers",
    ask="`get managers` on the node",
    node="",
    commands=(r"^\s*(?:nsxcli -c [\"']?)?get managers[\"']?\s*$",),
    body=r"-\s+[\w.:*-]+\s+[A-Z][a-z]+",
    heading=r"-{5,}",
    answers=name_refusals,
    shape=r"^\s*-\s+[\w.:*-]+[.:][\w.:*]+\s+(?:Connected|Disconnected|Standby)\b",
)
