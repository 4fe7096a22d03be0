"""`esxcli system coredump file get`: the dump file that a crash (PSOD) of the host is written to."""

from ._coredump import make_dump_target

PARSER = make_dump_target(
    "coredump_file_get",
    "system coredump file get",
    "esxi.coredump_file_target",
    "The dump file in use and the one that is set.",
)
