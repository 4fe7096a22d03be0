"""`get dataplane memory stats` on an NSX-T edge: the pools of packet buffers, and what is left of each.

Source: the NSX CLI guide. The labels of a pool are in the order of the alphabet, so that "Size" ends it; those of its
cache per core stand between and are left out.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, alphabetic_parser

TABLE = Table.of(
    "nsxt.edge_mempool",
    "Pools of packet buffers of an NSX-T edge.",
    "get dataplane memory stats",
    KeyColumn("pool", "str", "name of the pool: mbuf_pool_socket_0, sp_pktmbuf_pool, …"),
    Column("pool_free", "int", "entries that are free", "entries"),
    Column("pool_size", "int", "entries of the pool", "entries"),
    ask="`get dataplane memory stats` on the edge",
)
_LABELS = {"Available_entries": "pool_free", "Name": "pool", "Size": "pool_size"}
PARSER = alphabetic_parser(
    "nsxt_dataplane_memory",
    TABLE,
    _LABELS,
    "Size",
    r"(?:Memory Usage|Per_core_cache)$",
    node=EDGE,
    commands=(r"^\s*get dataplane memory stats\s*$",),
    shape=r"^\s*Memory Usage\s*$",
    body=rf"^\s*(?:Memory Usage\s*$|Per_core_cache\s*$|[A-Z][A-Za-z_/ -]{{1,40}}?\s*:(?:\s|$)|%|{DATED})",
)
