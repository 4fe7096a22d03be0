"""`show control-cluster status` on an NSX Controller: joined, majority, roles.

Source: NSX Controller CLI (NSX for vSphere). The stamps under "Since" have neither year nor zone and
stay as printed. Healthy: "Join complete", "Connected to cluster majority", all roles
activated, the same Cluster ID on all nodes.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Record, Row, Table, Value
from analyzer.forms import record_parser

from ..common._nsx import name_refusals

HEALTH = Table.of(
    "nsx.controller_health",
    "How one NSX Controller sees its cluster.",
    "show control-cluster status (on each controller)",
    Column("join_status", "str", "Join complete when healthy", sign=says_good("join complete")),
    Column("join_since", "str", "month/day and time of the last change, as printed"),
    Column(
        "majority_status",
        "str",
        "Connected to cluster majority when healthy",
        sign=says_good("connected to cluster majority", weight=6),
    ),
    Column("majority_since", "str", "month/day and time of the last change, as printed"),
    Column(
        "restart_status",
        "str",
        "This controller can be safely restarted when healthy",
        sign=says_good("this controller can be safely restarted", weight=2),
    ),
    Column("restart_since", "str", "month/day and time of the last change, as printed"),
    Column("cluster_id", "str", "id of the cluster, the same on all its nodes"),
    KeyColumn("node_uuid", "str", "id of this node"),
    ask="`show control-cluster status` on each NSX Controller",
)

ROLE = Table.of(
    "nsx.controller_role",
    "Roles of one NSX Controller, as configured and as they run.",
    "show control-cluster status (on each controller)",
    KeyColumn(
        "role",
        "str",
        "api_provider, persistence_server, switch_manager, logical_manager, directory_server",
    ),
    Column("enabled", "bool", 'configured status is "enabled"'),
    Column("activated", "bool", 'active status is "activated"'),
    Column("configured_status", "str", "as printed"),
    Column("active_status", "str", "as printed"),
    ask="`show control-cluster status` on each NSX Controller",
)


def read_record(block: Block, record: Record) -> Output:
    """Yield the health, or a role."""
    table = ROLE if record.values.get("ROLE") else HEALTH
    values: dict[str, Value] = {
        c.name: str(record.values.get(c.name.upper(), "")) or None for c in table.columns
    }
    if table is ROLE:
        values["enabled"] = values["configured_status"] == "enabled"
        values["activated"] = values["active_status"] == "activated"
    lines = {}
    for name, line in record.lines.items():
        if line != record.line:
            lines[name.lower()] = line
    yield Row(table, values, block, record.line, lines)


PARSER = record_parser(
    "nsx_control_cluster_status",
    (HEALTH, ROLE),
    read_record,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster status\b",),
    shape=r"^\s*(?:Type\s+Status\s+Since\s*$|Join status:\s)",
    body=(
        r"^\s*(?:Type\s+Status\s|(?:Join|Majority|Restart) status:|Cluster ID:|Node UUID:|-{3,}"
        r"|Role\s+Configured|[a-z][a-z_-]+\s+(?:enabled|disabled)\s|error: |%)"
    ),
    answers=name_refusals,
)
