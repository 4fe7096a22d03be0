"""`df -lT` on a node of NSX-T, as `get support-bundle` prints it below its own head: partitions in blocks of 1 KB.

Source: the NSX CLI guide (`/bin/df -lT …`), and `df` on a manager of 2.3 in a public post, without types; heading
and rows are those of GNU df.
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, text_table

from ..common._nsxt import ANY, name_refusals
from ..common._sizes import convert_to_bytes
from .nsxt_filesystems import PARSER as OF_CLI

_BLOCKS = r"\d+"


def _convert_blocks(row: Row) -> None:
    """Say of numbers of blocks that they are KB."""
    for name in ("size_text", "used_text", "free_text"):
        row.values[name] = f"{row.values[name]}K"
    convert_to_bytes(row)


PARSER = text_table(
    "nsxt_df",
    OF_CLI.tables[0],
    Field("Filesystem", "device", pattern=r"\S+"),
    Field("Type", pattern=r"[a-z][\w.]*", maybe=True),
    Field("1K-blocks", "size_text", pattern=_BLOCKS),
    Field("Used", "used_text", pattern=_BLOCKS),
    Field("Available", "free_text", pattern=_BLOCKS),
    Field("Use%", "fs_used_pct", pattern=r"\d+", behind="%"),
    Field("Mounted on", "mount_point", pattern=r"/\S*"),
    node=ANY,
    commands=(r"(?:^|/)df(?: -lT\b|\s*$)",),
    body=rf"\S+\s+(?:[a-z][\w.]*\s+)?{_BLOCKS}\s",
    common=True,
    finish=_convert_blocks,
    answers=name_refusals,
)
