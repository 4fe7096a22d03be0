"""Which names mean one member of an NSX site: an id, an address and the node of a bundle are one."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.artefacts.tables import Row
from analyzer.facts.store import Facts

KINDS = {
    "nsx_manager": "manager",
    "nsx_controller": "controller",
    "nsx_edge": "edge",
    "esxi": "host",
}
NSXT_KINDS = {
    "nsxt_manager": "manager",
    "nsxt_edge": "edge",
    "nsx_t": "transport node",
    "esxi": "host",
}
RESTS = {
    "manager": "the list of controllers, system events, the state of the hosts' channels",
    "controller": "its own view of the cluster, its roles, its disk",
    "host": "its connections to the controllers, its logical switches and routers",
    "edge": "its high availability, its routing, its neighbours",
}
NSXT_RESTS = {
    "manager": "its own view of the management cluster, its services and disks, its alarms",
    "host": "its channels to managers and controllers, its tunnels, its firewall",
    "edge": "its tunnels, its routing, its state in the edge cluster",
    "transport node": "its channels to managers and controllers, its tunnels",
    "tunnel end": "its side of the tunnel",
}

# Tables of a host that make it a member: of NSX for vSphere, of NSX-T.
_HOST_TABLES = {
    False: ("nsx.vxlan_network", "nsx.vdr", "nsx.dfw_filter"),
    True: (
        "nsxt.manager_channel",
        "nsxt.controller_channel",
        "nsxt.bfd_session",
        "nsxt.host_tep",
        "nsxt.host_tunnel",
    ),
}


@dataclass(slots=True)
class SiteMember:
    """One member: the names it goes by, and the row that named it first."""

    kind: str
    names: list[str] = field(default_factory=list)  # the best one first
    ip: str = ""
    object_id: str = ""
    node: str = ""  # key of its node, "" when the case has none
    skipped: str = ""
    row: Row | None = None

    @property
    def name(self) -> str:
        """What the member is called."""
        return next((name for name in (*self.names, self.object_id, self.ip) if name), "")


class SiteNames:
    """The members of a site, found by any of their names."""

    def __init__(self, facts: Facts, kinds: dict[str, str] = KINDS) -> None:
        self.facts, self.kinds = facts, kinds
        self.members: list[SiteMember] = []
        self._by: dict[tuple[str, str], SiteMember] = {}
        sockets = rows(facts, "esxi.ip_connection") if "nsx_manager" in kinds else []
        netcpa = {row.block.node for row in sockets if _is_netcpa(row)}
        for info in facts.nodes.values():
            if info.kind in kinds and (
                info.kind != "esxi" or info.key in netcpa or self._has_nsx(info.key)
            ):
                member = self.known(kinds[info.kind], name=info.name)
                member.node = info.key
                self._by[(member.kind, info.key)] = member

    def known(
        self,
        kind: str,
        *,
        name: str = "",
        ip: str = "",
        object_id: str = "",
        row: Row | None = None,
    ) -> SiteMember:
        """Return the member that goes by any of these names, made when it is new; names that are given are its own."""
        keys = [
            key for key in (_unit(name) if kind == "edge" else _short(name), ip, object_id) if key
        ]
        found = [self._by[(kind, key)] for key in keys if (kind, key) in self._by]
        member = found[0] if found else SiteMember(kind)
        if not found:
            self.members.append(member)
        for other in found[1:]:
            self._merge(member, other)
        if name and name not in member.names:
            member.names.append(name)
        member.ip, member.object_id = member.ip or ip, member.object_id or object_id
        member.row = member.row or row
        for key in keys:
            self._by[(kind, key)] = member
        return member

    def of_node(self, key: str) -> SiteMember | None:
        """Return the member that a node is."""
        info = self.facts.nodes.get(key)
        return self._by.get((self.kinds.get(info.kind, ""), key)) if info is not None else None

    def find(self, *names: str) -> SiteMember | None:
        """Return the member of any kind that goes by one of these names."""
        keys = {key for name in names if name for key in (_short(name), _unit(name))}
        return next((member for (_, key), member in self._by.items() if key in keys), None)

    def alias(self, member: SiteMember, key: str) -> None:
        """Note another address of a member, of a tunnel end point; the first that has it keeps it."""
        self._by.setdefault((member.kind, key), member)

    def _has_nsx(self, key: str) -> bool:
        """Tell whether a host has tables of this site."""
        return any(
            self.facts.count(table, key) for table in _HOST_TABLES["nsxt_edge" in self.kinds]
        )

    def only(self, kind: str) -> SiteMember | None:
        """Return the only member of a kind, None when there are none or several."""
        found = [member for member in self.members if member.kind == kind]
        return found[0] if len(found) == 1 else None

    def _merge(self, member: SiteMember, other: SiteMember) -> None:
        if other is member:
            return
        member.names += [name for name in other.names if name not in member.names]
        member.ip, member.object_id = member.ip or other.ip, member.object_id or other.object_id
        member.node, member.row = member.node or other.node, member.row or other.row
        self.members = [one for one in self.members if one is not other]
        for key, known in list(self._by.items()):
            if known is other:
                self._by[key] = member


def _short(name: str) -> str:
    """Return a name as it is compared: without its domain, lower case; an address stays whole."""
    return name if name.replace(".", "").isdigit() else name.partition(".")[0].lower()


def _unit(name: str) -> str:
    """Return the name of an Edge as it is compared: the number of its unit follows the domain (edge.example-0)."""
    domain = name.partition(".")[2]
    return _short(name) + (domain[-2:] if domain.endswith(("-0", "-1")) else "")


def _is_netcpa(row: Row) -> bool:
    return row.values.get("remote_port") == 1234 and str(
        row.values.get("world_name") or ""
    ).startswith("netcpa")


def rows(facts: Facts, table: str) -> list[Row]:
    """Return the rows of a table, none when the case has none."""
    return list(facts.store(table).rows) if table in facts.tables and facts.count(table) else []


def text(row: Row, column: str) -> str:
    """Return a cell as text, "" where it is empty."""
    value = row.values.get(column)
    return "" if value is None else str(value)
