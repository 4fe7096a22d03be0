"""Tables of `net-vdl2 -l` on a host of NSX-T: its switches with tunnel end points, and the segments on it."""

from __future__ import annotations

from analyzer.artefacts.signs import lies_below, says_bad, says_good
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Column, Table

_SOURCE = "net-vdl2 -l"
_ASK = "`net-vdl2 -l` on the host"
DVS = Column("dvs", "str", "distributed switch")
# who serves a network on a host, and what the host knows of it: the same for both products
SERVED = (
    Column("control_plane", "str", "Enabled or Disabled, with what it does"),
    Column("controller_ip", "str", "controller of the network; 0.0.0.0 for none", form=IP_FORM),
    Column(
        "controller_state",
        "str",
        "up or down, as the host sees the controller",
        sign=says_good("up"),
    ),
    Column("mac_entries", "int", "MAC addresses known of the network", "entries"),
    Column("arp_entries", "int", "entries of its ARP suppression cache", "entries"),
    Column("ports", "int", "ports on this host", "ports"),
)

OVERLAY = Table.of(
    "nsxt.host_overlay",
    "The overlay of a host of NSX-T as a whole.",
    _SOURCE,
    Column("out_of_sync", "bool", "the host is out of step with the controllers"),
    Column("udp_port", "int", "UDP port of VXLAN"),
    Column("geneve_port", "int", "UDP port of Geneve"),
    ask=_ASK,
)
SWITCH = Table.of(
    "nsxt.host_switch",
    "Switches of a host that NSX-T uses.",
    _SOURCE,
    DVS,
    Column("vds_id", "str", "UUID of the switch, as printed"),
    Column(
        "mtu",
        "int",
        "MTU; the overlay needs at least 1600",
        "bytes",
        sign=lies_below(1600, weight=4),
    ),
    Column("segment", "str", "network of the tunnel end points", form=IP_FORM),
    Column("vlan", "int", "VLAN of the tunnels"),
    Column("teps", "int", "tunnel end points", "interfaces"),
    Column("networks", "int", "segments on this host", "networks"),
    ask=_ASK,
    key=("dvs",),
)
TEP = Table.of(
    "nsxt.host_tep",
    "Tunnel end points of a host of NSX-T.",
    _SOURCE,
    DVS,
    Column("vmknic", "str", "VMkernel interface: vmk10"),
    Column("dvport", "str", "port of the distributed switch"),
    Column("port_id", "int", "port of the virtual switch"),
    Column("endpoint", "int", "endpoint ID"),
    Column("vlan", "int", "VLAN of the interface"),
    Column(
        "ip",
        "str",
        "its address; none or 0.0.0.0 where it got none",
        form=IP_FORM,
        sign=says_bad("169.254", weight=5),
    ),
    Column("mask", "str", "netmask", form=IP_FORM),
    Column("segment", "str", "network of the tunnel end point", form=IP_FORM),
    Column("gateway_ip", "str", "gateway of that network", form=IP_FORM),
    Column(
        "gateway_mac",
        "str",
        "MAC address of the gateway; ff:ff:ff:ff:ff:ff as long as it is not asked for",
        form=MAC_FORM,
    ),
    ask=_ASK,
    key=("dvs", "vmknic"),
)
SEGMENT = Table.of(
    "nsxt.host_segment",
    "Segments of NSX-T on a host and the controller of each.",
    _SOURCE,
    DVS,
    Column("vni", "int", "VXLAN network identifier"),
    Column("replication", "str", "MTEP Unicast, Source Unicast"),
    *SERVED,
    ask=_ASK,
    key=("dvs", "vni"),
)

LEVELS = {
    "Global States": (OVERLAY, ""),
    "NSX VDS": (SWITCH, "dvs"),
    "VTEP Interface": (TEP, "vmknic"),
    "Logical Network": (SEGMENT, "vni"),
}
KEYS = {
    OVERLAY.name: {
        "Control Plane Out-Of-Sync": "out_of_sync", "VXLAN UDP Port": "udp_port", "Geneve UDP Port": "geneve_port",
    },
    SWITCH.name: {
        "VDS ID": "vds_id", "MTU": "mtu", "Segment ID": "segment", "Transport VLAN ID": "vlan", "VTEP Count": "teps",
    },
    TEP.name: {
        "DVPort ID": "dvport", "Switch Port ID": "port_id", "Endpoint ID": "endpoint", "VLAN ID": "vlan", "IP": "ip",
        "Netmask": "mask", "Segment ID": "segment", "GW IP": "gateway_ip", "GW MAC": "gateway_mac",
    },
    SEGMENT.name: {
        "Replication Mode": "replication", "Control Plane": "control_plane", "Controller": "controller_ip",
        "MAC Entry Count": "mac_entries", "ARP Entry Count": "arp_entries", "Port Count": "ports",
    },
}  # fmt: skip
