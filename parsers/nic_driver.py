"""`ethtool -i vmnicN` on an ESXi host: driver and firmware of one physical NIC.

Source: ethtool's own output, the same as in a guest; the name vmnicN in the command, or the prompt of a host,
tells that it speaks of a physical NIC. Hosts have the command up to 7.x, for drivers of the old kind.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block

from ._pnic import INFO


def parse(block: Block) -> Output:
    """Read one output into a row of esxi.pnic_info; the NIC is the command's."""
    return rows(INFO, PARSER.name, block, typed(block.params, INFO))


PARSER = Parser(
    name="nic_driver",
    tables=(INFO,),
    parse=parse,
    node="esxi",
    commands=(r"\bethtool\s+(?:-i|--driver)\s+(?P<pnic>vmnic\d+)\b",),
    shape=r"^\s*driver:\s*[\w-]+\s*$",
    body=r"^\s*(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[a-z-]+):.*$",
)
