"""`get controllers` of an NSX-T edge or host: its connection to the controllers that the managers hold.

Source: the NSX CLI guide (3.2 and later). A node is connected to one of them; the others are "not used". A name or an
address that is not known is `NA`.
"""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key, text_table

from ..common._nsxt import EDGE, name_refusals

PARSER = text_table(
    "nsxt_controllers",
    "nsxt.controller_channel",
    Key(
        "Controller IP",
        "controller_ip",
        "str",
        "address of the controller",
        pattern=r"[\w.:*]+",
    ),
    Field("Port", "port", "int", "TCP port: 1235, before 3.0 1234"),
    Field("SSL", "ssl_state", "str", "enabled", pattern=r"\w+"),
    Field(
        "Status",
        "channel_state",
        "str",
        "connected, disconnected, not used",
        pattern=r"not used|\w+",
        sign=says_good("up", "connected", "not used"),
    ),
    Field(
        "Is Physical Master",
        "is_master",
        "bool",
        "the controller that serves this node",
        pattern=r"true|false",
    ),
    Field(
        "Session State",
        "session_state",
        "str",
        "up, down; null where the controller is not used",
        pattern=r"\w+",
        none=("null",),
        sign=says_good("up", "null"),
    ),
    Field(
        "Controller FQDN",
        "controller_fqdn",
        "str",
        "name of the controller",
        pattern=r"\S+",
        none=("NA",),
    ),
    Field(
        "Failure Reason",
        "failure_reason",
        "str",
        "CONTROLLER_REJECTED_HOST_CERT, …",
        pattern=r"\S+",
        none=("NA",),
        maybe=True,
    ),
    meaning="Connections of an NSX-T edge or host to the controllers.",
    source="get controllers",
    ask="`get controllers` on the node",
    node=EDGE,
    commands=(r"^\s*(?:nsxcli -c [\"']?)?get controllers[\"']?\s*$",),
    body=r"(?:NA|[\w.:*]+[.:][\w.:*]+)\s+\d+\s+\w+\s",
    heading=r"Controller IP\s+Port\s+SSL\s+Status",
    shape=r"^\s*Controller IP\s+Port\s+SSL\s+Status\s+Is Physical Master",
    answers=name_refusals,
)
