"""`get bfd-sessions` on an NSX-T edge: BFD sessions of tunnels, of peer edges and of neighbours of a gateway.

Source: the NSX CLI guide, and an output in a public document. Labels are words with underscores; a release prints more
of them than another.
"""

from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key, Param
from analyzer.forms.blocks import key_value

from ..common._nsxt import EDGE, name_refusals

PARSER = key_value(
    "nsxt_bfd_sessions",
    "nsxt.bfd_session",
    Param(("gateway",), "router", "str", "id of the gateway, where the command names it"),
    Key(
        "Local_address",
        "local_ip",
        "str",
        "own address: a tunnel end point, an uplink",
        form=IP_FORM,
    ),
    Key("Remote_address", "remote_ip", "str", "address of the other end", form=IP_FORM),
    Field("State", "bfd_session_state", "str", "up, down, init, admin_down", sign=says_good("up")),
    Field(
        "Diag",
        "bfd_diag",
        "str",
        "why it last went down: No Diagnostic, Control Detection Time Expired, …",
    ),
    Field(
        "Remote_state", "remote_state", "str", "state the other end reports", sign=says_good("up")
    ),
    Field("Remote_diag", "remote_diag", "str", "why it last went down, as the other end reports"),
    Field("Encap", "encapsulation", "str", "geneve for tunnels, vlan for uplinks"),
    Field("Session_type", "session_type", "str", "TUNNEL, LR_PORT, MGMT, …"),
    Field(
        "Last_down_time",
        "last_down",
        "str",
        "time of the last change to down, as the node prints it",
    ),
    Field("Last_up_time", "last_up", "str", "time of the last change to up, as the node prints it"),
    Field("Rx_interval", "rx_interval_ms", "int", "interval in which packets are awaited", "ms"),
    Field("Tx_interval", "tx_interval_ms", "int", "interval in which packets are sent", "ms"),
    meaning="BFD sessions of an NSX-T edge: tunnels to hosts and edges, neighbours of gateways.",
    source="get bfd-sessions",
    ask="`get bfd-sessions` on the edge",
    node=EDGE,
    commands=(
        r"^\s*get bfd-sessions\s*$",
        r"^\s*get bfd-session local-ip\s",
        r"^\s*get gateway (?:(?P<router>\S+) )?bfd-sessions\s*$",
    ),
    shape=r"^\s*BFD Session\s*$",
    body=r"^\s*(?:BFD Session\s*$|[A-Z][A-Za-z_-]{2,40}\s*:(?:\s|$)|\. \. \.|%)",
    separator=r"\s*:\s*",
    head="BFD Session",
    answers=name_refusals,
)
