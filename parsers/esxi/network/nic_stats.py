"""`esxcli network nic stats get -n vmnicN`: counters of one physical NIC that all drivers have."""

from __future__ import annotations

from analyzer.artefacts.parsing import Parser

from ._pnic import STATS, nic_stats

PARSER = Parser(
    name="nic_stats",
    tables=(STATS,),
    parse=nic_stats,
    node="esxi",
    commands=(
        r"\b(?:esxcli|localcli)\s+network\s+nic\s+stats\s+get\s+(?:-n\s*|--nic-name[= ])(?P<pnic>\w+)",
        r"\b(?:esxcli|localcli)\s+network\s+nic\s+stats\s+get\b",
    ),
    shape=r"^\s*NIC statistics for \w+:?\s*$",
    body=(
        r"^\s*(?:NIC statistics for \w+:?|Error\b.*|Unable\b.*"
        r"|(?:Packets|Bytes|Receive|Transmit|Multicast|Broadcast|Total|Collisions)[\w /-]{0,40}:.*)\s*$"
    ),
)
