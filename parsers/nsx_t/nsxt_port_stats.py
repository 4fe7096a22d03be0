"""`get physical-port NAME stats [verbose]` on an NSX-T edge: packets of a port of the datapath, and what it dropped.

Source: the NSX CLI guide; meanings from the schema PhysicalPortStats of the REST API. The labels of a port are in the
order of the alphabet, so that TX_PACKETS ends it. What `verbose` prints of each queue below them is left out.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, alphabetic_parser

TABLE = Table.of(
    "nsxt.port_stats",
    "Counters of a port of an NSX-T edge's datapath since the edge or its datapath started.",
    "get physical-port <name> stats; get physical-port <name> stats verbose",
    KeyColumn("port_name", "str", "name of the port: fp-eth0"),
    Column("rx_packets", "int", "packets received", "packets"),
    Column("rx_bytes", "int", "bytes received", "bytes"),
    Column("rx_no_match", "int", "packets received that nothing waited for", "packets"),
    Column("rx_errors", "int", "all errors of receiving", "times"),
    Column(
        "rx_missed_errors", "int", "frames missed for want of a descriptor: ring too small", "times"
    ),
    Column(
        "rx_no_buffer",
        "int",
        "packets received and dropped as no packet buffer was free",
        "packets",
    ),
    Column("tx_packets", "int", "packets sent", "packets"),
    Column("tx_bytes", "int", "bytes sent", "bytes"),
    Column("tx_dropped", "int", "frames dropped on the way out", "packets"),
    Column("tx_errors", "int", "all errors of sending", "times"),
    ask="`get physical-port <name> stats` on the edge; `get physical-ports` lists the names",
    counts_since="boot",
)
_LABELS = {
    "NAME": "port_name", "RX_BYTES": "rx_bytes", "RX_DROP_NO_MATCH": "rx_no_match", "RX_ERRORS": "rx_errors",
    "RX_MISSES": "rx_missed_errors", "RX_NOMBUFS": "rx_no_buffer", "RX_PACKETS": "rx_packets", "TX_BYTES": "tx_bytes",
    "TX_DROPS": "tx_dropped", "TX_ERRORS": "tx_errors", "TX_PACKETS": "tx_packets",
}  # fmt: skip
_QUEUES = r"id\s+rx_bytes\b|\d+(?:\s+\d+){3,12}\s*$"
PARSER = alphabetic_parser(
    "nsxt_port_stats",
    TABLE,
    _LABELS,
    "TX_PACKETS",
    rf"(?:Physical Port Stats\s*$|{_QUEUES})",
    node=EDGE,
    commands=(r"^\s*get physical-port \S+ stats(?: verbose)?\s*$",),
    shape=r"^\s*Physical Port Stats\s*$",
    body=rf"^\s*(?:Physical Port Stats\s*$|[A-Z][A-Z_]{{1,40}}\s*:|{_QUEUES}|%|{DATED})",
)
