"""`get logical-routers` on an ESXi host of NSX-T: distributed routers, and how full their neighbour tables are.

Source: a capture of a host of 3.2 in a public post. The edge's command of the same name has other columns
(`nsxt_logical_routers`), and its rows are in the same table.
"""

import re

from ..common._cli_lines import line_parser
from ..common._nsxt import DATED, UUID
from .nsxt_logical_routers import TABLE

_ROW = re.compile(
    rf"\s*(?P<router>{UUID})\s+(?P<router_ports>\d+)\s+(?P<routes>\d+)\s+(?P<neighbor_limit>\d+)\s+(?P<neighbor_entries>\d+)\s*$"
)
_REST = re.compile(r"\s*(?:Logical Routers Summary\s*$|-{5,}\s*$|VDR UUID\s+LIF num\b)")
PARSER = line_parser(
    "nsxt_host_routers",
    TABLE,
    _ROW,
    _REST,
    node="esxi",
    commands=(r"\bnsxcli -c [\"']?get (?:logical-)?routers?[\"']?\s*$",),
    shape=r"^\s*VDR UUID\s+LIF num\s+Route num\s+Max Neighbors\s+Current Neighbors\s*$",
    body=rf"^\s*(?:Logical Routers Summary\s*$|VDR UUID\s|-{{5,}}\s*$|{UUID}\s|%|$|{DATED})",
    lead=rf"^\s*(?:Logical Routers Summary\s*$|-{{5,}}\s*$|{DATED})",
)
