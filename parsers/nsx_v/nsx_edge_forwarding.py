"""`show ip forwarding` on an NSX Edge: the routes that its kernel forwards by, with the interface of each.

Source: the form in VMware's own published test code for an Edge; further hops of a network are below it.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import stray_fault, typed_row

TABLE = Table.of(
    "nsx.edge_forwarding",
    "Forwarding table of an NSX Edge, one row for each network and next hop.",
    "show ip forwarding (on the Edge)",
    KeyColumn(
        "route",
        "str",
        "network forwarded to and length of its netmask; 0.0.0.0/0 is the default route",
    ),
    Column("learned_from", "str", "C connected, R remote, as printed: R>*"),
    KeyColumn("next_hop", "str", "next hop; none of a connected network", form=IP_FORM),
    KeyColumn("interface", "str", "interface of the Edge: vNic_0, VDR"),
    ask="`show ip forwarding` on the Edge",
)
_NETWORK = re.compile(
    r"\s*(?P<learned_from>[CR](?:>\*?|\s*\*)?)\s*(?P<route>[\dXx*.:a-fA-F]+/\d{1,3})(?=\s|$)"
)
_HOP = re.compile(
    r"\s+(?:is directly connected|via (?P<next_hop>[\w.:*]+)),\s*(?P<interface>[\w.-]+)\s*$"
)
_REST = re.compile(r"\s*(?:Codes: C - connected, R|> - selected route|$)")


def parse_block(block: Block) -> Output:
    """Read the networks, one row for each hop."""
    network: dict[str, str] = {}
    for number, line in enumerate(block.lines):
        begins = _NETWORK.match(line)
        network = begins.groupdict() if begins else network
        hop = _HOP.match(line, begins.end() if begins else 0)
        if hop and network:
            at = block.first_line + number
            cells = {}
            for name, text in {**network, **hop.groupdict()}.items():
                if text:
                    cells[name] = (text, at)
            yield from typed_row(TABLE, block, PARSER.name, at, cells)
        elif _REST.match(line):
            network = {} if line.strip() else network
        elif not (begins and begins.end() == len(line.rstrip())):
            yield stray_fault(block, number, PARSER.name)


PARSER = Parser(
    name="nsx_edge_forwarding",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_edge",
    commands=(r"^\s*show ip forwarding\b",),
    shape=r"^\s*Codes: C - connected, R - remote,?\s*$",
    body=(
        r"^\s*(?:Codes:|> - selected|%|$|[CR](?:>\*?|\s*\*)?\s*[\w.:*]+/\d"
        r"|(?:via [\w.:*]+|is directly connected), *[\w.-]+)"
    ),
    common=True,
)
