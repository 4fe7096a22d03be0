"""`esxcli system visorfs ramdisk list`: RAM disks of the host; a full one fails agents and logins."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "ramdisks",
    "system visorfs ramdisk list",
    "esxi.ramdisk",
    "RAM disks of the host: how full they are, blocks and inodes.",
    Key(
        "Ramdisk Name",
        "ramdisk",
        "str",
        "name: root, etc, opt, var, tmp, hostdstats, …",
        pattern=r"\S+",
    ),
    Field("System", "is_system", "bool", "made by the system"),
    Field("Include in Coredumps", "in_coredumps", "bool", "its content goes into dumps"),
    Field("Reserved", "reserved_kib", "int", "memory kept for it", "KiB", behind=" KiB"),
    Field("Maximum", "maximum_kib", "int", "most it may hold", "KiB", behind=" KiB"),
    Field("Used", "used_kib", "int", "what it holds", "KiB", behind=" KiB"),
    Field("Peak Used", "peak_kib", "int", "most it ever held", "KiB", behind=" KiB"),
    Field("Free", "ramdisk_free_pct", "int", "share of the most that is free", "%", behind=" %"),
    Field(
        "Reserved Free",
        "reserved_free_pct",
        "int",
        "share of what is kept for it that is free",
        "%",
        behind=" %",
    ),
    Field("Maximum Inodes", "maximum_inodes", "int", "most files", "inodes"),
    Field("Allocated Inodes", "allocated_inodes", "int", "files that there is room for", "inodes"),
    Field("Used Inodes", "used_inodes", "int", "files there are", "inodes"),
    Field(
        "Mount Point",
        "mount_point",
        "str",
        "path: /vmfs/volumes/…; none while it is not mounted",
        pattern=r"/\S*",
    ),
)
