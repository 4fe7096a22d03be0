"""By what a case speaks of an NSX site, and what of its picture is in logs."""

from __future__ import annotations

from analyzer.facts.store import Facts
from analyzer.scan.hits import Signature

MEMBER, CHANNEL, SKEW = "site.member", "site.channel", "site.skew"
TABLES = (MEMBER, CHANNEL, SKEW)
NSXT_MEMBER, NSXT_CHANNEL, NSXT_SKEW = "nsxt.site_member", "nsxt.site_channel", "nsxt.site_skew"
NSXT_TABLES = (NSXT_MEMBER, NSXT_CHANNEL, NSXT_SKEW)
ALL_TABLES = (*TABLES, *NSXT_TABLES)
# What a node says of a manager or controller that is ready and does not serve it.
IDLE = ("standby", "not used")
SERVED = "another controller serves it"  # a channel that is CLOSED and meant to be
HOST_STATUS = Signature(
    "site/host-status",
    "nsx.vsm_log",
    r"Host Connection Status Changed: Event Code: \d+, Host: (?P<host>\S+) \(ID: (?P<id>[\w-]+)\), "
    r"NSX Manager - Firewall Agent: (?P<firewall>\w+), NSX Manager - Control Plane Agent: (?P<agent>\w+), "
    r"Control Plane Agent - Controllers: (?P<controllers>\w+)",
)
PACKETS = Signature(
    "site/first-packet",
    "nsx.dfwpktlogs",
    r"INET6? match PASS \S+ (?P<way>IN|OUT) \d+ TCP (?P<flow>[0-9a-fA-F.:]+/\d+->[0-9a-fA-F.:]+/\d+) S(?:\s|$)",
)
TUNNEL = Signature(
    "site/tunnel",
    "nsxt.syslog",
    r"Tunnel (?P<local>[0-9a-fA-F.]+):(?P<remote>[0-9a-fA-F.]+)\(\w+\) state updated from \w+ to (?P<now>\w+)",
)
SITE_SIGNATURES = (HOST_STATUS, PACKETS, TUNNEL)
_NSXV_KINDS = ("nsx_manager", "nsx_controller", "nsx_edge")
_NSXV_FACTS = ("nsx.vxlan_network", "nsx.vdr", "nsx.controllers")
_NSXT_KINDS = ("nsxt_manager", "nsxt_edge")
_NSXT_FACTS = (
    "nsxt.manager_channel",
    "nsxt.controller_channel",
    "nsxt.cluster_member",
    "nsxt.transport_node",
)


def is_site(facts: Facts) -> bool:
    """Say whether the case holds anything of NSX for vSphere."""
    return holds_site(facts, _NSXV_KINDS, _NSXV_FACTS)


def is_nsxt_site(facts: Facts) -> bool:
    """Say whether the case holds anything of a site of NSX-T: a manager, an edge, or a node that speaks of them."""
    return holds_site(facts, _NSXT_KINDS, _NSXT_FACTS)


def holds_site(facts: Facts, kinds: tuple[str, ...], tables: tuple[str, ...]) -> bool:
    """Say whether a case has a node of some kinds, or a row of some tables."""
    if any(info.kind in kinds for info in facts.nodes.values()):
        return True
    return any(facts.count(table) for table in tables if table in facts.tables)
