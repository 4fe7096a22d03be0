"""vsish `/storage/scsifw/devices/<device>/stats`: commands, blocks and reservations of a storage device.

The device is in the path of the command alone.
"""

from analyzer.artefacts.signs import counts_loss
from analyzer.forms import Field, Param, vsish_block

PARSER = vsish_block(
    "scsi_device_stats",
    "/storage/scsifw/devices/<device>/stats",
    "Statistics",
    "esxi.scsi_device_stats",
    "Counters of a storage device: commands, blocks, reservations.",
    Param(
        ("device",),
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        r"[^/\s]+",
    ),
    Field("commands", "cmds", "int", "commands", "times"),
    Field("blocksRead", "blocks_read", "int", "blocks read", "blocks"),
    Field("blocksWritten", "blocks_written", "int", "blocks written", "blocks"),
    Field("readOps", "read_ops", "int", "reads", "times"),
    Field("writeOps", "write_ops", "int", "writes", "times"),
    Field("reserveOps", "reserve_ops", "int", "SCSI reservations asked for", "times"),
    Field(
        "reservationConflicts",
        "reservation_conflicts",
        "int",
        "commands refused for a reservation of another host",
        "times",
        sign=counts_loss("cmds"),
    ),
    Field("total cmds split", "cmds_split", "int", "commands that were split", "times"),
    Field("total pae cmds", "cmds_pae", "int", "commands counted as PAE", "times"),
    shaped=False,
    counts_since="boot",
)
