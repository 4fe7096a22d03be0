"""`esxcli vsan cluster get`: the host's place in its vSAN cluster: role, health, members, maintenance mode.

A host without vSAN says so in a sentence and has no row.
"""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, get_block

PARSER = get_block(
    "vsan_cluster",
    "vsan cluster get",
    "esxi.vsan_cluster",
    "The host as a node of a vSAN cluster.",
    Field("Enabled", "enabled", "bool", "the host takes part in vSAN"),
    Field(
        "Current Local Time", "vsan_time", "str", "clock of the host when it was asked, as printed"
    ),
    Field("Local Node UUID", "node_uuid", "str", "node of the vSAN cluster"),
    Field("Local Node Type", "node_type", "str", "NORMAL, WITNESS"),
    Field("Local Node State", "node_state", "str", "MASTER, BACKUP, AGENT"),
    Field(
        "Local Node Health State",
        "node_health",
        "str",
        "HEALTHY, UNHEALTHY",
        sign=says_good("healthy", weight=4.5),
    ),
    Field("Sub-Cluster Master UUID", "master_uuid", "str", "node that leads"),
    Field("Sub-Cluster Backup UUID", "backup_uuid", "str", "node that leads next"),
    Field("Sub-Cluster UUID", "vsan_cluster_uuid", "str", "vSAN cluster"),
    Field(
        "Sub-Cluster Member Count",
        "member_count",
        "int",
        "nodes this host is in one partition with, itself included",
    ),
    Field("Sub-Cluster Member UUIDs", "member_uuids", "str", "those nodes, by commas"),
    Field("Sub-Cluster Member HostNames", "member_names", "str", "their names, by commas (7.x)"),
    Field("Unicast Mode Enabled", "unicast", "bool", "nodes speak by unicast"),
    Field(
        "Maintenance Mode State",
        "maintenance_mode",
        "str",
        "ON, OFF",
        sign=says_good("off", weight=2.5),
    ),
    Field("Mode", "vsan_mode", "str", "REGULAR, … (7.x)"),
    title="Cluster Information|VSAN Clustering is not enabled on this host"
    "|Virtual SAN Clustering is not enabled on this host|vSAN Clustering is not enabled on this host",
    sign="Local Node UUID|Sub-Cluster Master UUID",
)
