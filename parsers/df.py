"""`df`: datastores and boot banks of the host with their space, in bytes or with `-h` in units.

Source: `commands/df.txt` or the command.
"""

import re

from analyzer.forms import Field, Key, Made, text_table
from analyzer.forms.columns import bundle_files
from analyzer.tables import Row

_SIZE = r"\d+(?:\.\d+)?[KMGTP]?"
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def _bytes(row: Row) -> None:
    for name in ("size", "used", "free"):
        found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)([KMGTP]?)", str(row.values[f"{name}_text"] or ""))
        row.values[f"{name}_bytes"] = int(float(found[1]) * 1024 ** _POWER[found[2]]) if found else None


PARSER = text_table(
    "df",
    "esxi.df",
    Field("Filesystem", "fs_type", "str", "type: VMFS-6, NFS, vfat, vsan, VFFS", pattern=r"\S+"),
    Field("Bytes|Size", "size_text", "str", "size as printed", pattern=_SIZE),
    Field("Used", "used_text", "str", "used space as printed", pattern=_SIZE),
    Field("Available", "free_text", "str", "free space as printed", pattern=_SIZE),
    Field("Use%", "fs_used_pct", "int", "share of the space that is used", "%", pattern=r"\d+", behind="%"),
    Key("Mounted on", "mount_point", "str", "path: /vmfs/volumes/…; none while it is not mounted", pattern=r"/\S.*?"),
    Made("size_bytes", "int", "size", "bytes"),
    Made("used_bytes", "int", "used space", "bytes"),
    Made("free_bytes", "int", "free space", "bytes"),
    meaning="File systems of the host with their space, one row a file system.",
    source="df",
    node="esxi",
    files=bundle_files("df"),
    commands=(r"(?:^|\s)df(?:\s+-h)?\s*$",),
    body=r"\S+\s+\d+(?:\.\d+)?[KMGTP]?\s+\d",
    finish=_bytes,
    common=True,
    shape=r"^\s*Filesystem\s+Bytes\s+Used\s+Available Use% Mounted on\s*$",
)
