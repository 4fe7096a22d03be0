"""`get interfaces` in the VRF of a router, `get logical-router UUID interfaces`: interfaces of a router on an edge.

Source: captures of edges of 2.3 and 3.2 in public documents. Labels differ between kinds of interfaces and releases.
"""

from __future__ import annotations

import re

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, KeyColumn, Table

from ._nsxt import DATED, EDGE, ROUTER_LINE, UUID, stray, typed_row

TABLE = Table.of(
    "nsxt.router_interface",
    "Interfaces of the routers on an NSX-T edge.",
    "get interfaces (in the VRF of the router); get logical-router <uuid> interfaces",
    KeyColumn("router", "str", "id of the router"),
    Column("vrf_number", "int", "number that `vrf` takes on this edge"),
    KeyColumn("interface", "str", "id of the interface"),
    Column("ifuid", "int", "number of the interface on the edge"),
    Column("interface_name", "str", "name, where it has one"),
    Column("internal_name", "str", "name in the route table: uplink-261"),
    Column("interface_mode", "str", "lif, loopback, cpu, blackhole, …"),
    Column("interface_type", "str", "Port-type: uplink, downlink, backplane, …"),
    Column("address", "str", "address and length of the netmask; of several all, by commas"),
    Column("mac", "str", "MAC address"),
    Column("vlan_text", "str", "VLAN as printed: a number or untagged"),
    Column("vni", "int", "VNI of its segment"),
    Column("admin_status", "str", "up, down, as printed"),
    Column("op_state", "str", "up, down, as printed"),
    Column("mtu", "int", "MTU", "bytes"),
    ask="`get interfaces` on the edge, in the VRF of the router",
)

_LABELS = {
    "Interface": "interface", "Ifuid": "ifuid", "Name": "interface_name", "Internal name": "internal_name",
    "Mode": "interface_mode", "Port-type": "interface_type", "IP/Mask": "address", "MAC": "mac", "VLAN": "vlan_text",
    "VNI": "vni", "Admin": "admin_status", "Op_state": "op_state", "MTU": "mtu",
}  # fmt: skip
_LABEL = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z_/ -]{1,30}?)\s*:(?:\s+(?P<text>\S.*?))?\s*$")
_REST = re.compile(rf"\s*(?:Logical Router\s*$|UUID\s+VRF|Interfaces\b|{DATED})")


def parse(block: Block) -> Output:
    """Read the interfaces, one row each."""
    router: dict[str, str] = {name: text for name, text in block.params.items() if text}
    cells: dict[str, tuple[str, int]] = {}
    first = 0
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _LABEL.match(line):
            if found["label"] == "Interface":
                if cells:
                    yield from typed_row(TABLE, block, PARSER.name, first, cells)
                first, cells = at, {name: (text, at) for name, text in router.items()}
            if not first:
                yield stray(block, number, PARSER.name)
            elif found["text"] and found["label"] in _LABELS:
                cells.setdefault(_LABELS[found["label"]], (found["text"], at))
        elif found := ROUTER_LINE.match(line):
            router = found.groupdict()
        elif line.strip() and not _REST.match(line):
            yield stray(block, number, PARSER.name)
    if cells:
        yield from typed_row(TABLE, block, PARSER.name, first, cells)


PARSER = Parser(
    name="nsxt_router_interfaces",
    tables=(TABLE,),
    parse=parse,
    node=EDGE,
    commands=(r"^\s*get interfaces\s*$", r"^\s*get logical-router (?P<router>\S+) interfaces\s*$"),
    shape=rf"^\s*(?:Interfaces(?: \(IPv6 DAD Status.*)?\s*$|Interface\s+:\s+{UUID}\s*$)",
    body=(
        rf"^\s*(?!LIF UUID|Logical Router Interfaces)"  # those of a host, see nsxt_host_lifs
        rf"(?:Logical Router\s*$|UUID\s+VRF|{UUID}\s+\d|Interfaces\b|[A-Za-z][A-Za-z_/ -]{{1,30}}?\s*:(?:\s|$)"
        rf"|%|$|{DATED})"
    ),
    lead=rf"^\s*(?:Logical Router\s*$|UUID\s+VRF|{UUID}\s+\d|{DATED})",
)
