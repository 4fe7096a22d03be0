"""`get dataplane cpu stats [verbose]` on an NSX-T edge: how busy each core of the datapath is.

Source: the NSX CLI guide. The labels of a core are in the order of the alphabet, so that "Usage" ends it. A core that
polls is busy without traffic: the usage is that of packets, not of the processor.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, alphabetic_parser

TABLE = Table.of(
    "nsxt.edge_core",
    "Cores of an NSX-T edge that forward packets, and how busy each is.",
    "get dataplane cpu stats; get dataplane cpu stats verbose",
    KeyColumn("core", "int", "number of the core"),
    Column("core_type", "str", "datapath_core, controlpath_core, where that is printed"),
    Column("core_used_pct", "float", "share of the core that packets take", "%"),
    Column("rx_rate", "str", "packets received, as printed: 1200 pps"),
    Column("tx_rate", "str", "packets sent, as printed"),
    Column("slowpath_rate", "str", "packets that took the slow path, as printed"),
    ask="`get dataplane cpu stats verbose` on the edge",
)
_LABELS = {
    "Core": "core", "Cpu_type": "core_type", "Usage": "core_used_pct", "Rx": "rx_rate", "Tx": "tx_rate",
    "Slowpath": "slowpath_rate",
}  # fmt: skip
PARSER = alphabetic_parser(
    "nsxt_dataplane_cpu",
    TABLE,
    _LABELS,
    "Usage",
    r"CPU Usage$",
    node=EDGE,
    commands=(r"^\s*get dataplane cpu stats(?: verbose)?\s*$",),
    shape=r"^\s*CPU Usage\s*$",
    body=rf"^\s*(?:CPU Usage\s*$|[A-Z][A-Za-z_/ -]{{1,40}}?\s*:(?:\s|$)|%|{DATED})",
)
