"""`esxcli storage nmp psp roundrobin deviceconfig get`: after how many commands or bytes a device changes its path."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "round_robin",
    "storage nmp psp roundrobin deviceconfig get",
    "esxi.round_robin",
    "Round robin of a storage device: when it takes the next path.",
    Field("Byte Limit", "path_byte_limit", "int", "bytes before the next path", "bytes"),
    Key("Device", "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Field(
        "IOOperation Limit",
        "path_iops_limit",
        "int",
        "commands before the next path, 1000 by default",
        "commands",
    ),
    Field(
        "Latency Evaluation Interval",
        "latency_interval_ms",
        "int",
        "time between two rounds (6.7)",
        "ms",
        behind=" milliseconds",
    ),
    Field("Limit Type", "path_limit_type", "str", "Default, Iops, Bytes, Latency"),
    Field(
        "Use Active Unoptimized Paths",
        "uses_unoptimized",
        "bool",
        "paths over the other controller are used too",
    ),
    begins="Byte Limit",
    sign="IOOperation Limit|Use Active Unoptimized Paths",
)
