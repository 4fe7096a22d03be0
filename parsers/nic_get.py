"""`esxcli network nic get -n vmnicN`: driver, firmware and link of one physical NIC."""

from __future__ import annotations

from analyzer.parsing import Parser

from ._pnic import INFO, nic_get

PARSER = Parser(
    name="nic_get",
    tables=(INFO,),
    parse=nic_get,
    node="esxi",
    commands=(
        r"\b(?:esxcli|localcli)\s+network\s+nic\s+get\s+(?:-n\s*|--nic-name[= ])(?P<pnic>\w+)",
        r"\b(?:esxcli|localcli)\s+network\s+nic\s+get\b",
    ),
    shape=r"^\s*Advertised Auto Negotiation:\s",
    body=r"^\s*(?:[A-Z][\w -]{2,40}:.*|Error\b.*|Unable\b.*)$",
)
