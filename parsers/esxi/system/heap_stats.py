"""vsish `/system/heaps/<heap>/stats`: size and fill of a heap of the VMkernel.

The last part of the heap's name in the path is its address; the text names it as well. -1 is no limit.
"""

from analyzer.forms import Field, Key, Param, vsish_block

FIELDS = (
    Key("Name", "heap", "str", "name of the heap: vmfs3, netGPHeap"),
    Field("dynamically growable", "can_grow", "bool", "the heap grows on demand"),
    Field("lower memory PA limit", "lower_limit", "int", "lowest physical address allowed"),
    Field(
        "upper memory PA limit",
        "upper_limit",
        "int",
        "highest physical address allowed, -1 = no limit",
    ),
    Field("current heap size", "size_bytes", "int", "size of the heap now", "bytes"),
    Field("initial heap size", "initial_bytes", "int", "size it began with", "bytes"),
    Field("current bytes allocated", "used_bytes", "int", "bytes handed out", "bytes"),
    Field(
        "current bytes available",
        "available_bytes",
        "int",
        "bytes of the size now that are free",
        "bytes",
    ),
    Field("maximum heap size", "max_bytes", "int", "size it may grow to", "bytes"),
    Field(
        "maximum bytes available",
        "max_available_bytes",
        "int",
        "free bytes when it has grown to its maximum",
        "bytes",
    ),
    Field(
        "percent free of current size",
        "free_now_pct",
        "int",
        "share of the size now that is free",
        "%",
    ),
    Field(
        "percent free of max size", "free_max_pct", "int", "share of the maximum that is free", "%"
    ),
    Field(
        "lowest percent free of max size ever encountered",
        "lowest_free_max_pct",
        "int",
        "least share of the maximum that was ever free",
        "%",
    ),
)

PARSER = vsish_block(
    "heap_stats",
    "/system/heaps/<heap>/stats",
    "Heap stats",
    "esxi.heap",
    "Heaps of the VMkernel: a full one that cannot grow fails what needs it (VMFS, network).",
    Param(
        ("heap",),
        "heap",
        "str",
        "name of the heap: vmfs3, netGPHeap",
        r"[^/\s]+?",
        behind="(?:-0x[0-9a-f]+)?",
    ),
    *FIELDS,
)
