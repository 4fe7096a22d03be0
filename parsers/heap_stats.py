"""vsish `/system/heaps/<heap>/stats`: size and fill of a heap of the VMkernel.

The last part of the heap's name in the path is its address; the text names it as well. -1 is no limit.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import body

TABLE = Table(
    name="esxi.heap",
    meaning="Heaps of the VMkernel: a full one that cannot grow fails what needs it (VMFS, network).",
    source="vsish -e get /system/heaps/<heap>/stats",
    ask="`vsish -e get /system/heaps/<heap>/stats`",
    key=("heap",),
    columns=(
        Column("heap", "str", "name of the heap: vmfs3, netGPHeap"),
        Column("can_grow", "bool", "the heap grows on demand"),
        Column("lower_limit", "int", "lowest physical address allowed"),
        Column("upper_limit", "int", "highest physical address allowed, -1 = no limit"),
        Column("size_bytes", "int", "size of the heap now", "bytes"),
        Column("initial_bytes", "int", "size it began with", "bytes"),
        Column("used_bytes", "int", "bytes handed out", "bytes"),
        Column("available_bytes", "int", "bytes of the size now that are free", "bytes"),
        Column("max_bytes", "int", "size it may grow to", "bytes"),
        Column("max_available_bytes", "int", "free bytes when it has grown to its maximum", "bytes"),
        Column("free_now_pct", "int", "share of the size now that is free", "%"),
        Column("free_max_pct", "int", "share of the maximum that is free", "%"),
        Column("lowest_free_max_pct", "int", "least share of the maximum that was ever free", "%"),
    ),
)


def parse(block: Block) -> Output:
    """Read one or more dumps: one row a heap."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="heap_stats",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(r"\b(?:get|cat)\s+\S*?/system/heaps/(?P<heap>[^/\s]+?)(?:-0x[0-9a-f]+)?/stats\b",),
    shape=r"^\s*Heap stats \{\s*$",
    body=body("Heap stats"),
)
