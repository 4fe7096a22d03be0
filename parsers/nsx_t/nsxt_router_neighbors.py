"""`get neighbor` in a VRF of an NSX-T edge: which neighbours of a router have a MAC address.

Source: the VCF 9 page on tunnels that are down between an edge and hosts, which shows one neighbour that is reachable
(`State : reach`) in the VRF of the tunnels, with remarks behind arrows (`<----`). Neighbours after the first begin
with `Interface` again.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, UUID, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.router_neighbor",
    "Neighbours (ARP, ND) of the routers on an NSX-T edge.",
    "get neighbor (in the VRF of the router)",
    KeyColumn("router", "str", "id of the router"),
    Column("vrf_number", "int", "number that `vrf` takes on this edge"),
    Column("router_name", "str", "name of the router, where it has one"),
    Column(
        "router_type",
        "str",
        "TUNNEL, SERVICE_ROUTER_TIER0, DISTRIBUTED_ROUTER_TIER1, VRF_SERVICE_ROUTER_TIER0, …",
    ),
    KeyColumn("interface", "str", "id of the interface"),
    KeyColumn("ip", "str", "address of the neighbour", form=IP_FORM),
    Column("mac", "str", "MAC address; all zero while unresolved", form=MAC_FORM),
    Column(
        "neighbor_state",
        "str",
        "reach, …, as printed: reach means that it answers",
        sign=says_bad("fail", "incomplete", "probe", weight=2.5),
    ),
    Column("expiry_s", "int", "seconds until the entry expires; none for a permanent one", "s"),
    ask="`get neighbor` on the edge, in the VRF of the router",
)
_OF_ROUTER = {"UUID": "router", "VRF": "vrf_number", "Name": "router_name", "Type": "router_type"}
_OF_NEIGHBOR = {
    "Interface": "interface",
    "IP": "ip",
    "MAC": "mac",
    "State": "neighbor_state",
    "Timeout": "expiry_s",
}
_LABEL = re.compile(
    r"\s*(?P<label>[A-Z][A-Za-z-]{1,20})\s*:(?:\s+(?P<text>[^\s<].*?))?(?:\s+<-{2,}.*)?\s*$"
)
_REST = re.compile(rf"\s*(?:Logical Router|Neighbor)\s*$|\s*{DATED}")


def parse_block(block: Block) -> Output:
    """Read the neighbours, one row each, with the router above them."""
    router: dict[str, tuple[str, int]] = {}
    cells: dict[str, tuple[str, int]] = {}
    first = 0
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        found = _LABEL.match(line)
        if found is None:
            if line.strip() == "Logical Router":
                if cells:
                    yield from typed_row(TABLE, block, PARSER.name, first, router | cells)
                router, cells = {}, {}
            elif line.strip() and not _REST.match(line):
                yield stray_fault(block, number, PARSER.name)
            continue
        label = found["label"]
        text = (found["text"] or "").removeprefix("permanent")
        if cells and (label in _OF_ROUTER or _OF_NEIGHBOR.get(label) in cells):
            yield from typed_row(TABLE, block, PARSER.name, first, router | cells)
            cells = {}
            router = {} if label in _OF_ROUTER else router
        if label in _OF_ROUTER:
            router[_OF_ROUTER[label]] = text, at
        elif label in _OF_NEIGHBOR:
            first = first if cells else at
            cells[_OF_NEIGHBOR[label]] = text, at
    if cells:
        yield from typed_row(TABLE, block, PARSER.name, first, router | cells)


PARSER = Parser(
    name="nsxt_router_neighbors",
    tables=(TABLE,),
    parse=parse_block,
    node=EDGE,
    commands=(
        r"^\s*get neighbou?rs?\s*$",
        r"^\s*get logical-router (?P<router>\S+) neighbou?rs?\s*$",
    ),
    shape=rf"^\s*UUID\s+:\s+{UUID}\s*$",
    body=rf"^\s*(?:Logical Router\s*$|Neighbor\s*$|[A-Z][A-Za-z-]{{1,20}}\s*:(?:\s|$)|%|$|{DATED})",
    lead=rf"^\s*(?:Logical Router\s*$|{DATED})",
)
