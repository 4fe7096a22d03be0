"""`nsxdp-cli vswitch instance list` on an ESXi host of NSX-T: ports of its switches, and the uplink each one uses.

Source: a capture of a host of 3.2 in a public post. Clients have blanks (`Shadow of vmnic0`); a port without a DVPort
and an uplink that is a port itself leave cells empty, so the columns are known by what they hold.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import MAC_FORM, Column, KeyColumn, Table

from ..common._cli_lines import line_parser

TABLE = Table.of(
    "nsxt.host_port",
    "Ports of the switches of a host of NSX-T, with the physical NIC each one uses.",
    "nsxdp-cli vswitch instance list",
    Column("portset", "str", "set of ports of the switch: DvsPortset-1"),
    KeyColumn("dvs", "str", "name of the switch"),
    Column("client_name", "str", "t1.eth0, vmk10, vmnic0, Shadow of vmnic0, vdr-vdrPort, …"),
    KeyColumn("port_id", "int", "number of the port on this host"),
    Column("dvport", "str", "number or id of the DVPort; none where it has none"),
    Column("mac", "str", "MAC address of the client", form=MAC_FORM),
    Column("team_uplink", "str", "physical NIC the port uses; void where it has none"),
    ask="`nsxdp-cli vswitch instance list` on the host",
)
_SWITCH = re.compile(
    r"\s*(?P<portset>\S+) \((?P<dvs>.{1,200})\)\s+(?:[\da-f]{2}[ -]){15}[\da-f]{2}\s*$"
)
_ROW = re.compile(
    r"\s*(?P<client_name>\S(?:.{0,200}?\S)?)\s+(?P<port_id>\d{8,10})(?:\s+(?P<dvport>[\w-]{1,64}))?"
    r"\s+(?P<mac>[\da-fA-FXx*]{2}(?::[\da-fA-FXx*]{2}){5})(?:\s+(?:n/a|(?P<team_uplink>\S+)))?\s*$"
)
_REST = re.compile(r"\s*(?:Total Ports:\s*\d+|Client\s+PortID\s)")
PARSER = line_parser(
    "nsxt_host_ports",
    TABLE,
    _ROW,
    _REST,
    (_SWITCH,),
    node="esxi",
    commands=(r"\bnsxdp-cli\s+vswitch\s+instance\s+list\b",),
    shape=r"^\s*(?:\S+ \(.{1,200}\)\s+(?:[\da-f]{2}[ -]){15}[\da-f]{2}|Client\s+PortID\s+DVPortID\s+MAC\s+Uplink)\s*$",
    body=(
        r"^\s*(?:Total Ports:|Client\s+PortID|\S.{0,200}\s\d{8,10}\s.*[\da-fA-FXx*]{2}(?::[\da-fA-FXx*]{2}){5}"
        r"|\S+ \(.{1,200}\)\s+[\da-f]{2} [\da-f]{2} |$)"
    ),
)
