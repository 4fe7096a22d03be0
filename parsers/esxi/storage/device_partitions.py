"""`esxcli storage core device partition list`: partitions of each storage device; partition 0 is the device itself.

The text prints the type in hex, the JSON may print a number: what it is is in `partition showguid`.
"""

from analyzer.forms import Field, Key, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "device_partitions",
    "storage core device partition list",
    "esxi.device_partition",
    "Partitions of storage devices.",
    DEVICE_CELL,
    Key("Partition", "partition", "int", "number of the partition"),
    Field("Start Sector", "start_sector", "int", "its first sector", "sectors"),
    Field("End Sector", "end_sector", "int", "its last sector", "sectors"),
    Field("Type", pattern=r"[0-9a-f]+"),
    Field("Size", "size_bytes", "int", "bytes", "bytes"),
)
