"""One picture of an NSX for vSphere site: who belongs to it, and who says what of which channel.

Lines of vsm.log count with the last state of each host. Sources: the NSX API guide, the troubleshooting guide of
NSX 6.3 (GUID-6F1C026C), `net-vdl2 -l`, `net-vdr`, `esxcli network ip connection list`, `show control-cluster status`,
`show edge all` for the health of Edges, `show cluster <id>` for which host an id means.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts.tables import Row
from analyzer.facts.site_clocks import compare_connections, compare_controllers
from analyzer.facts.site_members import (
    SiteMember,
    SiteMembers,
    SiteProduct,
    has_rows_of,
    list_rows,
    read_text,
)
from analyzer.facts.site_signs import HOST_STATUS, TABLES
from analyzer.facts.store import Facts

ALL = "controllers"  # the other end, where no single one is meant
_UP = {"UP": True, "RUNNING": True, "ESTABLISHED": True, "DOWN": False, "UNKNOWN": False}
_HEALTHY = {"GREEN": True, "RED": False}
_LINKED = {"up": True, "down": False}
_MAJORITY = {"Connected to cluster majority": True, "Disconnected from cluster majority": False}
_PARTS = {
    "NSX-Manager": "manager",
    "HOSTSYSTEM": "host",
    "Edge": "edge",
    "Controller": "controller",
}
# Of a host: whether the Manager is the other end, not the controllers; column of its row; group of its line; channel.
_HOST_CHANNELS = (
    (True, "firewall_agent", "firewall", "firewall agent"),
    (True, "control_plane_agent", "agent", "control plane agent"),
    (False, "controllers", "controllers", "control plane"),
)
NSXV = SiteProduct(
    tables=TABLES,
    kinds={
        "nsx_manager": "manager",
        "nsx_controller": "controller",
        "nsx_edge": "edge",
        "esxi": "host",
    },
    host_tables=("nsx.vxlan_network", "nsx.vdr", "nsx.dfw_filter"),
    own_tables=(
        "nsx.manager",
        "nsx.controller_health",
        "nsx.vdr",
        "nsx.vxlan_network",
        "esxi.host",
    ),
    rests={
        "manager": "the list of controllers, system events, the state of the hosts' channels",
        "controller": "its own view of the cluster, its roles, its disk",
        "host": "its connections to the controllers, its logical switches and routers",
        "edge": "its high availability, its routing, its neighbours",
    },
)


def put_site(facts: Facts) -> set[str]:
    """Make the tables of the site; return the names of those that have rows."""
    if has_rows_of(facts, TABLES):
        return set()
    site = NsxvSite(facts)
    for _ in site.list_channels():  # all names first: an address may get its name from a later line
        continue
    return site.put_tables(site.list_channels, site.list_skews)


class NsxvSite(SiteMembers):
    """The members of an NSX for vSphere site, and what each says of its channels."""

    def __init__(self, facts: Facts) -> None:
        sockets = list_control_sockets(facts)
        self.control_nodes = {row.block.node for row in sockets}
        super().__init__(facts, NSXV)

    def is_member_host(self, key: str) -> bool:
        """Say whether a host has tables of this site, or a connection to a controller."""
        return key in self.control_nodes or super().is_member_host(key)

    def find_evidence(self, member: SiteMember) -> Row | None:
        """Return the row that shows a member."""
        return member.row or self.find_own_row(member)

    def describe_collected(self, member: SiteMember) -> tuple[str, bool | None]:
        """Return in words what of a member the case holds, and whether that is whole."""
        node = member.node
        if node:
            # A Manager needs more than an answer of its API that somebody saved.
            own = self.facts.nodes[node].kind != "nsx_manager"
            own = own or bool(self.facts.count("nsx.manager", node))
            if own or any(scan.node == node for scan in self.facts.scans):
                whole = self.facts.nodes[node].complete
                if whole:
                    return ("in the case", True)
                return ("cut", False)
        if member.skipped:
            return member.skipped, None
        alike = [one for one in self.members if one.kind == member.kind]
        if not member.names and any(one.node and not one.object_id for one in alike):
            return "not known which one of the case it is", None
        return "not in the case", None

    def list_skews(self) -> Iterator[Row]:
        """Yield how far the clocks of members differ."""
        yield from compare_connections(self)
        yield from compare_controllers(self)

    def list_channels(self) -> Iterator[Row]:
        """Yield what every member says; controllers are named first, so that addresses find them."""
        yield from self.list_of_manager()
        yield from self.list_of_host_connections()
        yield from self.list_of_controllers()
        yield from self.list_of_events()
        for row in self.list_rows("esxi.ip_connection"):
            yield from self.list_of_socket(row)
        yield from self.list_of_networks()
        yield from self.list_of_edges()
        self.note_skipped()

    # -- the Manager and its log

    def list_of_manager(self) -> Iterator[Row]:
        """Yield what the Manager says of controllers and Edges."""
        for row in self.list_rows("nsx.manager"):
            self.name_node("manager", row, read_text(row, "ip"))
        for row in self.list_rows("nsx.manager_interface"):
            own = read_text(row, "ip")
            if own and row.values.get("interface") == "mgmt":
                self.name_node("manager", row, own)
        for row in self.list_rows("nsx.controllers"):
            ip = read_text(row, "ip")
            object_id = read_text(row, "controller_id")
            member = self.name_member("controller", ip=ip, object_id=object_id, row=row)
            manager = self.find_manager(row)
            state = read_text(row, "state")
            ends = (manager, member.name)
            yield self.state_channel(row, ends, ("API", "state"), state, _UP.get(state), manager)
        for row in self.list_rows("nsx.cluster_host"):
            name = read_text(row, "host_name")
            object_id = read_text(row, "host_id")
            self.name_member("host", name=name, object_id=object_id, row=row)
        what = ("health", "edge_status")
        for row in self.list_rows("nsx.edge_state"):
            edge = read_text(row, "edge")
            state = read_text(row, "edge_status")
            if edge and state:
                name = read_text(row, "edge_name")
                member = self.name_member("edge", name=name, object_id=edge, row=row)
                manager = self.find_manager(row)
                ends = (manager, member.name)
                yield self.state_channel(row, ends, what, state, _HEALTHY.get(state), manager)

    def list_of_host_connections(self) -> Iterator[Row]:
        """Yield what the Manager says of the channels of hosts."""
        for row in self.list_rows("nsx.host_connection"):
            host = self.name_member("host", object_id=str(row.values.get("host_id")), row=row).name
            manager = self.find_manager(row)
            for to_manager, column, _, channel in _HOST_CHANNELS:
                state = read_text(row, column)
                if state:
                    if to_manager:
                        ends = (manager, host)
                    else:
                        ends = (host, ALL)
                    what = (channel, column)
                    yield self.state_channel(row, ends, what, state, _UP.get(state), manager)
        what = ("control plane", "error_code")
        for row in self.list_rows("nsx.host_controller_error"):
            host = self.name_member("host", object_id=str(row.values.get("host_id")), row=row).name
            ip = read_text(row, "controller_ip")
            ends = (host, self.name_member("controller", ip=ip, row=row).name)
            code = read_text(row, "error_code")
            words = f"{code} {read_text(row, 'message')}".strip()
            manager = self.find_manager(row)
            yield self.state_channel(row, ends, what, words, up=False, by=manager)

    def find_manager(self, row: Row) -> str:
        """Return the name of the Manager that answered: the node of the answer, else the only one of the site."""
        member = self.find_by_node(row.block.node) or self.find_only("manager")
        if member is not None and member.kind == "manager":
            return member.name
        return "NSX Manager"

    def list_of_events(self) -> Iterator[Row]:
        """Yield the last state of each host in vsm.log."""
        for origin, hit in self.find_last_hits(
            HOST_STATUS, lambda _, hit: (str(hit.groups["host"]),)
        ):
            groups = {name: str(value) for name, value in hit.groups.items()}
            member = self.name_member(
                "host", name=groups["host"], object_id=groups["id"], row=origin
            )
            manager = self.find_manager(origin)
            for to_manager, _, group, channel in _HOST_CHANNELS:
                state = groups[group]
                if to_manager:
                    ends = (manager, member.name)
                else:
                    ends = (member.name, ALL)
                what = (channel, "")
                yield self.state_channel(origin, ends, what, state, _UP.get(state), manager)

    # -- controllers, hosts, Edges

    def list_of_controllers(self) -> Iterator[Row]:
        """Yield what controllers say of their cluster."""
        for row in self.list_rows("nsx.controller_interface"):
            address = read_text(row, "address").partition("/")[0]
            if address:
                self.name_node("controller", row, address)
        what = ("cluster", "majority_status")
        for row in self.list_rows("nsx.controller_health"):
            name = self.name_node("controller", row).name
            words = read_text(row, "majority_status")
            yield self.state_channel(row, (name, ALL), what, words, _MAJORITY.get(words), name)

    def list_of_socket(self, row: Row) -> Iterator[Row]:
        """Yield what a socket of a host says: port 1234 of a controller, or 5671 of the Manager."""
        control = is_control_socket(row)
        bus = is_bus_socket(row)
        if not control and not bus:
            return
        ip = read_text(row, "remote_ip")
        state = read_text(row, "state")
        host = self.name_node("host", row).name
        kind = "manager"
        if control:
            kind = "controller"
        only = self.find_only("manager")
        if bus and only is not None and not only.ip:
            other = self.name_member("manager", name=only.name, ip=ip, row=row).name
        else:
            other = self.name_member(kind, ip=ip, row=row).name
        what = ("control plane" if control else "message bus", "state")
        up = None
        if state:
            up = state == "ESTABLISHED"
        yield self.state_channel(row, (host, other), what, state or "no state", up, host)

    def list_of_networks(self) -> Iterator[Row]:
        """Yield what hosts say of their logical switches and routers."""
        networks: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.list_rows("nsx.vxlan_network"):
            ip = read_text(row, "controller_ip")
            state = read_text(row, "controller_state")
            if ip not in ("", "0.0.0.0"):
                networks.setdefault((row.block.node, ip, state), []).append(row)
        what = ("logical switches", "controller_state")
        for (_, ip, state), found in networks.items():
            first = found[0]
            host = self.name_node("host", first).name
            controller = self.name_member("controller", ip=ip, row=first).name
            which = ", ".join(str(row.values.get("vni")) for row in found[:3])
            words = f"{state or 'no state'} for VNI {which}"
            if len(found) > 3:
                words += ", …"
            up = _LINKED.get(state)
            yield self.state_channel(first, (host, controller), what, words, up, host)
        what = ("logical routers", "control_plane_active")
        for row in self.list_rows("nsx.vdr"):
            host = self.name_node("host", row).name
            ip = read_text(row, "controller_ip")
            controller = ALL
            if ip not in ("", "0.0.0.0"):
                controller = self.name_member("controller", ip=ip, row=row).name
            active = row.values.get("control_plane_active")
            up = active if isinstance(active, bool) else None
            shown = {True: "Yes", False: "No", None: "not shown"}[up]
            router = read_text(row, "vdr") or "a logical router"
            words = f"{router}: Control Plane Active {shown}"
            yield self.state_channel(row, (host, controller), what, words, up, host)

    def list_of_edges(self) -> Iterator[Row]:
        """Yield what Edges say of their peers."""
        what = ("high availability", "peer_health")
        for row in self.list_rows("nsx.edge_ha"):
            unit = read_text(row, "unit")
            peer = read_text(row, "peer")
            own = self.name_node("edge", row)
            if unit and peer:
                health = read_text(row, "peer_health")
                other = self.name_member("edge", name=peer, row=row).name
                state = read_text(row, "unit_state")
                words = f"{unit} is {state}, its peer {health or 'not shown'}"
                up = None
                if health:
                    up = health == "good"
                yield self.state_channel(row, (own.name, other), what, words, up, own.name)

    def note_skipped(self) -> None:
        """Note which members the collection of the bundle left out."""
        for row in self.list_rows("nsx.bundle_part"):
            kind = _PARTS.get(read_text(row, "node_type"))
            name = read_text(row, "object_id")
            member: SiteMember | None = None
            if kind is not None and name:
                member = self.name_member(kind, object_id=name, row=row)
            elif kind == "manager":
                member = self.find_only("manager")
            status = read_text(row, "status")
            if member is not None and status.lower() == "skipped":
                member.skipped = status


def list_control_sockets(facts: Facts) -> list[Row]:
    """Return the connections of hosts to controllers."""
    return [row for row in list_rows(facts, "esxi.ip_connection") if is_control_socket(row)]


def is_control_socket(row: Row) -> bool:
    """Say whether a connection is that of the control plane agent to a controller."""
    if row.values.get("remote_port") != 1234:
        return False
    return read_text(row, "world_name").startswith("netcpa")


def is_bus_socket(row: Row) -> bool:
    """Say whether a connection is that of the firewall agent to the message bus of the Manager."""
    if row.values.get("remote_port") != 5671:
        return False
    return read_text(row, "world_name").startswith("vsfwd")
