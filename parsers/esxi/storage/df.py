"""`df`: datastores and boot banks of the host with their space, in bytes or with `-h` in units.

Source: `commands/df.txt` or the command.
"""

from analyzer.forms import Field, Key, Made, text_table
from analyzer.forms.columns import bundle_files

from ...common._sizes import SIZE, convert_to_bytes

PARSER = text_table(
    "df",
    "esxi.df",
    Field("Filesystem", "fs_type", "str", "type: VMFS-6, NFS, vfat, vsan, VFFS", pattern=r"\S+"),
    Field("Bytes|Size", "size_text", "str", "size as printed", pattern=SIZE),
    Field("Used", "used_text", "str", "used space as printed", pattern=SIZE),
    Field("Available", "free_text", "str", "free space as printed", pattern=SIZE),
    Field(
        "Use%",
        "fs_used_pct",
        "int",
        "share of the space that is used",
        "%",
        pattern=r"\d+",
        behind="%",
    ),
    Key(
        "Mounted on",
        "mount_point",
        "str",
        "path: /vmfs/volumes/…; none while it is not mounted",
        pattern=r"/\S.*?",
    ),
    Made("size_bytes", "int", "size", "bytes"),
    Made("used_bytes", "int", "used space", "bytes"),
    Made("free_bytes", "int", "free space", "bytes"),
    meaning="File systems of the host with their space, one row a file system.",
    source="df",
    node="esxi",
    files=bundle_files("df"),
    commands=(r"(?:^|\s)df(?:\s+-h)?\s*$",),
    body=r"\S+\s+\d+(?:\.\d+)?[BKMGTP]?\s+\d",
    finish=convert_to_bytes,
    common=True,
    shape=(
        r"^\s*Filesystem\s+Bytes\s+Used\s+Available Use% Mounted on\s*$"
        rf"|^\s*(?:VMFS-\w+|VMFSOS|VFFS|NFS\d*|vsan|vfat)(?:\s+{SIZE}){{3}}\s+\d{{1,3}}%\s+/vmfs/volumes/\S"
    ),
)
