"""`get logical-router UUID interfaces` on an ESXi host of NSX-T: interfaces of a distributed router.

Source: a capture of a host of 3.2 in a public post. Lists are printed as Python prints them (`[b'Routing']`); the
brackets, quotes and the `b` are left out. The edge's command of the same name has other labels
(`nsxt_router_interfaces`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

from ..common._cli_lines import headed_rows
from ..common._nsxt import DATED, UUID

TABLE = Table.of(
    "nsxt.host_lif",
    "Interfaces of the distributed routers of NSX-T on a host.",
    "nsxcli -c get logical-router <uuid> interfaces",
    KeyColumn("router", "str", "id of the router, where the command names it"),
    KeyColumn("lif", "str", "id of the interface"),
    Column("mode", "str", "Routing, …, as printed"),
    Column("vni", "int", "VNI of its segment; none of a VLAN"),
    Column("vlan", "int", "VLAN of its segment; none of an overlay"),
    Column("address", "str", "address and length of the netmask"),
    Column("mac", "str", "MAC address"),
    Column("dvs", "str", "switch it is connected to"),
    Column("control_plane_enabled", "bool", "the host asks the controllers"),
    Column("multicast_routing", "str", "Enabled, Oper Down, as printed"),
    Column("state", "str", "Enabled, …, as printed"),
    Column("flags", "str", "flags, as printed"),
    ask="`nsxcli -c get logical-router <uuid> interfaces` on the host",
)
_HEAD = re.compile(rf"\s*LIF UUID\s*:\s+(?P<lif>{UUID})\s*$")
_LINES = tuple(
    re.compile(rf"\s*{label}\s*:\s+(?P<{column}>\S.*?)\s*$")
    for label, column in (
        ("Mode", "mode"),
        ("Overlay VNI", "vni"),
        ("VLAN ID", "vlan"),
        ("IP/Mask", "address"),
        ("Mac", "mac"),
        ("Connected DVS", "dvs"),
        ("Control plane enable", "control_plane_enabled"),
        ("Multicast Routing", "multicast_routing"),
        ("State", "state"),
        ("Flags", "flags"),
    )
)
_REST = re.compile(
    r"\s*(?:Logical Router Interfaces\s*$|-{5,}\s*$|IPv6 DAD Status Legend"
    r"|(?:Replication Mode|DHCP relay|DAD-mode|RA-mode|Mode|State|Overlay VNI|VLAN ID|IP/Mask|Mac|Flags)\s*:)"
)
_LISTED = re.compile(r"[\[\]']|\bb(?=')")


def parse_block(block: Block) -> Output:
    """Read the interfaces, one row each."""
    lines = []
    for line in block.lines:
        lines.append(_LISTED.sub("", line) if "['" in line or "[b'" in line else line)
    for item in headed_rows(TABLE, replace(block, lines=lines), PARSER.name, _HEAD, _LINES, _REST):
        if isinstance(item, Row):
            item.block = block
        yield item


PARSER = Parser(
    name="nsxt_host_lifs",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(
        rf"\bnsxcli -c [\"']?get (?:logical-)?router (?P<router>{UUID}) interfaces?[\"']?\s*$",
    ),
    shape=rf"^\s*LIF UUID\s*:\s+{UUID}\s*$",
    body=rf"^\s*(?:[A-Za-z][\w /-]{{1,40}}?\s*:(?:\s|$)|Logical Router Interfaces\s*$|-{{5,}}\s*$|%|$|{DATED})",
    lead=rf"^\s*(?:Logical Router Interfaces\s*$|-{{5,}}\s*$|IPv6 DAD Status Legend|$|{DATED})",
)
