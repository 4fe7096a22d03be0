"""`esxcfg-scsidevs -m`: which device and partition holds each VMFS volume that is mounted.

Source: `commands/esxcfg-scsidevs_-m.txt` or the command.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.mapped_volume",
    "Mounted VMFS volumes and the partitions they lie on.",
    "esxcfg-scsidevs -m; commands/esxcfg-scsidevs_-m.txt",
    Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Column("partition", "int", "number of the partition"),
    KeyColumn("volume_uuid", "str", "id of the volume"),
    KeyColumn("extent_number", "int", "number of the extent, from 0"),
    Column("volume_name", "str", "name of the datastore or volume"),
    ask="`esxcfg-scsidevs -m`",
)

_LINE = r"(?:naa|eui|t10|mpx)\.\S+:\d+\s+/\S+\s+[0-9a-f]{8}-\S+\s+\d+\s+\S.*"

PARSER = template_parser(
    "mapped_volumes",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-scsidevs_-m\.txt$",),
    commands=(r"\besxcfg-scsidevs\s+(?:-m|--vmfs)\b",),
    shape=rf"^\s*{_LINE}$",
    body=r"^\s*(?:(?:naa|eui|t10|mpx)\.\S+:\S+\s+/.*|(?:Errors?|Unable|Failed)\b.*)$",
)
