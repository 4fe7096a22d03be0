"""`get bgp neighbor ADDRESS advertised-routes` and `routes`, `get bgp ipv4`: what BGP of a gateway tells and learns.

Source: an output of an edge of 2.x in a public document; the form is that of the routing daemon below it (FRR). A row
whose end was cut keeps what it shows.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, EDGE, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.bgp_route",
    "Routes of BGP on an NSX-T edge, one row for each network and next hop.",
    "get bgp neighbor <address> advertised-routes | routes; get bgp ipv4 (in the VRF of the gateway)",
    KeyColumn("neighbor", "str", "neighbour, where the command names it", form=IP_FORM),
    KeyColumn(
        "route_way", "str", "advertised-routes: told to it; routes: learned from it; none of all"
    ),
    Column("router_id", "str", "BGP router id of the gateway"),
    KeyColumn("route", "str", "network and length of its netmask"),
    Column("route_flags", "str", ">: the best one, I: learned inside the AS, as printed"),
    KeyColumn("next_hop", "str", "next hop; 0.0.0.0 is the gateway itself", form=IP_FORM),
    Column("bgp_metric", "int", "metric (MED); none where none is printed"),
    Column("local_preference", "int", "local preference; none where none is printed"),
    Column("bgp_weight", "int", "weight; none where none is printed"),
    Column("as_path", "str", "ASs on the way, the nearest first; none of an own network"),
    Column("route_origin", "str", "i IGP, e EGP, ? redistributed"),
    ask="`get bgp neighbor <address> routes` on the edge, in the VRF of the gateway",
)
_VERSION = re.compile(r"\s*BGP table version is \d+, local router ID is (?P<router_id>[\w.:*]+)")
_HEADING = re.compile(r"\s*Network\s+Next Hop\s+Metric\s+LocPrf\s+Weight\s+Path\s*$")
_NAMES = {
    "Metric": "bgp_metric",
    "LocPrf": "local_preference",
    "Weight": "bgp_weight",
    "Path": "as_path",
}
_ROW = re.compile(
    r"\s*(?P<route_flags>[*>=I][*>=sdhrRSI]*(?: ?[>iI])?)?\s*(?P<route>[\dXx*a-fA-F:.]+/\d{1,3})"
    r"\s+(?P<next_hop>[\dXx*a-fA-F]*[.:][\w.:*]+)(?P<rest>(?:\s+\d{1,10})*(?:\s+(?P<route_origin>[ie?]))?)\s*$"
)
_REST = re.compile(
    r"\s*(?:Status (?:flags|codes):|Origin (?:flags|codes):|Total number of|Displayed\s|$)"
)


def parse_block(block: Block) -> Output:
    """Read the routes, one row each; numbers whose column the heading does not give are left out."""
    context: dict[str, str] = dict(block.params)
    starts: dict[str, int] = {}
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _ROW.match(line):
            texts = {**context, **_read_numbers(found, starts)}
            for name, text in found.groupdict().items():
                if text and name != "rest":
                    texts[name] = text
            cells = {name: (text, at) for name, text in texts.items()}
            yield from typed_row(TABLE, block, PARSER.name, at, cells)
        elif found := _VERSION.match(line):
            context |= found.groupdict()
        elif _HEADING.match(line):
            starts = {}
            is_wide = "  LocPrf" in line and "  Weight" in line and "  Path" in line
            if is_wide:
                starts = {column: line.index(label) for label, column in _NAMES.items()}
        elif not _REST.match(line) and not re.match(rf"\s*{DATED}", line):
            yield stray_fault(block, number, PARSER.name)


def _read_numbers(row: re.Match[str], starts: dict[str, int]) -> dict[str, str]:
    """Return the numbers behind the next hop by the column that each one begins in."""
    cells: dict[str, str] = {}
    if not starts:
        return cells
    for number in re.finditer(r"\d+", row["rest"]):
        begin = row.start("rest") + number.start()
        columns = [name for name in starts if starts[name] <= begin]
        if not columns:
            continue
        column = max(columns, key=starts.__getitem__)
        if column == "as_path":
            if column in cells:
                cells[column] = f"{cells[column]} {number[0]}"
            else:
                cells[column] = number[0]
        elif column not in cells and begin == starts[column]:
            cells[column] = number[0]
    return cells


PARSER = Parser(
    name="nsxt_bgp_routes",
    tables=(TABLE,),
    parse=parse_block,
    node=EDGE,
    commands=(
        r"^\s*get bgp neighbor (?P<neighbor>\S+)\s+(?P<route_way>advertised-routes|routes)\s*$",
        r"^\s*get (?:logical-router|gateway) \S+ bgp neighbor (?P<neighbor>\S+)"
        r" (?P<route_way>advertised-routes|routes)\s*$",
        r"^\s*get bgp (?:ipv4|ipv6)\s*$",
    ),
    shape=r"^\s*Status flags: > - best, I - internal",  # other routers say "Status codes:"
    lead=r"^\s*(?:BGP table version is \d+, local router ID is |$)",
    body=(
        r"^\s*(?:BGP table version|Status (?:flags|codes):|Origin (?:flags|codes):|Network\s+Next Hop|Total number|%|$"
        rf"|[*>=sdhrRSIi ]*[\dXx*a-fA-F:.]+/\d{{1,3}}\s+[\w.:*]+[.:]|{DATED})"
    ),
    common=True,
)
