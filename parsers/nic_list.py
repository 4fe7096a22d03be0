"""`esxcli network nic list`, `esxcfg-nics -l`: physical NICs, their driver and link.

5.x prints one column "Link" and PCI addresses of three digits, 5.5 and later "Admin Status" and
"Link Status"; `esxcfg-nics` prints the speed with its unit. A NIC on USB has the PCI address "Pseudo".
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block

from ._pnic import LIST


def parse(block: Block) -> Output:
    """Read the table: one row a physical NIC."""
    return rows(LIST, PARSER.name, block)


PARSER = Parser(
    name="nic_list",
    tables=(LIST,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/(?:localcli_network-nic-list|esxcfg-nics_-l)\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+network\s+nic\s+list\b", r"\besxcfg-nics\s+-l\b"),
    shape=r"^\s*Name\s+PCI(?:[ -]Device)?\s+Driver\s+(?:Admin|Link)",
    body=r"^\s*(?:Name\s+PCI.*|-[- ]+|\w+\s+(?:\w+:\w+:\w+[.:]\w+|[A-Z][a-z]+)\s+[\w-]+\s+(?:Up|Down)\s.*|Error.*)$",
)
