"""`get filesystem-stats` of an NSX-T node: its partitions and how full they are.

Source: the NSX CLI guide.
"""

import re

from analyzer.forms import Field, Key, Made, text_table
from analyzer.tables import Row

from ._nsxt import answers

_SIZE = r"\d+(?:\.\d+)?[KMGTP]?"
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def _bytes(row: Row) -> None:
    for name in ("size", "used", "free"):
        found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)([KMGTP]?)", str(row.values[f"{name}_text"] or ""))
        row.values[f"{name}_bytes"] = int(float(found[1]) * 1024 ** _POWER[found[2]]) if found else None


PARSER = text_table(
    "nsxt_filesystems",
    "nsxt.filesystem",
    Field("Filesystem", "device", "str", "device: /dev/sda2, /dev/mapper/nsx-var+log, tmpfs", pattern=r"\S+"),
    Field("Size", "size_text", "str", "size as printed", pattern=_SIZE),
    Field("Used", "used_text", "str", "used space as printed", pattern=_SIZE),
    Field("Avail", "free_text", "str", "free space as printed", pattern=_SIZE),
    Field("Use%", "fs_used_pct", "int", "share of the space that is used", "%", pattern=r"\d+", behind="%"),
    Key("Mounted on", "mount_point", "str", "path: /, /var/log, /config, /nonconfig, /image", pattern=r"/\S*"),
    Made("size_bytes", "int", "size", "bytes"),
    Made("used_bytes", "int", "used space", "bytes"),
    Made("free_bytes", "int", "free space", "bytes"),
    meaning="Partitions of an NSX-T node with their space.",
    source="get filesystem-stats",
    ask="`get filesystem-stats` on the node",
    node="",
    commands=(r"^\s*get filesystem-stats\s*$",),
    body=rf"\S+\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+\d+%\s",
    shape=r"^\s*Filesystem\s+Size\s+Used\s+Avail\s+Use%\s+Mounted on\s*$",
    finish=_bytes,
    answers=answers,
)
