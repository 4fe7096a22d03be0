"""`esxcli system coredump partition list`: partitions that can take the dump of a crash (PSOD)."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "coredump_partition",
    "system coredump partition list",
    "esxi.coredump_partition",
    "Diagnostic partitions, one row a partition.",
    Key(
        "Name",
        "dump_partition",
        "str",
        "device and number of the partition: naa.…:7",
        pattern=r"\S+:\d+",
    ),
    Field("Path", "dump_path", "str", "path of the partition", pattern=r"/\S+"),
    Field("Active", "dump_active", "bool", "a crash is written there"),
    Field("Configured", "dump_configured", "bool", "set as target"),
)
