"""`esxcli storage san fc stats get`: counters of Fibre Channel links: losses, invalid words, CRC errors."""

from analyzer.forms import get_blocks

from ._san import FRAMES, HBA

PARSER = get_blocks(
    "fc_stats",
    "storage san fc stats get",
    "esxi.fc_stats",
    "Counters of Fibre Channel links since the driver was loaded.",
    HBA,
    *(field for field in FRAMES if field.name not in ("vlink_failures", "missed_advertisements")),
    begins="Adapter",
    counts_since="boot",
)
