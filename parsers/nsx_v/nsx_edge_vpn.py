"""`show service ipsec` and `show service l2vpn` on an NSX Edge, or on a standalone client of its layer 2 VPN.

Source: outputs that a cloud provider shows for the standalone client; the IPsec part is that of vShield Edge.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Row, Table, Value

IPSEC = Table.of(
    "nsx.edge_ipsec",
    "Sites of the IPsec service of an NSX Edge, one row a channel to a peer.",
    "show service ipsec (on the Edge)",
    Column("site", "str", "both ends with their networks, as printed"),
    Column("remote_ip", "str", "address of the peer", form=IP_FORM),
    Column("local_ip", "str", "own address", form=IP_FORM),
    Column("ike_version", "str", "IKEv1, IKEv2"),
    Column(
        "vpn_state",
        "str",
        "UP, DOWN, …: state of the channel",
        sign=says_good("up", "state_main_i4", "state_quick_i2", "established"),
    ),
    Column("tunnels", "int", "tunnels of this site", "tunnels"),
    Column("tunnels_up", "int", "tunnels of this site that are up", "tunnels"),
    ask="`show service ipsec` on the Edge",
    key=("local_ip", "remote_ip"),
)
L2VPN = Table.of(
    "nsx.edge_l2vpn",
    "Sites of the layer 2 VPN of an NSX Edge or its standalone client.",
    "show service l2vpn (on the Edge)",
    KeyColumn("site", "str", "name or id of the site"),
    Column(
        "vpn_state",
        "str",
        "UP, DOWN, …: state of the IPsec session that carries it",
        sign=says_good("up", "connected"),
    ),
    ask="`show service l2vpn` on the Edge",
)
_SITE = re.compile(r"\s*Site:\s+(?P<site>\S.*?)\s*$")
_CHANNEL = re.compile(
    r"\s*Channel:\s+PeerIp:\s*(?P<remote_ip>\S+)\s+LocalIP:\s*(?P<local_ip>\S+)"
    r"\s+Version:\s*(?P<ike_version>\S+)\s+Status:\s*(?P<vpn_state>\S.*?)\s*$"
)
_TUNNEL = re.compile(r"\s*Tunnel:\s+PeerSubnet:.*\bStatus:\s*(?P<state>\S.*?)\s*$")
_STRETCHED = re.compile(r"\s*(?P<site>\S+)\s+(?P<vpn_state>UP|DOWN|Up|Down)\s+\S+\s+\S+\s*$")
_REST = re.compile(
    r"\s*(?:$|-{5,}\s*$|vShield Edge IPSec Service Status:|IPSec Server is |AESNI is |Total (?:Sites|Tunnels):"
    r"|L2 VPN is |L2 VPN type:|SITENAME\s)"
)


def parse_block(block: Block) -> Output:
    """Read the sites of both services, one row each."""
    site, channels = "", list[Row]()
    for number, line in enumerate(block.lines, block.first_line):
        if found := _SITE.match(line):
            site = found["site"]
        elif found := _CHANNEL.match(line):
            values: dict[str, Value] = {
                "site": site or None,
                **found.groupdict(),
                "tunnels": 0,
                "tunnels_up": 0,
            }
            channels.append(Row(IPSEC, values, block, number))
            site = ""
        elif (found := _TUNNEL.match(line)) and channels:
            counts = channels[-1].values
            counts["tunnels"] = int(str(counts["tunnels"])) + 1
            counts["tunnels_up"] = int(str(counts["tunnels_up"])) + (found["state"].upper() == "UP")
        elif found := _STRETCHED.match(line):
            yield Row(L2VPN, dict(found.groupdict()), block, number)
        elif not _REST.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    yield from channels


PARSER = Parser(
    name="nsx_edge_vpn",
    tables=(IPSEC, L2VPN),
    parse=parse_block,
    node="nsx_edge",
    commands=(r"^\s*show service (?:ipsec|l2vpn)\s*$",),
    shape=r"^\s*(?:vShield Edge IPSec Service Status:|L2 VPN is \w+)\s*$",
    body=(
        r"^\s*(?:-{5,}\s*$|vShield Edge IPSec|IPSec Server is |AESNI is |Total (?:Sites|Tunnels):"
        r"|(?:Site|Channel|Tunnel):\s|L2 VPN |SITENAME\s|\S+\s+(?:UP|DOWN|Up|Down)\s+\S+\s+\S+\s*$|error: |%)"
    ),
)
