"""The tables of an NSX for vSphere site: who belongs to it, and who says what of which channel.

No parser fills them: `analyzer/facts/site.py` makes them of what Manager, controllers, hosts and Edges say.
"""

from __future__ import annotations

from analyzer.tables import IP_FORM, Column, Table

_SAID = (
    "nsx.manager", "nsx.controllers", "nsx.controller_health", "nsx.controller_interface", "nsx.host_connection",
    "nsx.host_controller_error", "nsx.vxlan_network", "nsx.vdr", "nsx.bundle_part", "esxi.ip_connection", "nsx.edge_ha",
)  # fmt: skip
_ASK = "the NSX Manager tech-support bundle with those of the controllers, and vm-support bundles of the hosts"

MEMBER = Table(
    name="site.member",
    meaning="Members of an NSX for vSphere site: those of the case, and those that others name.",
    source="made of what Manager, controllers and hosts say of one another",
    ask=_ASK,
    key=("member",),
    columns=(
        Column("member", "str", "name of the member, or its address where nobody tells a name"),
        Column("member_kind", "str", "manager, controller, host or edge"),
        Column("ip", "str", "address of the member, where known", form=IP_FORM),
        Column("object_id", "str", "controller-1, host-22, edge-1, where known"),
        Column("collected", "str", "in the case; cut; Skipped (the Manager left it out); or: not in the case"),
        Column("complete", "bool", "its files are whole; none where they are not in the case"),
        Column("rests_on_it", "str", "what only this member can tell"),
    ),
    made_of=_SAID,
)

CHANNEL = Table(
    name="site.channel",
    meaning="Channels between members of an NSX for vSphere site, one row for each member that says something of one.",
    source="made of what Manager, controllers and hosts say of one another",
    ask=_ASK,
    columns=(
        Column("from_member", "str", "member at one end"),
        Column("to_member", "str", 'member at the other end; "controllers" where no single one is meant'),
        Column("channel", "str", "API, control plane, firewall agent, control plane agent, message bus, cluster, …"),
        Column("up", "bool", "it works; none where what was printed does not say"),
        Column("said", "str", "as printed"),
        Column("said_by", "str", "member that says it"),
        Column("told_at", "time", "when it was said: the line of a log, else the capture"),
    ),
    made_of=_SAID,
)

SKEW = Table(
    name="site.skew",
    meaning="Differences between two clocks, from events that both machines hold. No time is corrected by them.",
    source="made of the first packets of TCP connections in dfwpktlogs, and of REST clocks of controllers",
    ask="/var/log/dfwpktlogs.log of both hosts; `GET /api/2.0/vdn/controller/<id>/status`",
    columns=(
        Column("member", "str", "machine whose clock is compared"),
        Column("other", "str", "machine it is compared with"),
        Column("ahead_s", "float", "how far the clock of the member is ahead of the other's", "s"),
        Column("error_s", "float", "how far that may be off", "s"),
        Column("shared_events", "int", "events that both logged", "events"),
        Column("means", "str", "what was compared"),
    ),
    made_of=("nsx.controller_node",),
)
SITE = (MEMBER, CHANNEL, SKEW)
