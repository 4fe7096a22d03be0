"""`esxcli hardware memory get`: physical memory and NUMA nodes of the host."""

from analyzer.forms import Field, get_block

PARSER = get_block(
    "hardware_memory",
    "hardware memory get",
    "esxi.memory",
    "Physical memory of the host.",
    Field(
        "Physical Memory",
        "physical_bytes",
        "int",
        "memory of the machine",
        "bytes",
        behind=" Bytes",
    ),
    Field(
        "Reliable Memory", "reliable_bytes", "int", "mirrored part of it", "bytes", behind=" Bytes"
    ),
    Field("NUMA Node Count", "numa_nodes", "int", "NUMA nodes", "nodes"),
    sign="Reliable Memory|NUMA Node Count",
)
