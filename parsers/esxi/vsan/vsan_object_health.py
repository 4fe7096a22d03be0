"""`esxcli vsan debug object health summary get`: how many objects of vSAN are healthy, or in which other state.

Bundles of hosts with vSAN hold it since 6.5; each host counts the objects of the whole cluster.
"""

from analyzer.artefacts.signs import lies_above
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "vsan_object_health",
    "vsan debug object health summary get",
    "esxi.vsan_object_health",
    "Objects of vSAN by their health, one row a state.",
    Key(
        "Health Status",
        "object_health",
        "str",
        "healthy, inaccessible, reduced-availability-with-…, data-move, …",
    ),
    Field(
        "Number Of Objects",
        "vsan_objects",
        "int",
        "objects of the cluster in that state",
        sign=lies_above(0, weight=4.5).except_where("object_health", "healthy"),
    ),
)
