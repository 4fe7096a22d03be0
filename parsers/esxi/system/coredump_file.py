"""`esxcli system coredump file list`: dump files for a crash (PSOD) of the host, and which one is active."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "coredump_file",
    "system coredump file list",
    "esxi.coredump_file",
    "Dump files on datastores; without an active target a crash leaves no dump.",
    Key("Path", "dump_path", "str", "path of the dump file", pattern=r"/\S+"),
    Field("Active", "dump_active", "bool", "a crash is written there"),
    Field("Configured", "dump_configured", "bool", "set as target"),
    Field("Size", "dump_bytes", "int", "size of the file", "bytes"),
)
