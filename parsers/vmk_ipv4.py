"""`esxcli network ip interface ipv4 get`: IPv4 addresses of the VMkernel adapters.

Source: `commands/localcli_network-ip-interface-ipv4-get.txt` or the command. Some releases print no gateway.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block, Row

from ._vmk import VMK


def parse(block: Block) -> Output:
    """Read the table: one row an adapter."""
    for item in rows(VMK, PARSER.name, block):
        if isinstance(item, Row):
            item.values["ip_family"] = "IPv4"
        yield item


PARSER = Parser(
    name="vmk_ipv4",
    tables=(VMK,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_network-ip-interface-ipv4-get\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+network\s+ip\s+interface\s+ipv4\s+get\b",),
    shape=r"^\s*Name\s+IPv4 Address\s+IPv4 Netmask\s+IPv4 Broadcast\s+Address Type\s",
    body=r"^\s*(?:Name\s+IPv4 Address.*|-[- ]+|vmk\d+\s.*)$",
)
