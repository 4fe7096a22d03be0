"""One picture of an NSX-T site: who belongs to it, and who says what of which channel.

Each row is what one member says, with the line it says it on. A channel has the same ends whoever speaks of it, so that
two members who contradict one another stand on one line. Sources: the NSX CLI guide (get cluster status, get managers,
get controllers, get transport-nodes status, get edge-cluster status, get bfd-sessions, get bgp neighbor summary), the
schemas of the REST API, KB 438022 for the lines of tunnels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from analyzer.artefacts.tables import Row
from analyzer.facts import site_rows
from analyzer.facts.nsxt_site_members import CLUSTER, EDGES, SiteNodes, members
from analyzer.facts.site_clocks import nsxt_skews
from analyzer.facts.site_names import rows, text
from analyzer.facts.site_signs import (
    NSXT_CHANNEL,
    NSXT_TABLES,
    SERVED,
    TUNNEL,
)
from analyzer.facts.store import Facts

_UP = {
    "UP": True, "DOWN": False, "STABLE": True, "UNAVAILABLE": False, "CONNECTED": True, "DISCONNECTED": False,
    "OPENED": True, "ESTAB": True, "UNREACHABLE": False, "CONCAT PATH DOWN": False, "UP (ROUTING DOWN)": False,
    "ADMIN DOWN": False, "ADMIN_DOWN": False, "INIT": False,
}  # fmt: skip
_said = partial(site_rows.said, table=NSXT_CHANNEL)
_REST = (
    ("management_status", "management"),
    ("control_status", "control"),
    ("tunnel_status", "tunnels"),
)


def put(facts: Facts) -> set[str]:
    """Make the tables of the site; return the names of those that have rows."""
    return site_rows.put(facts, NSXT_TABLES, _made)


def _made(facts: Facts) -> tuple[Iterable[Row], ...]:
    nodes = SiteNodes(facts)
    told = list(_statements(facts, nodes))
    return members(facts, nodes), told, nsxt_skews(facts, nodes)


def _statements(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    yield from _of_cluster(facts, nodes)
    yield from _of_channels(facts, nodes)
    yield from _of_views(facts, nodes)
    yield from _of_edges(facts, nodes)
    yield from _of_tunnels(facts, nodes)
    yield from _of_tunnel_lines(facts, nodes)


def _state(said: str) -> bool | None:
    return _UP.get(said.upper())


def _of_cluster(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield what each manager says of the groups of the cluster and of their members."""
    for row in rows(facts, "nsxt.cluster_group"):
        if said := text(row, "group_status"):
            by, group = nodes.speaker(row), f"group {text(row, 'group_type')}"
            yield _said(facts, row, (by, CLUSTER), (group, "group_status"), said, _state(said), by)
    for row in rows(facts, "nsxt.cluster_member"):
        member = nodes.find(text(row, "fqdn"), text(row, "ip"), text(row, "member_uuid"))
        if member is not None and (said := text(row, "member_status")):
            by, group = nodes.speaker(row), f"member of {text(row, 'group_type')}"
            ends = (member.name, CLUSTER) if by == member.name else (by, member.name)
            yield _said(facts, row, ends, (group, "member_status"), said, _state(said), by)


def _of_channels(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield what edges, hosts and managers say of their own channels to managers and controllers."""
    for row in rows(facts, "nsxt.manager_channel"):
        by, said = nodes.speaker(row), text(row, "channel_state")
        ends = nodes.to_manager(by, text(row, "manager_ip"))
        yield _said(
            facts, row, ends, ("management", "channel_state"), said or "no state", _state(said), by
        )
    for row in rows(facts, "nsxt.controller_channel"):
        ip, fqdn, reason = (
            text(row, name).removeprefix("NA")
            for name in ("controller_ip", "controller_fqdn", "failure_reason")
        )
        if not ip and not fqdn:
            continue  # a controller that is not used has neither address nor name
        by, said = nodes.speaker(row), text(row, "channel_state")
        ends, why = nodes.to_manager(by, ip, fqdn), f": {reason}" if reason else ""
        yield _said(
            facts,
            row,
            ends,
            ("control", "channel_state"),
            f"{said or 'no state'}{why}",
            _state(said),
            by,
        )


def _of_views(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield what managers say of transport nodes. One that another controller serves is CLOSED and well.

    One that nobody has as OPENED is down when every manager of the site was asked; else nothing tells.
    """
    told = rows(facts, "nsxt.transport_node")
    served = {
        text(row, "transport_node") for row in told if text(row, "connection_state") == "OPENED"
    }
    asked = {nodes.speaker(row) for row in told}
    whole = all(member.name in asked for member in nodes.members if member.kind == "manager")
    for row in rows(facts, "nsxt.transport_node"):
        by, said = nodes.speaker(row), text(row, "connection_state")
        node = nodes.transport_node(
            text(row, "transport_node"), text(row, "node_type"), text(row, "node_name"), row
        )
        elsewhere = text(row, "transport_node") in served
        up = True if said == "OPENED" else None if elsewhere or not whole else False
        words = f"{said}: {SERVED}" if elsewhere and not up else said
        yield _said(facts, row, (node.name, by), ("control", "connection_state"), words, up, by)
    for row in rows(facts, "nsxt.node_status"):
        node = nodes.transport_node(text(row, "node_uuid"), "", text(row, "node_name"), row)
        for column, channel in _REST:
            if said := text(row, column):
                by = nodes.speaker(row)
                yield _said(
                    facts, row, (node.name, CLUSTER), (channel, column), said, _state(said), by
                )


def _of_edges(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    for row in rows(facts, "nsxt.edge_status"):
        by = nodes.speaker(row)
        said = f"{text(row, 'edge_state')}, {text(row, 'ha_state') or 'state in the cluster not shown'}"
        up = _state(text(row, "edge_state"))
        yield _said(facts, row, (by, EDGES), ("edge cluster", "edge_state"), said, up, by)
        if said := text(row, "routing_status"):
            yield _said(
                facts, row, (by, EDGES), ("routing", "routing_status"), said, _state(said), by
            )
    for row in rows(facts, "nsxt.edge_peer"):
        peer = nodes.find(text(row, "peer_uuid"))
        if peer is not None:
            by, said = nodes.speaker(row), text(row, "session_status")
            channel = f"edge cluster ({text(row, 'interface') or 'no interface'})"
            ends = _sorted(by, peer.name)
            yield _said(
                facts, row, ends, (channel, "session_status"), said or "no state", _state(said), by
            )
    for row in rows(facts, "nsxt.bgp_neighbor"):
        by, said = nodes.speaker(row), text(row, "bgp_state")
        other = nodes.find(text(row, "neighbor"))
        if other is not None:
            channel = f"BGP {text(row, 'address_family')}".strip()
            up = _state(said) is True if said else None
            yield _said(
                facts, row, (by, other.name), (channel, "bgp_state"), said or "no state", up, by
            )


def _of_tunnels(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield what each end says of the BFD session of a tunnel; the same two ends whoever says it."""
    for row in rows(facts, "nsxt.bfd_session"):
        other = nodes.find(text(row, "remote_ip"))
        if other is None:
            continue
        by, said = nodes.speaker(row), text(row, "bfd_session_state")
        diag = text(row, "bfd_diag")
        words = (
            f"{said or 'no state'}: {diag}"
            if diag and diag != "No Diagnostic"
            else said or "no state"
        )
        channel = "BFD of an uplink" if text(row, "encapsulation") == "vlan" else "tunnel"
        yield _said(
            facts,
            row,
            _sorted(by, other.name),
            (channel, "bfd_session_state"),
            words,
            _state(said),
            by,
        )


def _of_tunnel_lines(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield the last state of each tunnel in the syslog of an edge."""
    lines = site_rows.last_hits(
        facts, TUNNEL, NSXT_CHANNEL, lambda node, hit: (node, str(hit.groups["remote"]))
    )
    for origin, hit in lines:
        by, now = nodes.speaker(origin), str(hit.groups["now"])
        ends = _sorted(by, nodes.tunnel_end(str(hit.groups["remote"]), origin).name)
        yield _said(facts, origin, ends, ("tunnel", ""), f"{now} (syslog)", _state(now), by)


def _sorted(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)
