"""`get services` and `get service NAME` of an NSX-T node: each service and whether it runs.

Source: the NSX CLI guide. Settings of a service (rate limits, login of root) are printed below it and not kept.
"""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value

from ..common._nsxt import name_refusals

PARSER = key_value(
    "nsxt_services",
    "nsxt.service",
    Key(
        "Service name",
        "service_name",
        "str",
        "auth, http, manager, node-mgmt, datastore, …",
        pattern=r"\S+",
    ),
    Field(
        "Service state", "service_state", "str", "running, stopped, …", sign=says_good("running")
    ),
    Field(
        "Start on boot", "start_on_boot", "bool", "it starts with the node, where that is printed"
    ),
    Field(
        "Enabled on", "enabled_on", "str", "address of the node that runs it, where only one does"
    ),
    meaning="Services of an NSX-T node.",
    source="get services",
    ask="`get services` on the node",
    node="",
    commands=(r"^\s*get services\s*$", r"^\s*get service \S+\s*$"),
    shape=r"^\s*Service name:\s+\S+\s*$",
    body=r"^\s*(?:[A-Z][A-Za-z -]{2,60}:(?:\s|$)|%)",
    begins="Service name",
    answers=name_refusals,
)
