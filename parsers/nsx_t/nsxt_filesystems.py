"""`get filesystem-stats` of an NSX-T node: its partitions and how full they are.

Source: the NSX CLI guide. `df -h` of any Linux has this heading: below another command, or none, a list is read
where it has a partition that only a node has.
"""

from analyzer.forms import Field, Key, Made, text_table

from ..common._nsxt import name_refusals
from ..common._sizes import SIZE, convert_to_bytes

PARSER = text_table(
    "nsxt_filesystems",
    "nsxt.filesystem",
    Field(
        "Filesystem",
        "device",
        "str",
        "device: /dev/sda2, /dev/mapper/nsx-var+log, tmpfs",
        pattern=r"\S+",
    ),
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
    Key(
        "Mounted on",
        "mount_point",
        "str",
        "path: /, /var/log, /config, /nonconfig, /image",
        pattern=r"/\S*",
    ),
    Made("size_bytes", "int", "size", "bytes"),
    Made("used_bytes", "int", "used space", "bytes"),
    Made("free_bytes", "int", "free space", "bytes"),
    meaning="Partitions of an NSX-T node with their space.",
    source="get filesystem-stats",
    ask="`get filesystem-stats` on the node",
    node="",
    commands=(r"^\s*get filesystem-stats\s*$",),
    body=rf"\S+\s+{SIZE}\s+{SIZE}\s+{SIZE}\s+\d+%\s",
    shape=r"^\s*Filesystem\s+Size\s+Used\s+Avail\s+Use%\s+Mounted on\s*$",
    proof=r"^\s*/dev/mapper/nsx-|\s/(?:config_bak|image|nonconfig|os_bak|var/dump)\s*$",
    finish=convert_to_bytes,
    answers=name_refusals,
)
