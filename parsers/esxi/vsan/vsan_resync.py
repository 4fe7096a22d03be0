"""`esxcli vsan debug resync summary get`: how much data vSAN rebuilds or moves right now.

Source: the definition of the command in ESXi 6.7 and published outputs; bundles of hosts with vSAN hold it since 6.5.
"""

from analyzer.artefacts.signs import lies_above
from analyzer.forms import Field, get_block

PARSER = get_block(
    "vsan_resync",
    "vsan debug resync summary get",
    "esxi.vsan_resync",
    "What vSAN resynchronizes when it was asked.",
    Field(
        "Total Number Of Resyncing Objects",
        "resyncing_objects",
        "int",
        "objects that are rebuilt or moved",
        sign=lies_above(0, weight=2),
    ),
    Field(
        "Total Bytes Left To Resync",
        "resync_bytes",
        "int",
        "data that is still to be copied",
        unit="bytes",
    ),
    Field("Total GB Left To Resync", "resync_gb_text", "str", "the same in GB, as printed"),
)
