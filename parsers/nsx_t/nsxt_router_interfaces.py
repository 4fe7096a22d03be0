"""`get interfaces` in the VRF of a router, `get logical-router UUID interfaces`, `get firewall interfaces`, on an edge.

Source: captures of edges of 2.3, 3.1 and 3.2 in public documents. Labels differ between kinds of interfaces and
releases. An interface of the gateway firewall has the id and name of its router below it, in labels of its own.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, ROUTER_LINE, UUID, stray_fault, typed_row

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
    Column("op_state", "str", "up, down, as printed", sign=says_good("up")),
    Column("mtu", "int", "MTU", "bytes"),
    ask="`get interfaces` on the edge, in the VRF of the router",
)
FIREWALL = Table.of(
    "nsxt.firewall_interface",
    "Interfaces of an NSX-T edge that the gateway firewall is on.",
    "get firewall interfaces",
    KeyColumn("router", "str", "id of the router"),
    Column("router_name", "str", "name of the router, where it has one"),
    Column("vrf_number", "int", "number that `vrf` takes on this edge"),
    KeyColumn("interface", "str", "id of the interface"),
    Column("interface_name", "str", "name, where it has one"),
    Column("interface_type", "str", "UPLINK, BACKPLANE, LINKED, …"),
    Column("is_synced", "bool", "connections are copied to the other edge"),
    ask="`get firewall interfaces` on the edge",
)

_OF_FIREWALL = {
    "Interface": "interface", "Type": "interface_type", "Sync enabled": "is_synced", "Name": "interface_name",
    "VRF ID": "vrf_number", "Context entity": "router", "Context name": "router_name",
}  # fmt: skip
_LABELS = {
    "Interface": "interface", "Ifuid": "ifuid", "Name": "interface_name", "Internal name": "internal_name",
    "Mode": "interface_mode", "Port-type": "interface_type", "IP/Mask": "address", "MAC": "mac", "VLAN": "vlan_text",
    "VNI": "vni", "Admin": "admin_status", "Op_state": "op_state", "MTU": "mtu",
}  # fmt: skip
_LABEL = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z_/ -]{1,30}?)\s*:(?:\s+(?P<text>\S.*?))?\s*$")
_REST = re.compile(rf"\s*(?:Logical Router\s*$|UUID\s+VRF|Interfaces\b|{DATED})")


def parse_block(block: Block) -> Output:
    """Read the interfaces, one row each."""
    owner = router = {name: text for name, text in block.params.items() if text}
    cells: dict[str, tuple[str, int]] = {}
    first = 0
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _LABEL.match(line):
            if found["label"] == "Interface":
                yield from _make_row(block, first, owner, cells)
                first, cells, owner = at, {}, router
            elif (
                "Context entity" in cells and found["label"] in cells
            ):  # the line that begins this one is lost
                yield from _make_row(block, first, owner, cells)
                first, cells = 0, {}
            if not first:
                yield stray_fault(block, number, PARSER.name)
            elif found["text"]:
                cells.setdefault(found["label"], (found["text"], at))
        elif found := ROUTER_LINE.match(line):
            router = found.groupdict()
        elif line.strip() and not _REST.match(line):
            yield stray_fault(block, number, PARSER.name)
    yield from _make_row(block, first, owner, cells)


def _make_row(
    block: Block, first: int, router: dict[str, str], cells: dict[str, tuple[str, int]]
) -> Output:
    """Yield the row of an interface, given by its labels: of the firewall where one names the router below it."""
    if not cells:
        return
    if "Context entity" in cells:
        table, labels = (FIREWALL, _OF_FIREWALL)
    else:
        table, labels = (TABLE, _LABELS)
    above = {name: (text, first) for name, text in router.items()}
    own = {labels[label]: cell for label, cell in cells.items() if label in labels}
    yield from typed_row(table, block, PARSER.name, first, above | own)


PARSER = Parser(
    name="nsxt_router_interfaces",
    tables=(TABLE, FIREWALL),
    parse=parse_block,
    node=EDGE,
    commands=(
        r"^\s*get (?:firewall )?interfaces\s*$",
        r"^\s*get logical-router (?P<router>\S+) interfaces\s*$",
    ),
    shape=rf"^\s*(?:Interfaces(?: \(IPv6 DAD Status.*)?\s*$|Interface\s+:\s+{UUID}\s*$)",
    body=(
        rf"^\s*(?!LIF UUID|Logical Router Interfaces)"  # those of a host, see nsxt_host_lifs
        rf"(?:Logical Router\s*$|UUID\s+VRF|{UUID}\s+\d|Interfaces\b|[A-Za-z][A-Za-z_/ -]{{1,30}}?\s*:(?:\s|$)"
        rf"|%|$|{DATED})"
    ),
    lead=rf"^\s*(?:Logical Router\s*$|UUID\s+VRF|{UUID}\s+\d|{DATED})",
)
