"""`esxcli storage core device stats get`: commands of each storage device, those that failed among them."""

from analyzer.forms import get_blocks

from ._scsi import COMMANDS, DEVICE

PARSER = get_blocks(
    "storage_device_stats",
    "storage core device stats get",
    "esxi.storage_device_stats",
    "Commands of storage devices since the host booted, those that failed among them.",
    DEVICE,
    *COMMANDS,
    counts_since="boot",
    sign="Successful Commands",
)
