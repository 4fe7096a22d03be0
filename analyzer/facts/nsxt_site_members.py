"""The members of an NSX-T site: which names, ids and addresses mean one node, and what of it the case holds.

An edge has an id, an address of its management network and those of its tunnels; a manager has one id in the group
CONTROLLER and another in the others. Where nothing tells whether an id is an edge or a host, it stays a transport node.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts.tables import Row
from analyzer.facts.site_names import NSXT_KINDS, NSXT_RESTS, SiteMember, SiteNames, rows, text
from analyzer.facts.site_rows import member_rows, own_row
from analyzer.facts.site_signs import NSXT_MEMBER
from analyzer.facts.store import Facts

CLUSTER, EDGES = "management cluster", "edge cluster"  # the other end, where no single one is meant
ROUTER, TUNNEL_END = "BGP neighbour", "tunnel end"
OUTSIDE = "outside NSX"
_REGISTERED = {
    "mgr": "manager",
    "ctl": "manager",
    "edg": "edge",
    "esx": "host",
    "manager": "manager",
    "edge": "edge",
}

_OWN = ("nsxt.node", "nsxt.edge_status", "nsxt.cluster_member", "nsxt.manager_channel", "esxi.host")
_TUNNELS = ("nsxt.bfd_session", "nsxt.tunnel_port")
_LOGS = ("nsxt.syslog", "nsxt.component_log")  # what only a bundle holds


class SiteNodes(SiteNames):
    """The members of an NSX-T site, found by any of their names."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts, NSXT_KINDS)
        files = (
            self._files()
        )  # a node called like one is only answers: what the machine is called they do not say
        self.members = [
            one for one in self.members if (one.node, facts.nodes[one.node].name) not in files
        ]
        kept = {id(one) for one in self.members}
        self._by = {key: one for key, one in self._by.items() if id(one) in kept}
        self._managers()
        self._registered()
        self._edges()
        self._hosts()
        self._tunnels()

    def speaker(self, row: Row) -> str:
        """Return the name of the member whose output a row is; of an answer that somebody saved, the file's."""
        member = self.of_node(row.block.node)
        return (
            member.name
            if member is not None
            else f"whoever answered in {self.facts.name(row.block.node)}"
        )

    def to_manager(self, by: str, ip: str, fqdn: str = "") -> tuple[str, str]:
        """Return the ends of a channel to a manager: from the node that has it."""
        member = self.find(ip, fqdn) or self.known("manager", name=fqdn, ip=ip)
        return (by, CLUSTER) if member.name == by else (by, member.name)

    def transport_node(self, uuid: str, node_type: str, name: str, row: Row) -> SiteMember:
        """Return the edge or host with an id, or of a name that one of the case has."""
        if (found := self.find(uuid, name)) is not None:
            self.alias(found, uuid)
            found.object_id = found.object_id or uuid
            return found
        kind = {"edge": "edge", "esxi": "host", "esx": "host"}.get(
            node_type.lower(), "transport node"
        )
        return self.known(kind, name=name, object_id=uuid, row=row)

    def tunnel_end(self, ip: str, row: Row) -> SiteMember:
        """Return the member with the address of a tunnel."""
        return self.find(ip) or self.known(TUNNEL_END, ip=ip, row=row)

    def _files(self) -> set[tuple[str, str]]:
        """Return the nodes that have rows of NSX-T, each with the names of the files of these rows."""
        tables = [name for name in sorted(self.facts.tables) if name.startswith("nsxt.")]
        found = [row.block for name in tables for row in rows(self.facts, name)[:2000]]
        return {(block.node, block.address.replace("!", "/").rpartition("/")[2]) for block in found}

    def _managers(self) -> None:
        shared = self._shared_names()
        for row in rows(self.facts, "nsxt.cluster_member"):
            fqdn = text(row, "fqdn")
            names = {
                "name": "" if fqdn in shared else fqdn,
                "ip": text(row, "ip"),
                "object_id": text(row, "member_uuid"),
            }
            self.known("manager", **names, row=row)
        for row in rows(self.facts, "nsxt.controller_channel"):
            ip, fqdn = (
                text(row, name).removeprefix("NA") for name in ("controller_ip", "controller_fqdn")
            )
            if ip:
                self.known("manager", name=fqdn, ip=ip, row=row)
        for row in rows(self.facts, "nsxt.manager_channel"):
            if ip := text(row, "manager_ip"):
                self.known("manager", ip=ip, row=row)

    def _shared_names(self) -> set[str]:
        """Return the names that several managers of the list go by (`nsx-manager`, as deployed): they tell none."""
        addresses: dict[str, set[str]] = {}
        for row in rows(self.facts, "nsxt.cluster_member"):
            addresses.setdefault(text(row, "fqdn"), set()).add(text(row, "ip"))
        return {name for name, found in addresses.items() if len(found - {""}) > 1}

    def _registered(self) -> None:
        for row in rows(self.facts, "nsxt.registered_node"):
            kind = _REGISTERED.get(text(row, "node_kind").lower())
            name = text(row, "fqdn") or text(row, "node_name")
            if kind == "manager" and (known := self.find(text(row, "node_uuid"), name)):
                self.alias(known, text(row, "node_uuid"))
            elif kind is not None:
                self.known(kind, name=name, object_id=text(row, "node_uuid"), row=row)

    def _edges(self) -> None:
        for row in rows(self.facts, "nsxt.edge_status"):
            if (own := self.of_node(row.block.node)) is not None:
                self.known(own.kind, name=own.name, object_id=text(row, "edge_uuid"), row=row)
        for row in rows(self.facts, "nsxt.edge_peer"):
            addresses = text(row, "session").split(":")
            if len(addresses) != 2:
                continue  # of IPv6 nothing tells where one address ends
            own, managed = self.of_node(row.block.node), text(row, "interface").startswith("eth")
            peer = self.known("edge", object_id=text(row, "peer_uuid"), row=row)
            for member, address in zip((own, peer), addresses, strict=True):
                if member is not None and managed:
                    member.ip = member.ip or address
                if member is not None:
                    self.alias(member, address)

    def _hosts(self) -> None:
        """Tie tunnel end points (stack vxlan) to their hosts; a host that no session ends at is no member by it."""
        ends = {text(row, "remote_ip") for name in _TUNNELS for row in rows(self.facts, name)}
        for row in rows(self.facts, "esxi.vmk"):
            ip, node = text(row, "ip_address"), row.block.node
            member = self.of_node(node)
            if text(row, "netstack") == "vxlan" and (member is not None or ip in ends):
                member = member or self.known("host", name=self.facts.nodes[node].name, row=row)
                member.node = member.node or node
                self.alias(member, ip)
        for row in rows(self.facts, "nsxt.host_tep"):
            if (member := self.of_node(row.block.node)) is not None and (ip := text(row, "ip")):
                self.alias(member, ip)

    def _tunnels(self) -> None:
        for row in rows(self.facts, "nsxt.bfd_session"):
            if (own := self.of_node(row.block.node)) is not None and (ip := text(row, "local_ip")):
                self.alias(own, ip)
        neighbours = {text(row, "neighbor") for row in rows(self.facts, "nsxt.bgp_neighbor")}
        for row in rows(self.facts, "nsxt.bgp_neighbor"):
            if (ip := text(row, "neighbor")) and self.find(ip) is None:
                self.known(ROUTER, ip=ip, row=row)
        for row in rows(self.facts, "nsxt.bfd_session"):
            ip = text(row, "remote_ip")
            if ip and ip not in neighbours:
                uplink = text(row, "encapsulation") == "vlan"
                self.find(ip) or self.known(ROUTER if uplink else TUNNEL_END, ip=ip, row=row)


def members(facts: Facts, nodes: SiteNodes) -> Iterator[Row]:
    """Yield a row for each member, by kind and name."""
    known = nodes.members
    return member_rows(
        known,
        lambda one: own_row(facts, one, _OWN) or one.row,
        lambda one: _collected(facts, one),
        NSXT_RESTS,
        NSXT_MEMBER,
    )


def _collected(facts: Facts, member: SiteMember) -> tuple[str, bool | None]:
    if member.kind == ROUTER:
        return OUTSIDE, None
    if not member.node:
        return "not in the case", None
    if not facts.nodes[member.node].complete:
        return "cut", False
    if any(scan.node == member.node for scan in facts.scans) or any(
        facts.count(name, member.node) for name in _LOGS
    ):
        return "in the case", True
    return "only output of its CLI", None
