"""Uplinks of each virtual switch, with link and speed: from the list of switches to that of NICs."""

from __future__ import annotations

from analyzer.artefacts.tables import Column
from analyzer.forms.chain import Apart, Chain, ChainLink, Source, Start, chain

CHAIN: Chain = chain(
    "esxi.switch_uplink",
    "Uplinks of virtual switches, a row for each, with its link and speed.",
    Start(
        "esxi.vswitch",
        (
            Column("switch", "str", "virtual switch by the name the host gives it"),
            Column("uplinks", "str", "physical NICs of the switch or port group, by commas"),
        ),
    ),
    Apart("uplinks", Column("pnic", "str", "physical NIC as the host names it: vmnic0")),
    ChainLink(
        (Source("esxi.pnic", {"pnic": "pnic"}),),
        (
            Column("link_up", "bool", "the link is up"),
            Column("speed_mbps", "int", "speed of the link, 0 while down", "Mbit/s"),
            Column("driver", "str", "driver in use"),
        ),
    ),
    key=("switch", "pnic"),
    ask="`esxcfg-vswitch -l`",
)

MADE = (CHAIN.table,)
