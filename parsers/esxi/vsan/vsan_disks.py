"""`esxcli vsan storage list`: disks of vSAN on this host; one that is not in CMMDS serves no data."""

from analyzer.forms import Field, get_blocks

from ..storage._scsi import DEVICE

PARSER = get_blocks(
    "vsan_disks",
    "vsan storage list",
    "esxi.vsan_disk",
    "Disks that vSAN uses on this host: disk group, tier, and whether they serve.",
    DEVICE,
    Field("Is SSD", "is_ssd", "bool", "the device says that it has no disks that turn"),
    Field("VSAN UUID|vSAN UUID", "vsan_uuid", "str", "id of the disk in vSAN"),
    Field("VSAN Disk Group UUID|vSAN Disk Group UUID", "disk_group_uuid", "str", "its disk group"),
    Field(
        "VSAN Disk Group Name|vSAN Disk Group Name",
        "disk_group",
        "str",
        "cache device of the group",
    ),
    Field("Used by this host", "used_by_host", "bool", "this host uses it"),
    Field("In CMMDS", "in_cmmds", "bool", "the cluster knows it: it serves data"),
    Field("On-disk format version", "disk_format", "int", "version of the format on disk"),
    Field("Deduplication", "deduplication", "bool", "data is kept once"),
    Field("Compression", "compression", "bool", "data is pressed"),
    Field("Checksum OK", "checksum_ok", "bool", "the metadata has its right checksum"),
    Field("Is Capacity Tier", "is_capacity_tier", "bool", "it holds data; a cache device does not"),
    Field("Encryption", "encrypted", "bool", "data is encrypted"),
    Field("Is Mounted", "mounted", "bool", "it is mounted"),
    sign="VSAN Disk Group UUID|vSAN Disk Group UUID",
)
