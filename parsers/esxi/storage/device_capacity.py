"""`esxcli storage core device capacity list`: block sizes of each storage device; 4Kn disks need software emulation."""

from analyzer.forms import Field, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "device_capacity",
    "storage core device capacity list",
    "esxi.device_capacity",
    "Block sizes and capacity of storage devices.",
    DEVICE_CELL,
    Field("Physical Blocksize", "physical_block_bytes", "int", "block of the medium", "bytes"),
    Field(
        "Logical Blocksize",
        "logical_block_bytes",
        "int",
        "block the device takes commands for",
        "bytes",
    ),
    Field(
        "Logical Block Count",
        "logical_blocks",
        "int",
        "size of the device; 0 without a medium",
        "blocks",
    ),
    Field("Size", "size_mib", "int", "size of the device", "MiB", behind=" MiB"),
    Field("Format Type", "format_type", "str", "512n, 512e, 4Kn SWE, Unknown"),
)
