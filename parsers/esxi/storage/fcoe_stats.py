"""`esxcli storage san fcoe stats get`: counters of FCoE links."""

from analyzer.forms import get_blocks

from ._san import FRAMES, HBA

PARSER = get_blocks(
    "fcoe_stats",
    "storage san fcoe stats get",
    "esxi.fcoe_stats",
    "Counters of FCoE links since the driver was loaded.",
    HBA,
    *(field for field in FRAMES if field.name not in ("lips", "sequence_errors")),
    begins="Adapter",
    counts_since="boot",
)
