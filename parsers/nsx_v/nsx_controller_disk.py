"""Status of one NSX Controller as the Manager reads it: uptime, load, memory, disk latency.

Source: REST `GET /api/2.0/vdn/controller/<id>/status` (NSX for vSphere 6.2.3 and later). Latencies are in
milliseconds, times in milliseconds since 1970.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import lies_above
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, convert_stamp, make_row, xml_shape
from ..common._xml import read_xml

NODE = Table.of(
    "nsx.controller_node",
    "Load, memory and uptime of one NSX Controller.",
    "GET /api/2.0/vdn/controller/<id>/status",
    KeyColumn("controller_id", "str", "controller-1, …"),
    Column("ip", "str", "address of the controller"),
    Column("uptime_s", "float", "time since the controller started", "s"),
    Column("load_1min", "float", "average load over one minute"),
    Column("load_5min", "float", "average load over five minutes"),
    Column("load_15min", "float", "average load over fifteen minutes"),
    Column("cpu_cores", "int", "processors of the controller", "cores"),
    Column("memory_total_kb", "int", "memory", "KB"),
    Column("memory_used_kb", "int", "memory in use, cache included", "KB"),
    Column("memory_cached_kb", "int", "memory used as cache", "KB"),
    Column("swap_kb", "int", "swap space", "KB"),
    Column("swap_in_use_kb", "int", "swap space in use", "KB"),
    Column("system_time", "time", "clock of the controller", "UTC"),
    Column("sync_time", "time", "clock at the last check of the controller", "UTC"),
    Column("failover_ready", "bool", "the node may fail without loss"),
    ask="`GET /api/2.0/vdn/controller/<id>/status` for each controller",
)

DISK = Table.of(
    "nsx.controller_disk",
    "Disk latency of one NSX Controller; needed: mean under 100 ms, peak write under 300 ms.",
    "GET /api/2.0/vdn/controller/<id>/status",
    KeyColumn("controller_id", "str", "controller-1, …"),
    KeyColumn("device", "str", "sda, dm-0, …"),
    KeyColumn("latency_type", "str", "w_await or r_await"),
    Column("last_ms", "float", "last latency", "ms", sign=lies_above(50, weight=3.5)),
    Column("avg_ms", "float", "average latency", "ms", sign=lies_above(50, weight=3.5)),
    Column("alert", "bool", "the Manager's alert is on"),
    Column("refreshed", "time", "when it was measured", "UTC"),
    ask="`GET /api/2.0/vdn/controller/<id>/status` for each controller",
)


def parse_block(block: Block) -> Output:
    """Read the status: one row for the node, one a disk and direction."""
    root, faults = read_xml(block, PARSER.name)
    for node in root.find("controllerNodeStatus"):
        for load in node.find("cpuLoadInfo"):
            interval = load.child("interval")
            if interval is not None and not interval.text.strip().isdigit():
                yield fault_at(
                    block, interval.line, PARSER.name, "the interval of a load is not a number"
                )
        loads = {}
        for load in node.children:
            if load.tag == "cpuLoadInfo":
                loads[load.get("interval")] = load.get("averageLoad")
        node_cells = {
            "controller_id": node.child("id"),
            "ip": node.child("ipAddress"),
            "uptime_s": node.child("upTime"),
            "load_1min": loads.get("1", ""),
            "load_5min": loads.get("5", ""),
            "load_15min": loads.get("15", ""),
            "cpu_cores": node.child("cpuCoreCount"),
            "memory_total_kb": node.child("totalMemory"),
            "memory_used_kb": node.child("usedMemory"),
            "memory_cached_kb": node.child("cachedMemory"),
            "swap_kb": node.child("totalSwap"),
            "swap_in_use_kb": node.child("usedSwap"),
            "system_time": convert_stamp(node.child("systemTime")),
            "sync_time": convert_stamp(node.child("syncTime")),
            "failover_ready": node.child("nodeFailoverReady"),
        }
        yield from make_row(NODE, block, node, node_cells)
        for disk in node.children:
            if disk.tag == "nodeDiskLatencyStatus":
                disk_cells = {
                    "controller_id": node.child("id"),
                    "device": disk.child("deviceName"),
                    "latency_type": disk.child("latencyType"),
                    "last_ms": disk.child("lastLatency"),
                    "avg_ms": disk.child("avgLatency"),
                    "alert": disk.child("alertEnabled"),
                    "refreshed": convert_stamp(disk.child("refreshTime")),
                }
                yield from make_row(DISK, block, disk, disk_cells)
    yield from faults


PARSER = Parser(
    name="nsx_controller_disk",
    tables=(NODE, DISK),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/2\.0/vdn/controller/[^/\s]+/status\b",),
    shape=xml_shape("controllerNodeStatus"),
    body=XML_BODY,
)
