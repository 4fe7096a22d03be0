"""`esxcli storage core device partition showguid`: layout and type of each partition by its GUID."""

from analyzer.forms import Field, Key, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "partition_guids",
    "storage core device partition showguid",
    "esxi.partition_guid",
    "Partition tables: GPT or MBR, and what each partition is for.",
    DEVICE_CELL,
    Key("Partition", "partition", "int", "number of the partition"),
    Field("Layout", "partition_layout", "str", "GPT or MBR", pattern=r"\S+"),
    Field(
        "GUID",
        "partition_guid",
        "str",
        "what it is for, 32 hex digits; AA31E02A400F11DB9590000C2911D1B8: VMFS",
        pattern=r"\S+",
    ),
)
