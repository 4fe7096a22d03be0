"""`esxcli storage vmfs extent list`: which device and partition holds each VMFS datastore."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "vmfs_extents",
    "storage vmfs extent list",
    "esxi.vmfs_extent",
    "Devices and partitions that VMFS datastores lie on.",
    Field("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Key("VMFS UUID", "volume_uuid", "str", "id of the volume", pattern=r"[0-9a-f]+-[0-9a-f-]+"),
    Key("Extent Number", "extent_number", "int", "number of the extent, from 0"),
    Field(
        "Device Name",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=r"\S+",
    ),
    Field("Partition", "partition", "int", "number of the partition"),
)
