"""`esxcli storage filesystem list`: datastores and system volumes with their size and what is free."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "filesystems",
    "storage filesystem list",
    "esxi.filesystem",
    "Mounted file systems of the host: datastores, boot banks, scratch.",
    Field(
        "Mount Point",
        "mount_point",
        "str",
        "path: /vmfs/volumes/…; none while it is not mounted",
        pattern=r"/\S+",
        maybe=True,
    ),
    Field("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Key("UUID", "volume_uuid", "str", "id of the volume", pattern=r"\S+"),
    Field("Mounted", "mounted", "bool", "it is mounted"),
    Field(
        "Type",
        "filesystem_type",
        "str",
        "VMFS-5, VMFS-6, NFS, NFS41, vfat, VFFS, VMFS-L",
        pattern=r"\S+",
        sign=says_bad("vmfs-3", weight=2),
    ),
    Field("Size", "total_bytes", "int", "size of the volume", "bytes"),
    Field("Free", "free_bytes", "int", "bytes that are free", "bytes"),
    row=r"\S.*\s(?:true|false)\s",
    alone=r"/vmfs/volumes/\S+\s.*\s(?:true|false)\s+(?:VMFS|NFS|vfat|VFFS)\S*\s+\d+\s+\d+\s*$",
    options="-i",
)
