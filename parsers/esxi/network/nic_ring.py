"""`esxcli network nic ring current get` and `preset get`: ring sizes of one physical NIC.

The text has no heading and does not name the NIC: it is known by its command only. Legacy
drivers are asked by `ethtool -g vmnicN` on the host, which prints other words for the same.
"""

from analyzer.forms import template_parser

from ._pnic import RING

PARSER = template_parser(
    "nic_ring",
    RING,
    node="esxi",
    commands=(
        r"\b(?:esxcli|localcli)\s+network\s+nic\s+ring\s+(?:current|preset)\s+get\s+"
        r"(?:-n\s*|--nic-name[= ])(?P<pnic>\w+)",
        r"\bethtool\s+(?:-g|--show-ring)\s+(?P<pnic>vmnic\d+)\b",
    ),
    shape=r"^\s*Ring parameters for vmnic\d+:\s*$",
    body=(
        r"^\s*(?:Ring parameters for .*|Pre-set maximums:|Current hardware settings:"
        r"|(?:Max )?(?:RX|TX)(?: Mini| Jumbo)?:\s*\d*|Error\b.*|Unable\b.*)\s*$"
    ),
)
