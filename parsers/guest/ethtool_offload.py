"""`ethtool -k` of a guest and of a host: offloads of a network interface.

Source: ethtool's own outputs: "Features for eth0:" with names in one word and `[fixed]`, and on ESXi the older
"Offload parameters for vmnic1:" with lines of what its driver has no function for.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

from ._guest import INTERFACE

_OFFLOAD = (
    KeyColumn(
        "offload",
        "str",
        "rx-checksumming, tcp-segmentation-offload, …, with - for the blanks of older releases",
    ),
    Column("offload_on", "bool", "it is switched on"),
    Column("offload_fixed", "bool", "the driver cannot change it"),
)
GUEST = Table.of(
    "guest.ethtool_offload",
    "Offloads of a network interface in a Linux guest, one row each.",
    "ethtool -k <interface>, in the guest",
    KeyColumn(INTERFACE.name, "str", INTERFACE.meaning),
    *_OFFLOAD,
    ask="`ethtool -k eth0` in the guest, for each interface",
)
HOST = Table.of(
    "esxi.pnic_offload",
    "Offloads of a physical NIC as `ethtool -k` of the host prints them, one row each.",
    "ethtool -k <vmnic>, on the host",
    KeyColumn("pnic", "str", "physical NIC of the host"),
    *_OFFLOAD,
    ask="`ethtool -k vmnic0` on the host, for each NIC",
)
_TITLE = re.compile(r"\s*(?:Features|Offload parameters) for (?P<interface>[\w.@:-]+):\s*$")
_LINE = re.compile(
    r"\s*(?P<offload>[a-z][a-z0-9 -]{1,60}?):\s*(?P<on>on|off)(?:\s*\[(?P<note>[^\]]*)\])?\s*$"
)
_REST = re.compile(r"\s*(?:Cannot get device .*|$)")


def parse_block(block: Block) -> Output:
    """Read the offloads, one row each."""
    interface = str(block.params.get("interface", ""))
    for number, line in enumerate(block.lines, block.first_line):
        if found := _TITLE.match(line):
            interface = found["interface"]
        elif found := _LINE.match(line):
            if not interface:
                yield fault_at(block, number, PARSER.name, "no line says whose offloads these are")
                continue
            table = HOST if re.match(r"vmnic\d", interface) else GUEST
            values = {
                "offload": found["offload"].replace(" ", "-"),
                "offload_on": found["on"] == "on",
            }
            values |= {
                "offload_fixed": "fixed" in (found["note"] or ""),
                table.columns[0].name: interface,
            }
            yield Row(table, values, block, number)
        elif not _REST.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")


PARSER = Parser(
    name="ethtool_offload",
    tables=(GUEST, HOST),
    parse=parse_block,
    node="",  # a host and a guest print it
    commands=(r"\bethtool\s+(?:-k|--show-features|--show-offload)\s+(?P<interface>[\w.:@-]+)",),
    shape=r"^\s*(?:Features|Offload parameters) for [\w.@:-]+:\s*$",
    body=(
        r"^\s*(?:(?:Features|Offload parameters) for .*:|Cannot get device .*"
        r"|[a-z][a-z0-9 -]{1,60}?:\s*(?:on|off)\b.*)\s*$"
    ),
)
