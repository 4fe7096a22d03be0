"""One picture of an NSX for vSphere site: who belongs to it, and who says what of which channel.

Each row is what one member says, with the line it says it on; two members may contradict one another, and both rows
stay. Lines of vsm.log count with the last state of each host. Sources: the NSX API guide, the troubleshooting guide of
NSX 6.3 (GUID-6F1C026C), `net-vdl2 -l`, `net-vdr`, `esxcli network ip connection list`, `show control-cluster status`,
`show edge all` for the health of Edges, `show cluster <id>` for which host an id means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from analyzer.artefacts.tables import Row
from analyzer.facts import site_rows
from analyzer.facts.site_clocks import skews
from analyzer.facts.site_names import RESTS, SiteMember, SiteNames, rows, text
from analyzer.facts.site_rows import own_row
from analyzer.facts.site_signs import CHANNEL, HOST_STATUS, MEMBER, TABLES
from analyzer.facts.store import Facts

ALL = "controllers"  # the other end, where no single one is meant
_UP = {"UP": True, "RUNNING": True, "ESTABLISHED": True, "DOWN": False, "UNKNOWN": False}
_OWN = ("nsx.manager", "nsx.controller_health", "nsx.vdr", "nsx.vxlan_network", "esxi.host")
_said = partial(site_rows.said, table=CHANNEL)
_PARTS = {
    "NSX-Manager": "manager",
    "HOSTSYSTEM": "host",
    "Edge": "edge",
    "Controller": "controller",
}


def put(facts: Facts) -> set[str]:
    """Make the tables of the site; return the names of those that have rows."""
    return site_rows.put(facts, TABLES, _made)


def _made(facts: Facts) -> tuple[Iterable[Row], ...]:
    names = SiteNames(facts)
    for _ in _statements(
        facts, names
    ):  # all names first: an address may get its name from a later line
        continue
    told = list(_statements(facts, names))
    return _members(facts, names), told, skews(facts, names)


# --- members -----------------------------------------------------------------------------------


def _members(facts: Facts, names: SiteNames) -> Iterator[Row]:
    known = names.members
    return site_rows.member_rows(
        known,
        lambda one: one.row or own_row(facts, one, _OWN),
        lambda one: _collected(facts, one, known),
        RESTS,
        MEMBER,
    )


def _collected(
    facts: Facts, member: SiteMember, members: list[SiteMember]
) -> tuple[str, bool | None]:
    if member.node and _has_own(facts, member.node):
        whole = facts.nodes[member.node].complete
        return ("in the case", True) if whole else ("cut", False)
    if not member.names and any(
        one.node and not one.object_id for one in members if one.kind == member.kind
    ):
        return member.skipped or "not known which one of the case it is", None
    return member.skipped or "not in the case", None


def _has_own(facts: Facts, node: str) -> bool:
    """Tell whether a node has files of its own: for a Manager, more than an answer of its API that somebody saved."""
    if facts.nodes[node].kind != "nsx_manager":
        return True
    return bool(facts.count("nsx.manager", node)) or any(scan.node == node for scan in facts.scans)


# --- what each says ----------------------------------------------------------------------------


def _statements(facts: Facts, names: SiteNames) -> Iterator[Row]:
    """Yield what every member says; controllers are named first, so that addresses find them."""
    yield from _of_manager(facts, names)
    yield from _of_controllers(facts, names)
    yield from _of_events(facts, names)
    yield from _of_hosts(facts, names)
    yield from _of_edges(facts, names)
    _parts(facts, names)


def _of_manager(facts: Facts, names: SiteNames) -> Iterator[Row]:
    for row in rows(facts, "nsx.manager"):
        names.known("manager", name=facts.name(row.block.node), ip=text(row, "ip"), row=row)
    for row in rows(facts, "nsx.manager_interface"):
        if row.values.get("interface") == "mgmt" and (own := text(row, "ip")):
            names.known("manager", name=facts.name(row.block.node), ip=own, row=row)
    for row in rows(facts, "nsx.controllers"):
        member = names.known(
            "controller", ip=text(row, "ip"), object_id=text(row, "controller_id"), row=row
        )
        manager, state = _manager(names, row), text(row, "state")
        yield _said(
            facts, row, (manager, member.name), ("API", "state"), state, _UP.get(state), manager
        )
    for row in rows(facts, "nsx.cluster_host"):
        names.known("host", name=text(row, "host_name"), object_id=text(row, "host_id"), row=row)
    for row in rows(facts, "nsx.edge_state"):
        if (edge := text(row, "edge")) and (state := text(row, "edge_status")):
            member = names.known("edge", name=text(row, "edge_name"), object_id=edge, row=row)
            manager, up = _manager(names, row), {"GREEN": True, "RED": False}.get(state)
            yield _said(
                facts, row, (manager, member.name), ("health", "edge_status"), state, up, manager
            )
    for row in rows(facts, "nsx.host_connection"):
        host = names.known("host", object_id=str(row.values.get("host_id")), row=row).name
        manager = _manager(names, row)
        for column, ends, channel in (
            ("firewall_agent", (manager, host), "firewall agent"),
            ("control_plane_agent", (manager, host), "control plane agent"),
            ("controllers", (host, ALL), "control plane"),
        ):
            if state := text(row, column):
                yield _said(facts, row, ends, (channel, column), state, _UP.get(state), manager)
    for row in rows(facts, "nsx.host_controller_error"):
        host = names.known("host", object_id=str(row.values.get("host_id")), row=row).name
        to = names.known("controller", ip=text(row, "controller_ip"), row=row).name
        said = f"{text(row, 'error_code')} {text(row, 'message')}".strip()
        yield _said(
            facts,
            row,
            (host, to),
            ("control plane", "error_code"),
            said,
            False,
            _manager(names, row),
        )


def _manager(names: SiteNames, row: Row) -> str:
    """Return the name of the Manager that answered: the node of the answer, else the only one of the site."""
    member = names.of_node(row.block.node) or names.only("manager")
    return member.name if member is not None and member.kind == "manager" else "NSX Manager"


def _of_controllers(facts: Facts, names: SiteNames) -> Iterator[Row]:
    for row in rows(facts, "nsx.controller_interface"):
        if address := text(row, "address").partition("/")[0]:
            names.known("controller", name=facts.name(row.block.node), ip=address, row=row)
    for row in rows(facts, "nsx.controller_health"):
        member = names.known("controller", name=facts.name(row.block.node), row=row)
        said = text(row, "majority_status")
        up = {
            "Connected to cluster majority": True,
            "Disconnected from cluster majority": False,
        }.get(said)
        yield _said(
            facts, row, (member.name, ALL), ("cluster", "majority_status"), said, up, member.name
        )


def _of_events(facts: Facts, names: SiteNames) -> Iterator[Row]:
    """Yield the last state of each host in vsm.log."""
    lines = site_rows.last_hits(
        facts, HOST_STATUS, CHANNEL, lambda _, hit: (str(hit.groups["host"]),)
    )
    for origin, hit in lines:
        host = str(hit.groups["host"])
        name = names.known("host", name=host, object_id=str(hit.groups["id"]), row=origin).name
        manager = _manager(names, origin)
        for group, ends, channel in (
            ("firewall", (manager, name), "firewall agent"),
            ("agent", (manager, name), "control plane agent"),
            ("controllers", (name, ALL), "control plane"),
        ):
            state = str(hit.groups[group])
            yield _said(facts, origin, ends, (channel, ""), state, _UP.get(state), manager)


def _of_hosts(facts: Facts, names: SiteNames) -> Iterator[Row]:
    for row in rows(facts, "esxi.ip_connection"):
        yield from _socket(facts, names, row)
    networks: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows(facts, "nsx.vxlan_network"):
        ip, state = text(row, "controller_ip"), text(row, "controller_state")
        if ip not in ("", "0.0.0.0"):
            networks.setdefault((row.block.node, ip, state), []).append(row)
    for (node, ip, state), found in networks.items():
        host = names.known("host", name=facts.name(node), row=found[0]).name
        to = names.known("controller", ip=ip, row=found[0]).name
        which = ", ".join(str(row.values.get("vni")) for row in found[:3]) + (
            ", …" if len(found) > 3 else ""
        )
        said = f"{state or 'no state'} for VNI {which}"
        what = ("logical switches", "controller_state")
        yield _said(
            facts, found[0], (host, to), what, said, {"up": True, "down": False}.get(state), host
        )
    for row in rows(facts, "nsx.vdr"):
        host = names.known("host", name=facts.name(row.block.node), row=row).name
        ip = text(row, "controller_ip")
        to = names.known("controller", ip=ip, row=row).name if ip not in ("", "0.0.0.0") else ALL
        active = row.values.get("control_plane_active")
        shown = ("Yes" if active else "No") if isinstance(active, bool) else "not shown"
        said = f"{text(row, 'vdr') or 'a logical router'}: Control Plane Active {shown}"
        what = ("logical routers", "control_plane_active")
        yield _said(
            facts, row, (host, to), what, said, active if isinstance(active, bool) else None, host
        )


def _socket(facts: Facts, names: SiteNames, row: Row) -> Iterator[Row]:
    """Yield what a socket of a host says: port 1234 of a controller, or 5671 of the Manager."""
    port, world = row.values.get("remote_port"), text(row, "world_name")
    if not (
        (port == 1234 and world.startswith("netcpa"))
        or (port == 5671 and world.startswith("vsfwd"))
    ):
        return
    ip, state = text(row, "remote_ip"), text(row, "state")
    host = names.known("host", name=facts.name(row.block.node), row=row).name
    if port == 1234:
        ends, channel = (host, names.known("controller", ip=ip, row=row).name), "control plane"
    else:
        only = names.only("manager")
        own = (
            names.known("manager", name=only.name, ip=ip, row=row)
            if only is not None and not only.ip
            else None
        )
        ends, channel = (host, (own or names.known("manager", ip=ip, row=row)).name), "message bus"
    yield _said(
        facts,
        row,
        ends,
        (channel, "state"),
        state or "no state",
        state == "ESTABLISHED" if state else None,
        host,
    )


def _of_edges(facts: Facts, names: SiteNames) -> Iterator[Row]:
    for row in rows(facts, "nsx.edge_ha"):
        unit, peer, health = text(row, "unit"), text(row, "peer"), text(row, "peer_health")
        own = names.known("edge", name=facts.name(row.block.node), row=row)
        if unit and peer:
            other = names.known("edge", name=peer, row=row).name
            said = f"{unit} is {text(row, 'unit_state')}, its peer {health or 'not shown'}"
            ends, what = (own.name, other), ("high availability", "peer_health")
            yield _said(
                facts, row, ends, what, said, health == "good" if health else None, own.name
            )


def _parts(facts: Facts, names: SiteNames) -> None:
    """Note which members the collection of the bundle left out."""
    for row in rows(facts, "nsx.bundle_part"):
        kind, name = _PARTS.get(text(row, "node_type")), text(row, "object_id")
        member: SiteMember | None = None
        if kind is not None and name:
            member = names.known(kind, object_id=name, row=row)
        elif kind == "manager":
            member = names.only("manager")
        if member is not None and text(row, "status").lower() == "skipped":
            member.skipped = str(row.values.get("status"))
