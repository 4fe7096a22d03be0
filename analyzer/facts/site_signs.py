"""What tells that a case speaks of an NSX for vSphere site, and what of its picture stands in logs."""

from __future__ import annotations

from analyzer.facts.store import Facts
from analyzer.scan.hits import Signature

MEMBER, CHANNEL, SKEW = "site.member", "site.channel", "site.skew"
TABLES = (MEMBER, CHANNEL, SKEW)
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
SITE_SIGNATURES = (HOST_STATUS, PACKETS)
_KIND_OF_NODE = ("nsx_manager", "nsx_controller", "nsx_edge")


def is_site(facts: Facts) -> bool:
    """Tell whether the case holds anything of NSX for vSphere."""
    return any(info.kind in _KIND_OF_NODE for info in facts.nodes.values()) or any(
        facts.count(table) for table in ("nsx.vxlan_network", "nsx.vdr", "nsx.controllers") if table in facts.tables
    )
