"""`show filesystems` of an NSX Manager (NSX for vSphere): its partitions and how full they are.

Source: the NSX command line reference 6.4 and public outputs: heading and rows are those of `df -h`. A node of NSX-T
prints the same table for `get filesystem-stats`; without its command it is taken for that.
"""

from dataclasses import replace

from analyzer.forms import Field, Key, Made, text_table

from ..common._nsx import name_refusals
from ..common._sizes import SIZE, convert_to_bytes

_TABLE = text_table(
    "nsx_filesystems",
    "nsx.filesystem",
    Field("Filesystem", "device", "str", "device: /dev/root, /dev/sda6, tmpfs", pattern=r"\S+"),
    Field("Size", "size_text", "str", "size as printed", pattern=SIZE),
    Field("Used", "used_text", "str", "used space as printed", pattern=SIZE),
    Field("Avail", "free_text", "str", "free space as printed", pattern=SIZE),
    Field(
        "Use%",
        "fs_used_pct",
        "int",
        "share of the space that is used",
        "%",
        pattern=r"\d+",
        behind="%",
    ),
    Key("Mounted on", "mount_point", "str", "path: /, /run, /common", pattern=r"/\S*"),
    Made("size_bytes", "int", "size", "bytes"),
    Made("used_bytes", "int", "used space", "bytes"),
    Made("free_bytes", "int", "free space", "bytes"),
    meaning="Partitions of an NSX Manager (NSX for vSphere) with their space.",
    source="show filesystems (on the Manager)",
    ask="`show filesystems` on the NSX Manager",
    node="nsx_manager",
    commands=(r"^\s*show filesystems?\s*$",),
    body=rf"\S+\s+{SIZE}\s+{SIZE}\s+{SIZE}\s+\d+%\s",
    finish=convert_to_bytes,
    answers=name_refusals,
    shape=r"^\s*Filesystem\s+Size\s+Used\s+Avail\s+Use%\s+Mounted on\s*$",
)
PARSER = replace(_TABLE, rest=True)
