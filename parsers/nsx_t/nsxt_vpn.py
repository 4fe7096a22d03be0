"""`get ipsecvpn session` and `get l2vpn session` on an NSX-T edge: sessions of VPNs with their state.

Source: the NSX CLI guide (sessions that are up, down and negotiating), and outputs that a cloud provider shows for a
layer 2 VPN between an NSX-T edge and a standalone client. Two cells may be in one line. The guide's copies have
lost their line ends; where a line ends is known from the provider's outputs.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._cli_lines import text_rows
from ..common._nsxt import DATED, EDGE, stray_fault, typed_row

IPSEC = Table.of(
    "nsxt.ipsec_session",
    "IPsec sessions of an NSX-T edge.",
    "get ipsecvpn session; get ipsecvpn session summary",
    Column("session_uuid", "str", "id of the session"),
    Column("ike_session", "int", "number of the session on this edge"),
    Column("vpn_type", "str", "Route, Policy"),
    KeyColumn("local_ip", "str", "own address", form=IP_FORM),
    KeyColumn("remote_ip", "str", "address of the other end", form=IP_FORM),
    Column("remote_id", "str", "what the other end calls itself"),
    Column(
        "vpn_state",
        "str",
        "Up, Down, Negotiating, …: state of the session",
        sign=says_good("up", "established"),
    ),
    Column(
        "down_reason",
        "str",
        "why it is down, or failed last: No proposal chosen, Peer not reachable, Timed out, …",
    ),
    Column(
        "vpn_tunnel_state",
        "str",
        "Up, Down: state of its last tunnel that is not up, else of its first",
        sign=says_good("up"),
    ),
    ask="`get ipsecvpn session` on the edge",
)
L2VPN = Table.of(
    "nsxt.l2vpn_session",
    "Layer 2 VPN sessions of an NSX-T edge.",
    "get l2vpn session",
    KeyColumn(
        "vpn_tunnel",
        "str",
        "id of the tunnel of the session; its own id stands like a secret and is masked",
    ),
    Column("vpn_state", "str", "UP, DOWN, …: state of the session"),
    ask="`get l2vpn session` on the edge",
)
_CELL = re.compile(r"(?P<label>[A-Z][A-Za-z0-9 ]{1,30}?)\s*: (?P<text>\S.*?)(?=\s{2,}|\s*$)")
_OF_IPSEC = {
    "IKE Session ID": "ike_session", "UUID": "session_uuid", "Type": "vpn_type", "Local IP": "local_ip",
    "Peer IP": "remote_ip", "Peer ID": "remote_id",
    "Session Status": "vpn_state", "Session Down Reason": "down_reason", "Down Reason": "down_reason",
    "Last Known Failure": "down_reason", "Tunnel Status": "vpn_tunnel_state",
}  # fmt: skip
_OF_L2VPN = {"Tunnel": "vpn_tunnel", "Status": "vpn_state"}
_OFTEN = (
    "vpn_tunnel_state",
    "down_reason",
)  # each tunnel of a session has them as well: the session's own comes first
_REST = re.compile(
    rf"\s*(?:$|-{{5,}}\s*$|Policy Rules\s*$|Total Number of (?:[A-Z][a-z]+ )?Sessions"
    rf"|[A-Z][A-Za-z0-9 ]{{1,30}}\s*:\s*$|{DATED})"
)
# Version, number, suite, type, authentication, state, both addresses and why it is down.
_SUMMARY = re.compile(
    r"\s*IKE\S+\s+(?P<ike_session>\d+)\s+\S+\s+(?P<vpn_type>[A-Z][a-z]+)\s+\S+\s+(?P<vpn_state>[A-Z][a-z]+)"
    r"\s+(?P<local_ip>\S+)\s+(?P<remote_ip>\S+)(?:\s+(?P<down_reason>\S.*?)\*?)?\s*$"
)
_AROUND = re.compile(r"\s*(?:$|-{5,}\s*$|Version\s+SID\s|SID: \S.*$|\*: Last Known Failure\s*$)")


def _read_sessions(
    block: Block, name: str, table: Table, labels: dict[str, str], first: str
) -> Output:
    """Read the sessions, one row each; `first`: the label that begins one."""
    cells: dict[str, tuple[str, int]] = {}
    begun = 0
    for number, line in enumerate(block.lines):
        found = list(_CELL.finditer(line))
        if not found and not _REST.match(line):
            yield stray_fault(block, number, name)
        for one in found:
            column = labels.get(one["label"])
            if one["label"] == first or (column in cells and column not in _OFTEN):
                if begun:
                    yield from typed_row(table, block, name, begun, cells)
                cells, begun = {}, block.first_line + number
            if column:
                cell = one["text"], block.first_line + number
                worse = column == "vpn_tunnel_state" and one["text"] != "Up"
                cells[column] = cell if worse else cells.get(column, cell)
    if begun:
        yield from typed_row(table, block, name, begun, cells)


def parse_block(block: Block) -> Output:
    """Read sessions of either kind, known by the label that begins them, or the list of them."""
    if any(re.match(r"\s*Version\s+SID\s", line) for line in block.lines):
        return text_rows(IPSEC, block, PARSER.name, (), _SUMMARY, _AROUND)
    if any(re.match(r"\s*IKE Session ID\s*:", line) for line in block.lines):
        return _read_sessions(block, PARSER.name, IPSEC, _OF_IPSEC, "IKE Session ID")
    return _read_sessions(block, PARSER.name, L2VPN, _OF_L2VPN, "Session")


_WHICH = (
    r"(?:\s+logical-router \S+)?(?:\s+(?:active|down|negotiating|status|summary(?: ipv[46])?))?"
)
PARSER = Parser(
    name="nsxt_vpn",
    tables=(IPSEC, L2VPN),
    parse=parse_block,
    node=EDGE,
    commands=(
        rf"^\s*get ipsecvpn session{_WHICH}(?:\s+(?:sessionid \S+|local-ip \S+ remote-ip \S+|[0-9a-f-]{{36}}))?\s*$",
        r"^\s*get l2vpn session(?:s|s logical-router \S+| \S+ status)?\s*$",
    ),
    shape=r"^\s*(?:IKE Session ID\s*:\s*\d+|Version\s+SID\s+Compliance Suite\s+Type\s.*Peer IP.*)\s*$",
    body=(
        rf"^\s*(?:[A-Z][A-Za-z0-9 ]{{1,30}}?\s*:(?:\s|$)|Policy Rules\s*$|-{{5,}}\s*$|Version\s+SID\s|IKE(?:v\d|Flex)\s"
        rf"|\*: Last|%|{DATED})"
    ),
)
