"""`get tunnel-ports [stats]` on an NSX-T edge: tunnels to hosts and edges, and what they carried and dropped.

Source: a capture of `get tunnel-port` on an edge in public documentation, and the NSX CLI guide for the counters.
"""

from analyzer.artefacts.tables import IP_FORM
from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value

from ..common._nsxt import EDGE, UUID, name_refusals

PARSER = key_value(
    "nsxt_tunnel_ports",
    "nsxt.tunnel_port",
    Key("Tunnel", "tunnel", "str", "id of the tunnel", pattern=UUID),
    Field("IFUID", "ifuid", "int", "number of the interface on the edge"),
    Field("LOCAL", "local_ip", "str", "own address", form=IP_FORM),
    Field("REMOTE", "remote_ip", "str", "address of the other end", form=IP_FORM),
    Field("ENCAP", "encapsulation", "str", "GENEVE, GRE, …"),
    Field("RX-Packets", "rx_packets", "int", "packets received", "packets"),
    Field("TX-Packets", "tx_packets", "int", "packets sent", "packets"),
    Field("RX-Drops", "rx_dropped", "int", "received packets dropped", "packets"),
    Field("TX-Drops", "tx_dropped", "int", "packets dropped instead of sent", "packets"),
    Field(
        "No-Memory", "no_memory", "int", "packets dropped because there was no buffer", "packets"
    ),
    Field(
        "No-Route",
        "no_route",
        "int",
        "packets dropped because there was no route to the other end",
        "packets",
    ),
    meaning="Tunnels of an NSX-T edge; the counters are there where `stats` was asked for.",
    source="get tunnel-ports; get tunnel-port; get tunnel-ports stats",
    ask="`get tunnel-ports` on the edge",
    node=EDGE,
    commands=(rf"^\s*get tunnel-ports?(?: {UUID})?(?: stats)?\s*$",),
    shape=rf"^\s*Tunnel\s*:\s*{UUID}\s*$",
    separator=r"\s*:\s*",
    ignored=r"[A-Z][A-Za-z0-9 -]{1,30}",
    begins="Tunnel",
    counts_since="boot",
    answers=name_refusals,
)
