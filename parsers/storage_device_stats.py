"""`esxcli storage core device stats get`: commands of each storage device, those that failed among them."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "storage_device_stats",
    "storage core device stats get",
    "esxi.storage_device_stats",
    "Commands of storage devices since the host booted, those that failed among them.",
    Key(
        "|Device",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=r"(?:naa|eui|t10|mpx|vml)\.\S+",
    ),
    Field("Successful Commands", "cmds_ok", "int", "commands that succeeded", "times"),
    Field("Blocks Read", "blocks_read", "int", "blocks read", "blocks"),
    Field("Blocks Written", "blocks_written", "int", "blocks written", "blocks"),
    Field("Read Operations", "read_ops", "int", "reads", "times"),
    Field("Write Operations", "write_ops", "int", "writes", "times"),
    Field("Reserve Operations", "reserve_ops", "int", "SCSI reservations asked for", "times"),
    Field(
        "Reservation Conflicts",
        "reservation_conflicts",
        "int",
        "commands refused for a reservation of another host",
        "times",
    ),
    Field("Failed Commands", "failed_cmds", "int", "commands that failed", "times"),
    Field("Failed Blocks Read", "failed_blocks_read", "int", "blocks whose reading failed", "blocks"),
    Field("Failed Blocks Written", "failed_blocks_written", "int", "blocks whose writing failed", "blocks"),
    Field("Failed Read Operations", "failed_read_ops", "int", "reads that failed", "times"),
    Field("Failed Write Operations", "failed_write_ops", "int", "writes that failed", "times"),
    Field("Failed Reserve Operations", "failed_reserve_ops", "int", "reservations that failed", "times"),
)
