"""`get host-switch NAME tunnels` and `nsxdp-cli bfd sessions list` on an ESXi host of NSX-T: BFD of its tunnels.

Source: the NSX CLI guide for the first, with its states Up, Init and Down. Of the second no output was at hand, only
that it is a table with a word `down` in the row of a session that is down (VCF 9): it is read by the headings it
prints, and left unread when they name no address or no state.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.host_tunnel",
    "Tunnels of an ESXi host of NSX-T and the state of BFD on each, as the host sees it.",
    "get host-switch <name> tunnels; nsxdp-cli bfd sessions list",
    KeyColumn("local_ip", "str", "own tunnel end point", form=IP_FORM),
    KeyColumn("remote_ip", "str", "tunnel end point of the other host or edge", form=IP_FORM),
    Column("bfd_session_state", "str", "up, init, down, admin_down", sign=says_good("up")),
    Column("remote_state", "str", "state the other end reports, where that is printed"),
    Column("bfd_diag", "str", "why it last went down, where that is printed"),
    ask="`nsxcli -c get host-switch <name> tunnels` on the host, or `nsxdp-cli bfd sessions list`",
)
# What a heading may be called -> its column; words of a heading stand one blank or an underscore apart.
_HEADINGS = {
    "local ip": "local_ip", "local": "local_ip", "remote ip": "remote_ip", "remote": "remote_ip",
    "local state": "bfd_session_state", "state": "bfd_session_state", "remote state": "remote_state",
    "local diag": "bfd_diag", "diag": "bfd_diag",
}  # fmt: skip
_HEADING = re.compile(r"\s*(?:Local|Remote)(?:\b|_).*(?:\b|_)state", re.I)
_GAP = re.compile(r"\s{2,}|\t")


def parse_block(block: Block) -> Output:
    """Read the sessions, one row each, by the order of the headings above them."""
    columns: list[str] = []
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        texts = _GAP.split(line.strip())
        if _HEADING.match(line):
            columns = [_HEADINGS.get(text.lower().replace("_", " "), "") for text in texts]
        elif len(texts) > 2 and {"local_ip", "remote_ip", "bfd_session_state"} <= set(columns):
            cells = {name: (text, at) for name, text in zip(columns, texts, strict=False) if name}
            state, _ = cells.get("bfd_session_state", ("", at))
            cells["bfd_session_state"] = (state.lower(), at)
            yield from typed_row(TABLE, block, PARSER.name, at, cells)
        elif line.strip().strip("-= ") and not re.match(rf"\s*{DATED}", line):
            yield stray_fault(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_host_tunnels",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(
        r"^\s*(?:nsxcli -c [\"']?)?get host-switch (?:\S+ )?tunnels[\"']?\s*$",
        r"\bnsxdp-cli bfd sessions? list\b",
    ),
    shape=r"^\s*Local IP\s{2,}Remote IP\s{2,}Local State\s{2,}Remote State\s*$",
    body=rf"^\s*(?:(?i:local|remote)[\s_]|(?:\d{{1,3}}\.){{3}}\d|[0-9a-f]*:[0-9a-f]*:|-{{3,}}|=|%|{DATED})",
)
