"""Tables of the distributed logical routers (VDR) of an ESXi host; parsers/nsx_v/nsx_vdr.py fills them."""

from __future__ import annotations

from analyzer.artefacts.signs import counts_loss, lies_above, named_by, says_bad, says_good
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Column, KeyColumn, Table

VDR = Column("vdr", "str", "name of the logical router on the host: default+edge-1, or a UUID")
VDR_ID = Column("vdr_id", "int", "number of the logical router")


def _make_router_table(
    name: str, meaning: str, option: str, key: tuple[str, ...], *columns: Column
) -> Table:
    """Return a table of what `net-vdr OPTION -l <vdr>` tells of one router."""
    command = f"net-vdr {option} -l <vdr>"
    ask = f"`{command}` for each logical router; `net-vdr --instance -l` lists their names"
    return Table(
        name,
        meaning,
        f"{command}; commands/dump-vdr-info.sh.txt",
        ask,
        (VDR, VDR_ID, *columns),
        key,
    )


ARP = _make_router_table(
    "nsx.dlr_arp",
    "Neighbour (ARP) table of the distributed logical routers on a host, one row an entry.",
    "--nbr",
    ("vdr", "network"),
    Column("network", "str", "address resolved"),
    Column("mac", "str", "MAC address; all zero while unresolved", form=MAC_FORM),
    Column(
        "flags",
        "str",
        "S static, V valid, P proxy, I interface, N nascent, L local, D deleted, K linKlif",
    ),
    Column("expiry_s", "int", "seconds until the entry expires; none for a permanent one", "s"),
    Column("src_port", "int", "port the answer came from"),
    Column("interface", "str", "interface (LIF) of the router"),
    Column("refcnt", "int", "references to the entry"),
    Column("is_permanent", "bool", "expiry is 'permanent'"),
    Column("is_nascent", "bool", "flag N: not resolved"),
    Column("is_dynamic", "bool", "learned: neither flag I nor flag S"),
)

ARP_TABLE = _make_router_table(
    "nsx.dlr_arp_table",
    "The neighbour (ARP) tables themselves, one row for each logical router whose table was printed.",
    "--nbr",
    ("vdr",),
    Column(
        "entries", "int", "entries read of the table", "entries", sign=lies_above(4500, weight=3.5)
    ),
    Column("nascent_entries", "int", "entries not resolved (flag N)", "entries"),
)

INSTANCE = Table.of(
    "nsx.vdr",
    "Distributed logical routers on a host.",
    "net-vdr --instance -l; commands/dump-vdr-info.sh.txt",
    VDR,
    VDR_ID,
    Column("lifs", "int", "interfaces", "interfaces"),
    Column("routes", "int", "routes", "routes"),
    Column("state", "str", "Enabled, …"),
    Column("controller_ip", "str", "controller that serves the router", form=IP_FORM),
    Column(
        "control_plane_active",
        "bool",
        "the host's control plane serves it",
        sign=says_bad("false", weight=3.5),
    ),
    Column(
        "control_plane_ip", "str", "address the host talks to the controller from", form=IP_FORM
    ),
    Column("edge_active", "bool", "an edge serves it"),
    ask="`net-vdr --instance -l`",
    key=("vdr",),
)

LIF = _make_router_table(
    "nsx.vdr_lif",
    "Interfaces (LIF) of the distributed logical routers on a host.",
    "--lif",
    ("vdr", "lif"),
    Column("lif", "str", "name of the interface"),
    Column("mode", "str", "Routing, Distributed, Internal, …"),
    Column("network_id", "str", "Vxlan:5004, Vlan:100"),
    Column("ip", "str", "address", form=IP_FORM),
    Column("mask", "str", "netmask", form=IP_FORM),
    Column("dvs", "str", "distributed switch it is connected to"),
    Column("state", "str", "Enabled, …", sign=says_good("enabled", "active")),
    Column("bridge", "str", "bridge it belongs to, of an interface that bridges"),
    Column("bridge_id", "int", "number of that bridge"),
    Column("is_designated", "bool", "this host is the designated instance of a VLAN interface"),
    Column(
        "designated_ip",
        "str",
        "host that is the designated instance and answers for it",
        form=IP_FORM,
    ),
    Column("vxlan_control_plane", "str", "Enabled where controllers serve the logical switch"),
    Column(
        "multicast_ip",
        "str",
        "multicast address of the logical switch; 0.0.0.1 without one",
        form=IP_FORM,
    ),
    Column("flags", "str", "flags as printed, hexadecimal"),
)

ROUTE = _make_router_table(
    "nsx.dlr_route",
    "Route tables of the distributed logical routers on a host.",
    "--route",
    ("vdr", "destination", "mask"),
    Column("destination", "str", "network routed to; 0.0.0.0 is the default route", form=IP_FORM),
    Column("mask", "str", "netmask", form=IP_FORM),
    Column("gateway", "str", "next hop; 0.0.0.0 for a connected network", form=IP_FORM),
    Column(
        "flags",
        "str",
        "U up, G gateway, C connected, I interface, H host, B blackhole, F soft flush, ! reject, E ECMP",
    ),
    Column("refcnt", "int", "references to the route"),
    Column("origin", "str", "AUTO or MANUAL"),
    Column("up_time", "int", "UpTime as printed"),
    Column("interface", "str", "interface (LIF) of the router"),
    Column("hits", "int", "HitCount (6.4)", "times"),
)

BRIDGE_NAME = Column("bridge", "str", "name of the bridge")
BRIDGE_ID = Column("bridge_id", "int", "number of the bridge")
NETWORK = Column("network", "str", "name of a network of the bridge")

BRIDGE = _make_router_table(
    "nsx.vdr_bridge",
    "Bridges of the distributed logical routers on a host.",
    "--bridge",
    ("vdr", "bridge"),
    BRIDGE_NAME,
    BRIDGE_ID,
    Column("dvs", "str", "distributed switch the bridge is on"),
    Column("networks", "int", "networks of the bridge", "networks"),
    Column("bridge_uplinks", "int", "uplinks of the bridge", "uplinks"),
)

BRIDGE_NETWORK = _make_router_table(
    "nsx.vdr_bridge_network",
    "Networks of the bridges on a host: a VLAN, or a logical switch.",
    "--bridge",
    ("vdr", "bridge", "network"),
    BRIDGE_NAME,
    BRIDGE_ID,
    NETWORK,
    Column("network_type", "int", "type of the network as printed"),
    Column("vlan", "int", "VLAN of the network; 0 for a logical switch"),
    Column("vni", "int", "VXLAN network identifier; 0 for a VLAN"),
    Column("ageing", "int", "ageing time of MAC addresses as printed"),
)

BRIDGE_MAC = Table.of(
    "nsx.vdr_bridge_mac",
    "MAC addresses that the bridges on a host know, one row an address.",
    "net-vdr -b --mac; commands/dump-vdr-info.sh.txt",
    VDR,
    VDR_ID,
    NETWORK,
    Column("mac", "str", "MAC address", form=MAC_FORM),
    Column("address_type", "str", "Dynamic, …"),
    Column("vlan", "int", "VLAN it was seen on; 0 for a logical switch"),
    Column("vni", "int", "VXLAN network identifier it was seen on; 0 for a VLAN"),
    Column("port_id", "int", "port it was seen on"),
    Column("age", "int", "age as printed"),
    ask="`net-vdr -b --mac -l <vdr>` for each logical router; `net-vdr --instance -l` lists their names",
    key=("vdr", "network", "mac"),
)

_DI_ERRORS = dict.fromkeys(("Err Instance Not Found", "Err DI Remote"), counts_loss())
DI_COUNTER = Table.of(
    "nsx.vdr_di_counter",
    "Counters of the designated instance of a host: packets, ARP and errors.",
    "net-vdr --di --stats; commands/dump-vdr-info.sh.txt",
    KeyColumn(
        "counter", "str", "name as printed: RX Pkts, ARP Requests, Err Instance Not Found, …"
    ),
    Column("value", "int", "its value", sign=named_by("counter", **_DI_ERRORS)),
    ask="`net-vdr --di --stats`",
    counts_since="boot",
)
