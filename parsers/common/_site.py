"""The tables of an NSX site: who belongs to it, and who says what of which channel; for vSphere, and their NSX-T twins.

No parser fills them: `analyzer/facts/site.py` and `analyzer/facts/nsxt_site.py` make them of what the members say.
"""

from __future__ import annotations

from dataclasses import replace

from analyzer.artefacts.signs import NOTHING, lies_above, says_bad
from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Table

_SAID = (
    "nsx.manager", "nsx.controllers", "nsx.controller_health", "nsx.controller_interface", "nsx.host_connection",
    "nsx.host_controller_error", "nsx.vxlan_network", "nsx.vdr", "nsx.bundle_part", "esxi.ip_connection", "nsx.edge_ha",
)  # fmt: skip
_ASK = "the NSX Manager tech-support bundle with those of the controllers, and vm-support bundles of the hosts"

MEMBER = Table.of(
    "site.member",
    "Members of an NSX for vSphere site: those of the case, and those that others name.",
    "what Manager, controllers and hosts say of one another",
    KeyColumn("member", "str", "name of the member, or its address where nobody tells a name"),
    Column("member_kind", "str", "manager, controller, host or edge"),
    Column("ip", "str", "address of the member, where known", form=IP_FORM),
    Column("object_id", "str", "controller-1, host-22, edge-1, where known"),
    Column(
        "collected",
        "str",
        "in the case; cut; Skipped (the Manager left it out); or: not in the case",
        sign=says_bad("cut", weight=2.5),
    ),
    Column("complete", "bool", "its files are whole; none where they are not in the case"),
    Column("rests_on_it", "str", "what only this member can tell"),
    ask=_ASK,
    made_of=_SAID,
)

CHANNEL = Table.of(
    "site.channel",
    "Channels between members of an NSX for vSphere site, one row for each member that says something of one.",
    "what Manager, controllers and hosts say of one another",
    Column("from_member", "str", "member at one end"),
    Column(
        "to_member", "str", 'member at the other end; "controllers" where no single one is meant'
    ),
    Column(
        "channel",
        "str",
        "API, control plane, firewall agent, control plane agent, message bus, cluster, …",
    ),
    Column(
        "up",
        "bool",
        "it works; none where what was printed does not say",
        sign=says_bad("false", weight=4),
    ),
    Column("said", "str", "as printed"),
    Column("said_by", "str", "member that says it"),
    Column("told_at", "time", "when it was said: the line of a log, else the capture"),
    ask=_ASK,
    made_of=_SAID,
)

SKEW = Table.of(
    "site.skew",
    "Differences between two clocks, from events that both machines hold. No time is corrected by them.",
    "first packets of TCP connections in dfwpktlogs, and REST clocks of controllers",
    Column("member", "str", "machine whose clock is compared"),
    Column("other", "str", "machine it is compared with"),
    Column(
        "ahead_s",
        "float",
        "how far the clock of the member is ahead of the other's",
        "s",
        sign=lies_above(10),
    ),
    Column("error_s", "float", "how far that may be off", "s", sign=NOTHING),
    Column("shared_events", "int", "events that both logged", "events"),
    Column("means", "str", "what was compared"),
    ask="/var/log/dfwpktlogs.log of both hosts; `GET /api/2.0/vdn/controller/<id>/status`",
    made_of=("nsx.controller_node",),
)
SITE = (MEMBER, CHANNEL, SKEW)

_SAID_NSXT = (
    "nsxt.cluster_member", "nsxt.cluster_group", "nsxt.manager_channel", "nsxt.controller_channel",
    "nsxt.transport_node", "nsxt.node_status", "nsxt.edge_status", "nsxt.edge_peer", "nsxt.bfd_session",
    "nsxt.bgp_neighbor",
)  # fmt: skip
_ASK_NSXT = "the support bundle of every NSX manager and edge, and `get cluster status verbose` on an NSX-T manager"
_FROM_NSXT = "made of what managers, edges and hosts of NSX-T say of one another"
_KIND = "manager, edge, host, transport node (an edge or a host), tunnel end, or BGP neighbour"
_STATE = "in the case; cut; only output of its CLI, its bundle is not; or: not in the case"
_ENDS = (
    'member at the other end; "management cluster" or "edge cluster" where no single one is meant'
)
_WHAT = "group DATASTORE, management, control, tunnel, BGP ipv4Unicast, edge cluster (eth0), …"


def _make_twin(table: Table, name: str, source: str, ask: str, **meanings: str) -> Table:
    """Return the table of NSX-T that means the same: other sources, and other words where they differ."""
    columns = tuple(
        replace(column, meaning=meanings[column.name]) if column.name in meanings else column
        for column in table.columns
    )
    meaning = table.meaning.replace("NSX for vSphere", "NSX-T")
    return replace(
        table,
        name=name,
        meaning=meaning,
        source=source,
        ask=ask,
        columns=columns,
        made_of=_SAID_NSXT,
    )


MEMBER_NSXT = _make_twin(
    MEMBER, "nsxt.site_member", _FROM_NSXT, _ASK_NSXT, member_kind=_KIND, object_id="id of the node, where known",
    collected=_STATE,
)  # fmt: skip
CHANNEL_NSXT = _make_twin(
    CHANNEL, "nsxt.site_channel", _FROM_NSXT, _ASK_NSXT, to_member=_ENDS, channel=_WHAT
)
SKEW_NSXT = _make_twin(
    SKEW,
    "nsxt.site_skew",
    "made of the changes of a tunnel that both ends log, and of first packets of TCP connections in dfwpktlogs",
    "var/log/syslog of both edges; /var/log/dfwpktlogs.log of both hosts",
)
SITE_NSXT = (MEMBER_NSXT, CHANNEL_NSXT, SKEW_NSXT)
