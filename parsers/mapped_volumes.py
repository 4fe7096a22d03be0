"""`esxcfg-scsidevs -m`: which device and partition holds each VMFS volume that is mounted.

Source: `commands/esxcfg-scsidevs_-m.txt` or the command.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.mapped_volume",
    meaning="Mounted VMFS volumes and the partitions they lie on.",
    source="esxcfg-scsidevs -m; commands/esxcfg-scsidevs_-m.txt",
    ask="`esxcfg-scsidevs -m`",
    key=("volume_uuid", "extent_number"),
    columns=(
        Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
        Column("partition", "int", "number of the partition"),
        Column("volume_uuid", "str", "id of the volume"),
        Column("extent_number", "int", "number of the extent, from 0"),
        Column("volume_name", "str", "name of the datastore or volume"),
    ),
)

_LINE = r"(?:naa|eui|t10|mpx)\.\S+:\d+\s+/\S+\s+[0-9a-f]{8}-\S+\s+\d+\s+\S.*"

PARSER = written(
    "mapped_volumes",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-scsidevs_-m\.txt$",),
    commands=(r"\besxcfg-scsidevs\s+(?:-m|--vmfs)\b",),
    shape=rf"^\s*{_LINE}$",
    body=r"^\s*(?:(?:naa|eui|t10|mpx)\.\S+:\S+\s+/.*|(?:Errors?|Unable|Failed)\b.*)$",
)
