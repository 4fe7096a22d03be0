"""`get tunnel-ports` on an NSX-T edge: tunnels to hosts and edges.

Source: a capture of `get tunnel-port` on an edge in public documentation.
"""

from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value
from analyzer.tables import IP_FORM

from ._nsxt import EDGE, UUID, answers

PARSER = key_value(
    "nsxt_tunnel_ports",
    "nsxt.tunnel_port",
    Key("Tunnel", "tunnel", "str", "id of the tunnel", pattern=UUID),
    Field("IFUID", "ifuid", "int", "number of the interface on the edge"),
    Field("LOCAL", "local_ip", "str", "own address", form=IP_FORM),
    Field("REMOTE", "remote_ip", "str", "address of the other end", form=IP_FORM),
    Field("ENCAP", "encapsulation", "str", "GENEVE, GRE, …"),
    meaning="Tunnels of an NSX-T edge.",
    source="get tunnel-ports; get tunnel-port",
    ask="`get tunnel-ports` on the edge",
    node=EDGE,
    commands=(r"^\s*get tunnel-ports?\s*$",),
    shape=rf"^\s*Tunnel\s*:\s*{UUID}\s*$",
    separator=r"\s*:\s*",
    ignored=r"[A-Z]{2,20}",
    begins="Tunnel",
    answers=answers,
)
