"""`show ip bgp neighbors` on an NSX Edge: BGP neighbours of an Edge or of the control VM of a logical router.

Source: a capture of an Edge (NSX for vSphere) in a public collection of test data, whose sessions are all up; how
another state is printed is not known, so any word counts as one.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._cli_lines import headed_rows

TABLE = Table.of(
    "nsx.edge_bgp_neighbor",
    "BGP neighbours of an NSX Edge.",
    "show ip bgp neighbors (on the Edge)",
    KeyColumn("neighbor", "str", "address of the neighbour", form=IP_FORM),
    Column("remote_as", "int", "AS of the neighbour"),
    Column(
        "session_state",
        "str",
        "Established, …, as printed",
        sign=says_good("established", "established up", "e", "up"),
    ),
    Column("session_up", "bool", "up or down, as printed behind the state"),
    Column("hold_s", "int", "hold time", "s"),
    Column("keepalive_s", "int", "interval of keepalives", "s"),
    Column("messages_in", "int", "messages received", "messages"),
    Column("messages_out", "int", "messages sent", "messages"),
    Column("prefixes_in", "int", "prefixes received", "prefixes"),
    Column("prefixes_out", "int", "prefixes sent", "prefixes"),
    Column("established_times", "int", "times the session came up", "times"),
    Column("dropped_times", "int", "times the session was dropped", "times"),
    Column("local_ip", "str", "own address", form=IP_FORM),
    Column("local_port", "int", "own TCP port"),
    Column("remote_port", "int", "TCP port of the neighbour"),
    ask="`show ip bgp neighbors` on the Edge",
)

_HEAD = re.compile(
    r"\s*BGP neighbor is (?P<neighbor>[^\s,]+),\s+remote AS (?P<remote_as>[\d.]+),?\s*$"
)
_LINES = (
    re.compile(r"\s*BGP state = (?P<session_state>\w+)(?:, (?P<session_up>up|down))?\b"),
    re.compile(
        r"\s*Hold time is (?P<hold_s>\d+), Keep alive interval is (?P<keepalive_s>\d+) seconds"
    ),
    re.compile(r"\s*Received (?P<messages_in>\d+) messages, Sent (?P<messages_out>\d+) messages"),
    re.compile(r"\s*Prefixes received (?P<prefixes_in>\d+) sent (?P<prefixes_out>\d+)"),
    re.compile(
        r"\s*Connections established (?P<established_times>\d+), dropped (?P<dropped_times>\d+)"
    ),
    re.compile(r"\s*Local host: (?P<local_ip>[^\s,]+), Local port: (?P<local_port>\d+)"),
    re.compile(r"\s*Remote host: [^\s,]+, Remote port: (?P<remote_port>\d+)"),
)
_REST = re.compile(
    r"\s*(?:Neighbor capabilities:|Route refresh|Address family|Graceful restart|Restart remain|Default minimum"
    r"|For Address family|Index \d)"
)


def parse_block(block: Block) -> Output:
    """Read the neighbours, one row each."""
    return headed_rows(TABLE, block, PARSER.name, _HEAD, _LINES, _REST)


PARSER = Parser(
    name="nsx_edge_bgp",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_edge",
    commands=(r"^\s*show ip bgp neighbors?\b",),
    shape=r"^\s*BGP neighbor is \S+,\s+remote AS [\d.]+,?\s*$",
    body=(
        r"^\s*(?:BGP (?:neighbor|state)|Hold time|Neighbor cap|Route refresh|Address family|Graceful|Restart remain"
        r"|Received \d|Default min|For Address|Index \d|Prefixes|Connections|(?:Local|Remote) host:|%|$)"
    ),
    common=True,
)
