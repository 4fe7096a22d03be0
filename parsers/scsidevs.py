"""`esxcfg-scsidevs -l`: storage devices with type, size, plugin, model and state.

Source: `commands/esxcfg-scsidevs_-l.txt` or the command. Several keys share a line; copies from a blog lose the
indents, so that only the form of its name tells where a device begins.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.scsi_device",
    meaning="Storage devices of the host.",
    source="esxcfg-scsidevs -l; commands/esxcfg-scsidevs_-l.txt",
    ask="`esxcfg-scsidevs -l`",
    key=("storage_device",),
    columns=(
        Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
        Column("device_type", "str", "Direct-Access for a disk, CD-ROM, …"),
        Column("size_mb", "int", "size of the device", "MB"),
        Column("display_name", "str", "name shown to the administrator"),
        Column("plugin", "str", "multipath plugin that owns it: NMP"),
        Column("vendor_name", "str", "vendor as the device states it"),
        Column("model", "str", "model as the device states it"),
        Column("revision", "str", "revision as the device states it"),
        Column("scsi_level", "int", "SCSI level the device states"),
        Column("device_status", "str", "state of the device as printed: on"),
        Column("is_pseudo", "bool", "no device of its own"),
        Column("is_rdm_capable", "bool", "may be given to a VM whole"),
        Column("is_removable", "bool", "the medium can be taken out"),
        Column("is_local", "bool", "no other host can reach it"),
        Column("is_ssd", "bool", "the device says that it has no disks that turn"),
        Column("other_names", "str", "further names, by commas: vml.…"),
    ),
)


PARSER = written(
    "scsidevs",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-scsidevs_-l\.txt$",),
    commands=(r"\besxcfg-scsidevs\s+(?:-l|--list)\b",),
    body=r"^\s*(?:(?:naa|eui|t10|mpx|vml)\.\S+|[A-Z][A-Za-z ]{2,20}:.*)\s*$",
)
