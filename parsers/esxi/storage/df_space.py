"""File systems as `df` prints them, next to the row of `esxcli storage filesystem list` on the same volume.

A paste holds often `df -h` alone. Where the list of esxcli is there too, it tells the same, and more: `missing_link` is
empty then.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.artefacts.tables import Column, Value
from analyzer.forms.chain import Cells, Chain, ChainLink, Made, Source, Start, make_chain

_NAME = Column("volume_name", "str", "name of the datastore or volume")


def finish_row(cells: Cells) -> Mapping[str, Value]:
    """Return the last part of the path: the name of the volume, or its id."""
    return {"volume_name": str(cells.get("mount_point") or "").rpartition("/")[2] or None}


CHAIN: Chain = make_chain(
    "esxi.df_space",
    "File systems by df, one row a file system; `missing_link` says where esxcli does not tell of it.",
    Start(
        "esxi.df",
        (
            Column("fs_type", "str", "type: VMFS-6, NFS, vfat, vsan, VFFS"),
            Column("mount_point", "str", "path: /vmfs/volumes/…; none while it is not mounted"),
            Column("size_bytes", "int", "size", "bytes"),
            Column("free_bytes", "int", "free space", "bytes"),
            Column("free_text", "str", "free space as printed"),
        ),
    ),
    Made(("mount_point",), finish_row, (_NAME,)),
    ChainLink(
        (
            Source("esxi.filesystem", {"mount_point": "mount_point"}),
            Source("esxi.filesystem", {"volume_name": "volume_name"}),
            Source("esxi.filesystem", {"volume_name": "volume_uuid"}),
        ),
        (Column("total_bytes", "int", "size of the volume", "bytes"),),
    ),
    key=("mount_point",),
    ask="`df`",
)
MADE = (CHAIN.table,)
