"""`esxcli system coredump partition get`: the partition that a crash (PSOD) of the host is dumped to."""

from ._coredump import make_dump_target

PARSER = make_dump_target(
    "coredump_partition_get",
    "system coredump partition get",
    "esxi.coredump_partition_target",
    "The dump partition in use and the one that is set.",
)
