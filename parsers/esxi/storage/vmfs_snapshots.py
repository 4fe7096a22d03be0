"""`esxcli storage vmfs snapshot list`: volumes the host takes for copies and does not mount by itself."""

from analyzer.artefacts.signs import says_rows
from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vmfs_snapshots",
    "storage vmfs snapshot list",
    "esxi.vmfs_snapshot",
    "VMFS volumes that look like a copy of another (a snapshot LUN): they stay unmounted.",
    Field("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Key("VMFS UUID", "volume_uuid", "str", "id of the volume", sign=says_rows(3)),
    Field("Can mount", "can_mount", "bool", "it may be mounted with its signature"),
    Field("Reason for un-mountability", "mount_obstacle", "str", "why not"),
    Field("Can resignature", "can_resignature", "bool", "it may get a signature of its own"),
    Field("Reason for non-resignaturability", "resignature_obstacle", "str", "why not"),
    Field("Unresolved Extent Count", "unresolved_extents", "int", "extents that were found so"),
    sign="Can mount",
)
