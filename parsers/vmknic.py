"""`esxcfg-vmknic -l`: VMkernel adapters with port group, addresses, MTU and TCP/IP stack.

Source: `commands/esxcfg-vmknic_-l.txt` or the command. 4.x prints no family and no stack, an IPv6 address has no
broadcast; the name of a port group holds blanks, and copies from a blog have lost the columns.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block

from ._vmk import VMK


def parse(block: Block) -> Output:
    """Read the table: one row an address of an adapter."""
    return rows(VMK, PARSER.name, block)


PARSER = Parser(
    name="vmknic",
    tables=(VMK,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-vmknic_-l\.txt$",),
    commands=(r"\besxcfg-vmknic\s+(?:-l|--list)\b",),
    shape=r"^\s*Interface\s+Port Group(?:/DVPort)?(?:/Opaque Network)?\s+(?:IP Family\s+)?IP Address\s+Netmask\s",
    body=r"^\s*(?:Interface\s+Port Group.*|vmk\d+\s.*)$",
)
