"""`show dfw host ID filter NAME discoveredips` of the NSX Manager: addresses of a VM that its host discovered.

Source: captures of a Manager of 6.2 in a public post.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Column, KeyColumn, Table

from ..common._cli_lines import line_parser

TABLE = Table.of(
    "nsx.discovered_ip",
    "Addresses of VMs that a host discovered for the distributed firewall.",
    "show dfw host <id> filter <name> discoveredips (central CLI)",
    KeyColumn("filter", "str", "filter of the network card: nic-…-eth0-vmware-sfw.2"),
    Column("vlan", "int", "VLAN"),
    KeyColumn("mac", "str", "MAC address of the card", form=MAC_FORM),
    KeyColumn("ip", "str", "address discovered", form=IP_FORM),
    Column("discovered_by", "str", "ARP snooping, DHCP snooping, …"),
    ask="`show dfw host <id> filter <name> discoveredips` on the NSX Manager",
)

_FILTER = re.compile(r"\s*Entries found for (?P<filter>\S+?):\s+\d+\s*$")
_ROW = re.compile(
    r"\s*\[\d+\]\s+vlan = (?P<vlan>\d+)\s+mac = (?P<mac>\S+)\s+IP = (?P<ip>\S+)\s+\((?P<discovered_by>[^)]+)\)\s*$"
)
_REST = re.compile(r"\s*(?:Features Enabled|Number of (?:Adds|Deletes)|Last updated time)\b")
PARSER = line_parser(
    "dfw_discovered_ips",
    TABLE,
    _ROW,
    _REST,
    (_FILTER,),
    node="",
    commands=(r"\bshow dfw host \S+ filter (?P<filter>\S+) discoveredips\b",),
    shape=r"^\s*(?:Entries found for nic-\S+:\s+\d+|Features Enabled : [0-9A-F]{8} : \(.*)\s*$",
    body=r"^\s*(?:Entries found for|\[\d+\]\s+vlan =|Features Enabled|Number of (?:Adds|Deletes)|Last updated|%)",
)
