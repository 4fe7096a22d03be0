"""Health of the disks of vSAN on this host: space, log space and congestion, which slows all writes of a disk group.

Source: `commands/python_usrlibvmwarevsanperfsvcVsanLsomHealthpyc.txt` of a bundle. Heaps of LSOM are there
as well; slabs and components have no table.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import lies_above
from analyzer.artefacts.tables import Block, Column, KeyColumn, Record, Row, Table, Value
from analyzer.forms import record_parser

_SOURCE = "VsanLsomHealth.pyc; commands/python_usrlibvmwarevsanperfsvcVsanLsomHealthpyc.txt"
_ASK = "`python /usr/lib/vmware/vsan/perfsvc/VsanLsomHealth.pyc`"
LOADS = Table.of(
    "esxi.vsan_disk_load",
    "Disks of vSAN: space and congestion (0 to 255; above 0 vSAN holds writes back).",
    f"{_SOURCE}; vsish -e get /vmkModules/lsom/disks/<vsan_uuid>/info",
    KeyColumn("vsan_uuid", "str", "id of the disk in vSAN"),
    Column("capacity_gb", "int", "size of the disk", "GB"),
    Column(
        "capacity_used_gb",
        "int",
        "what is used",
        "GB",
        sign=lies_above(0.8, of="capacity_gb", weight=3.5),
    ),
    Column("llog_mb", "int", "log space used by LLOG", "MB"),
    Column("plog_mb", "int", "log space used by PLOG", "MB"),
    Column("ssd_congestion", "int", "for want of write buffer"),
    Column("log_congestion", "int", "for want of log space"),
    Column("iops_congestion", "int", "for want of speed"),
    Column("slab_congestion", "int", "for want of slab memory"),
    Column("mem_congestion", "int", "for want of heap memory"),
    Column("comp_congestion", "int", "for want of room in a table of components"),
    ask=_ASK,
)
HEAPS = Table.of(
    "esxi.vsan_heap",
    "Heaps of vSAN's disk layer.",
    _SOURCE,
    KeyColumn("heap", "str", "name of the heap"),
    Column("heap_mb", "int", "its size", "MB"),
    Column("heap_free_pct", "int", "what is free", "%"),
    Column("heap_least_free_pct", "int", "least that was ever free", "%"),
    Column("failed_allocs", "int", "times memory was asked for in vain", "times"),
    ask=_ASK,
    counts_since="boot",
    gauges=("heap_mb", "heap_free_pct", "heap_least_free_pct"),
)


def read_record(block: Block, record: Record) -> Output:
    """Yield a heap, or a disk."""
    table = HEAPS if record.values["HEAP"] else LOADS
    values: dict[str, Value] = {}
    for column in table.columns:
        text = str(record.values.get(column.name.upper()) or "")
        if text:
            if column.kind == "int":
                values[column.name] = int(text)
            else:
                values[column.name] = text
        else:
            values[column.name] = None
    if table is HEAPS or values["capacity_gb"] is not None:  # components have a UUID as well
        yield Row(table, values, block, record.line)


PARSER = record_parser(
    "vsan_disk_loads",
    (LOADS, HEAPS),
    read_record,
    node="esxi",
    files=(r"(?:^|/)commands/python_usrlibvmwarevsanperfsvcVsanLsomHealthpyc\.txt$",),
    commands=(r"\bVsanLsomHealth\.pyc?\b",),
)
