"""One picture of an NSX-T site: who belongs to it, and who says what of which channel.

A channel has the same ends whoever speaks of it, so that two members who contradict one another share one line. An edge
has an id, an address of its management network and those of its tunnels; a manager has one id in the group CONTROLLER
and another in the others. Where nothing says whether an id is an edge or a host, it stays a transport node. Sources: the
NSX CLI guide (get cluster status, get managers, get controllers, get transport-nodes status, get edge-cluster status,
get bfd-sessions, get bgp neighbor summary), the schemas of the REST API, KB 438022 for the lines of tunnels.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts.tables import Row
from analyzer.facts.site_clocks import compare_connections, compare_tunnels
from analyzer.facts.site_members import (
    SiteMember,
    SiteMembers,
    SiteProduct,
    has_rows_of,
    read_text,
)
from analyzer.facts.site_signs import NSXT_TABLES, SERVED, TUNNEL
from analyzer.facts.store import Facts

CLUSTER, EDGES = "management cluster", "edge cluster"  # the other end, where no single one is meant
ROUTER, TUNNEL_END = "BGP neighbour", "tunnel end"
OUTSIDE = "outside NSX"
_UP = {
    "UP": True, "DOWN": False, "STABLE": True, "UNAVAILABLE": False, "CONNECTED": True, "DISCONNECTED": False,
    "OPENED": True, "ESTAB": True, "UNREACHABLE": False, "CONCAT PATH DOWN": False, "UP (ROUTING DOWN)": False,
    "ADMIN DOWN": False, "ADMIN_DOWN": False, "INIT": False,
}  # fmt: skip
_NODE_STATES = {
    "management_status": "management",
    "control_status": "control",
    "tunnel_status": "tunnels",
}
_REGISTERED = {
    "mgr": "manager",
    "ctl": "manager",
    "edg": "edge",
    "esx": "host",
    "manager": "manager",
    "edge": "edge",
}
_NODE_TYPES = {"edge": "edge", "esxi": "host", "esx": "host"}
_TUNNELS = ("nsxt.bfd_session", "nsxt.tunnel_port")
_LOGS = ("nsxt.syslog", "nsxt.component_log")  # what only a bundle holds
NSXT = SiteProduct(
    tables=NSXT_TABLES,
    kinds={
        "nsxt_manager": "manager",
        "nsxt_edge": "edge",
        "nsx_t": "transport node",
        "esxi": "host",
    },
    host_tables=(
        "nsxt.manager_channel",
        "nsxt.controller_channel",
        "nsxt.bfd_session",
        "nsxt.host_tep",
        "nsxt.host_tunnel",
    ),
    own_tables=(
        "nsxt.node",
        "nsxt.edge_status",
        "nsxt.cluster_member",
        "nsxt.manager_channel",
        "esxi.host",
    ),
    rests={
        "manager": "its own view of the management cluster, its services and disks, its alarms",
        "host": "its channels to managers and controllers, its tunnels, its firewall",
        "edge": "its tunnels, its routing, its state in the edge cluster",
        "transport node": "its channels to managers and controllers, its tunnels",
        "tunnel end": "its side of the tunnel",
    },
)


def put_site(facts: Facts) -> set[str]:
    """Make the tables of the site; return the names of those that have rows."""
    if has_rows_of(facts, NSXT_TABLES):
        return set()
    site = NsxtSite(facts)
    return site.put_tables(site.list_channels, site.list_skews)


class NsxtSite(SiteMembers):
    """The members of an NSX-T site, and what each says of its channels."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts, NSXT)
        # A node called like a file is only answers: what the machine is called they do not say.
        files = self.list_files()
        self.drop_members(
            [one for one in self.members if (one.node, facts.nodes[one.node].name) in files]
        )
        self.name_managers()
        self.name_registered()
        self.name_edges()
        self.name_hosts()
        self.name_tunnel_ends()

    def find_evidence(self, member: SiteMember) -> Row | None:
        """Return the row that shows a member."""
        return self.find_own_row(member) or member.row

    def describe_collected(self, member: SiteMember) -> tuple[str, bool | None]:
        """Return in words what of a member the case holds, and whether that is whole."""
        facts = self.facts
        node = member.node
        if member.kind == ROUTER:
            return OUTSIDE, None
        if not node:
            return "not in the case", None
        if not facts.nodes[node].complete:
            return "cut", False
        logs = any(facts.count(name, node) for name in _LOGS)
        if logs or any(scan.node == node for scan in facts.scans):
            return "in the case", True
        return "only output of its CLI", None

    # -- members

    def list_files(self) -> set[tuple[str, str]]:
        """Return the nodes that have rows of NSX-T, each with the names of the files of these rows."""
        found = set()
        for name in sorted(self.facts.tables):
            if name.startswith("nsxt."):
                for row in self.list_rows(name)[:2000]:
                    address = row.block.address.replace("!", "/")
                    found.add((row.block.node, address.rpartition("/")[2]))
        return found

    def name_managers(self) -> None:
        """Name the managers of the cluster, and those that have channels."""
        members = self.list_rows("nsxt.cluster_member")
        # A name that several managers of the list go by (`nsx-manager`, as deployed) names none.
        addresses: dict[str, set[str]] = {}
        for row in members:
            addresses.setdefault(read_text(row, "fqdn"), set()).add(read_text(row, "ip"))
        for row in members:
            fqdn = read_text(row, "fqdn")
            shared = len(addresses[fqdn] - {""}) > 1
            self.name_member(
                "manager",
                name="" if shared else fqdn,
                ip=read_text(row, "ip"),
                object_id=read_text(row, "member_uuid"),
                row=row,
            )
        for row in self.list_rows("nsxt.controller_channel"):
            ip = read_used(row, "controller_ip")
            fqdn = read_used(row, "controller_fqdn")
            if ip:
                self.name_member("manager", name=fqdn, ip=ip, row=row)
        for row in self.list_rows("nsxt.manager_channel"):
            ip = read_text(row, "manager_ip")
            if ip:
                self.name_member("manager", ip=ip, row=row)

    def name_registered(self) -> None:
        """Name the nodes that a manager lists."""
        for row in self.list_rows("nsxt.registered_node"):
            kind = _REGISTERED.get(read_text(row, "node_kind").lower())
            name = read_text(row, "fqdn") or read_text(row, "node_name")
            uuid = read_text(row, "node_uuid")
            known = None
            if kind == "manager":
                known = self.find_member(uuid, name)
            if known is not None:
                self.add_alias(known, uuid)
            elif kind is not None:
                self.name_member(kind, name=name, object_id=uuid, row=row)

    def name_edges(self) -> None:
        """Name edges by their own status, and by the addresses of their sessions with peers."""
        for row in self.list_rows("nsxt.edge_status"):
            own = self.find_by_node(row.block.node)
            if own is not None:
                uuid = read_text(row, "edge_uuid")
                self.name_member(own.kind, name=own.name, object_id=uuid, row=row)
        for row in self.list_rows("nsxt.edge_peer"):
            addresses = read_text(row, "session").split(":")
            if len(addresses) != 2:
                continue  # of IPv6 nothing says where one address ends
            own = self.find_by_node(row.block.node)
            managed = read_text(row, "interface").startswith("eth")
            peer = self.name_member("edge", object_id=read_text(row, "peer_uuid"), row=row)
            for member, address in zip((own, peer), addresses, strict=True):
                if member is None:
                    continue
                if managed:
                    member.ip = member.ip or address
                self.add_alias(member, address)

    def name_hosts(self) -> None:
        """Tie tunnel end points (stack vxlan) to their hosts; a host that no session ends at is no member by it."""
        ends: set[str] = set()
        for table in _TUNNELS:
            ends.update(read_text(row, "remote_ip") for row in self.list_rows(table))
        for row in self.list_rows("esxi.vmk"):
            ip = read_text(row, "ip_address")
            node = row.block.node
            member = self.find_by_node(node)
            if read_text(row, "netstack") == "vxlan" and (member is not None or ip in ends):
                if member is None:
                    member = self.name_member("host", name=self.facts.nodes[node].name, row=row)
                member.node = member.node or node
                self.add_alias(member, ip)
        self.name_own_addresses("nsxt.host_tep", "ip")

    def name_own_addresses(self, table: str, column: str) -> None:
        """Note the addresses that the members of a table give as their own."""
        for row in self.list_rows(table):
            own = self.find_by_node(row.block.node)
            ip = read_text(row, column)
            if own is not None and ip:
                self.add_alias(own, ip)

    def name_tunnel_ends(self) -> None:
        """Name the ends of tunnels and the neighbours of edges that no member has as its address."""
        self.name_own_addresses("nsxt.bfd_session", "local_ip")
        neighbours = set()
        for row in self.list_rows("nsxt.bgp_neighbor"):
            ip = read_text(row, "neighbor")
            neighbours.add(ip)
            if ip and self.find_member(ip) is None:
                self.name_member(ROUTER, ip=ip, row=row)
        for row in self.list_rows("nsxt.bfd_session"):
            ip = read_text(row, "remote_ip")
            if ip and ip not in neighbours and self.find_member(ip) is None:
                uplink = read_text(row, "encapsulation") == "vlan"
                self.name_member(ROUTER if uplink else TUNNEL_END, ip=ip, row=row)

    def find_speaker(self, row: Row) -> str:
        """Return the name of the member whose output a row is; of an answer that somebody saved, the file's."""
        member = self.find_by_node(row.block.node)
        if member is None:
            return f"whoever answered in {self.facts.name(row.block.node)}"
        return member.name

    def find_transport_node(self, row: Row, uuid_column: str, node_type: str = "") -> SiteMember:
        """Return the edge or host with an id, or of a name that one of the case has."""
        uuid = read_text(row, uuid_column)
        name = read_text(row, "node_name")
        found = self.find_member(uuid, name)
        if found is None:
            kind = _NODE_TYPES.get(node_type.lower(), "transport node")
            return self.name_member(kind, name=name, object_id=uuid, row=row)
        self.add_alias(found, uuid)
        found.object_id = found.object_id or uuid
        return found

    # -- channels

    def list_skews(self) -> Iterator[Row]:
        """Yield how far the clocks of members differ."""
        yield from compare_connections(self)
        yield from compare_tunnels(self)

    def list_channels(self) -> Iterator[Row]:
        """Yield what every member says."""
        yield from self.list_of_cluster()
        yield from self.list_own_channels()
        yield from self.list_transport_nodes()
        yield from self.list_of_edges()
        yield from self.list_tunnels()

    def state_word(
        self, row: Row, ends: tuple[str, str], what: tuple[str, str], words: str = ""
    ) -> Row:
        """Return what a member says of a channel in one word; `words` are shown in its place."""
        state = read_text(row, what[1])
        up = _UP.get(state.upper())
        speaker = self.find_speaker(row)
        return self.state_channel(row, ends, what, words or state or "no state", up, speaker)

    def list_of_cluster(self) -> Iterator[Row]:
        """Yield what each manager says of the groups of the cluster and of their members."""
        for row in self.list_rows("nsxt.cluster_group"):
            if read_text(row, "group_status"):
                what = (f"group {read_text(row, 'group_type')}", "group_status")
                yield self.state_word(row, (self.find_speaker(row), CLUSTER), what)
        for row in self.list_rows("nsxt.cluster_member"):
            uuid = read_text(row, "member_uuid")
            member = self.find_member(read_text(row, "fqdn"), read_text(row, "ip"), uuid)
            if member is not None and read_text(row, "member_status"):
                by = self.find_speaker(row)
                ends = (by, CLUSTER if member.name == by else member.name)
                what = (f"member of {read_text(row, 'group_type')}", "member_status")
                yield self.state_word(row, ends, what)

    def list_own_channels(self) -> Iterator[Row]:
        """Yield what edges, hosts and managers say of their own channels to managers and controllers."""
        for row in self.list_rows("nsxt.manager_channel"):
            ends = self.find_manager_ends(row, read_text(row, "manager_ip"))
            yield self.state_word(row, ends, ("management", "channel_state"))
        for row in self.list_rows("nsxt.controller_channel"):
            ip = read_used(row, "controller_ip")
            fqdn = read_used(row, "controller_fqdn")
            if not ip and not fqdn:
                continue  # a controller that is not used has neither address nor name
            words = read_text(row, "channel_state")
            reason = read_used(row, "failure_reason")
            if reason:
                words = f"{words or 'no state'}: {reason}"
            ends = self.find_manager_ends(row, ip, fqdn)
            yield self.state_word(row, ends, ("control", "channel_state"), words)

    def find_manager_ends(self, row: Row, ip: str, fqdn: str = "") -> tuple[str, str]:
        """Return the ends of a channel to a manager: from the node that has it."""
        by = self.find_speaker(row)
        member = self.find_member(ip, fqdn) or self.name_member("manager", name=fqdn, ip=ip)
        return by, CLUSTER if member.name == by else member.name

    def list_transport_nodes(self) -> Iterator[Row]:
        """Yield what managers say of transport nodes. One that another controller serves is CLOSED and well.

        One that no one has as OPENED is down when every manager of the site was asked; else nothing says so.
        """
        views = self.list_rows("nsxt.transport_node")
        served = set()
        asked = set()
        for row in views:
            asked.add(self.find_speaker(row))
            if read_text(row, "connection_state") == "OPENED":
                served.add(read_text(row, "transport_node"))
        managers = [member.name for member in self.members if member.kind == "manager"]
        whole = asked.issuperset(managers)
        for row in views:
            by = self.find_speaker(row)
            words = read_text(row, "connection_state")
            node = self.find_transport_node(row, "transport_node", read_text(row, "node_type"))
            elsewhere = read_text(row, "transport_node") in served
            up: bool | None = None
            if words == "OPENED":
                up = True
            elif elsewhere:
                words = f"{words}: {SERVED}"
            elif whole:
                up = False
            what = ("control", "connection_state")
            yield self.state_channel(row, (node.name, by), what, words, up, by)
        for row in self.list_rows("nsxt.node_status"):
            node = self.find_transport_node(row, "node_uuid")
            for column, channel in _NODE_STATES.items():
                if read_text(row, column):
                    yield self.state_word(row, (node.name, CLUSTER), (channel, column))

    def list_of_edges(self) -> Iterator[Row]:
        """Yield what edges say of their cluster, their peers and their neighbours."""
        for row in self.list_rows("nsxt.edge_status"):
            by = self.find_speaker(row)
            ha = read_text(row, "ha_state") or "state in the cluster not shown"
            words = f"{read_text(row, 'edge_state')}, {ha}"
            yield self.state_word(row, (by, EDGES), ("edge cluster", "edge_state"), words)
            if read_text(row, "routing_status"):
                yield self.state_word(row, (by, EDGES), ("routing", "routing_status"))
        for row in self.list_rows("nsxt.edge_peer"):
            peer = self.find_member(read_text(row, "peer_uuid"))
            if peer is not None:
                channel = f"edge cluster ({read_text(row, 'interface') or 'no interface'})"
                ends = sort_ends(self.find_speaker(row), peer.name)
                yield self.state_word(row, ends, (channel, "session_status"))
        for row in self.list_rows("nsxt.bgp_neighbor"):
            other = self.find_member(read_text(row, "neighbor"))
            if other is not None:
                by = self.find_speaker(row)
                state = read_text(row, "bgp_state")
                what = (f"BGP {read_text(row, 'address_family')}".strip(), "bgp_state")
                up = None
                if state:
                    up = _UP.get(state.upper()) is True
                words = state or "no state"
                yield self.state_channel(row, (by, other.name), what, words, up, by)

    def list_tunnels(self) -> Iterator[Row]:
        """Yield what each end says of the BFD session of a tunnel, and its last state in the syslog of an edge."""
        for row in self.list_rows("nsxt.bfd_session"):
            other = self.find_member(read_text(row, "remote_ip"))
            if other is None:
                continue
            words = read_text(row, "bfd_session_state")
            diag = read_text(row, "bfd_diag")
            if diag and diag != "No Diagnostic":
                words = f"{words or 'no state'}: {diag}"
            uplink = read_text(row, "encapsulation") == "vlan"
            channel = "tunnel"
            if uplink:
                channel = "BFD of an uplink"
            ends = sort_ends(self.find_speaker(row), other.name)
            yield self.state_word(row, ends, (channel, "bfd_session_state"), words)
        lines = self.find_last_hits(TUNNEL, lambda node, hit: (node, str(hit.groups["remote"])))
        for origin, hit in lines:
            by = self.find_speaker(origin)
            now = str(hit.groups["now"])
            ip = str(hit.groups["remote"])
            end = self.find_member(ip) or self.name_member(TUNNEL_END, ip=ip, row=origin)
            ends = sort_ends(by, end.name)
            words = f"{now} (syslog)"
            yield self.state_channel(origin, ends, ("tunnel", ""), words, _UP.get(now.upper()), by)


def sort_ends(one: str, other: str) -> tuple[str, str]:
    """Return the ends of a channel in the same order whoever speaks of it."""
    if one <= other:
        return (one, other)
    return (other, one)


def read_used(row: Row, column: str) -> str:
    """Return a cell as text, "" where it says that the value is not used."""
    return read_text(row, column).removeprefix("NA")
