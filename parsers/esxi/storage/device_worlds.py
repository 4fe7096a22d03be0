"""`esxcli storage core device world list`: who has a storage device open, so that it cannot be detached."""

from analyzer.forms import Field, Key, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "device_worlds",
    "storage core device world list",
    "esxi.device_world",
    "Worlds that have a storage device open.",
    DEVICE_CELL,
    Key("World ID", "world_id", "int", "id of the world"),
    Field("Open Count", "open_count", "int", "how often it has the device open"),
    Field("World Name", "world_name", "str", "name of the world"),
)
