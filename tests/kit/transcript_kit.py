"""Outputs that the tests of transcripts know, and pieces of dumps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.sources.transcript import TranscriptPiece, split

SEEDS = Path(__file__).parents[2] / "../shared/seeds"


@dataclass(frozen=True)
class Known:
    """A small recogniser, so that these tests do not depend on any parser."""

    name: str
    commands: tuple[str, ...] = ()
    shape: str = ""
    body: str = ""
    node: str = "esxi"
    log: bool = False
    rest: bool = False
    common: bool = False

    def match_command(self, command: str) -> re.Match[str] | None:
        return next((found for one in self.commands if (found := re.search(one, command))), None)

    def leads(self, line: str) -> bool:
        return False

    def starts_at(self, line: str) -> re.Match[str] | None:
        return re.match(self.shape, line) if self.shape else None

    def is_proved(self, lines: Sequence[str]) -> bool:
        return True

    def goes_on(self, line: str) -> bool:
        return re.match(self.body, line) is not None if self.body else True


PORT = r"/net/portsets/(?P<switch>[^/\s]+)/ports/(?P<port_id>\d+)"
FIELD = r"^\s*(?:[{}]\s*|[#A-Za-z][^:]{1,60}:\S.*)$"
RX = Known(
    "rx",
    (rf"\b(?:get|cat)\s+\S*?{PORT}/vmxnet3/rxSummary",),
    r"^\s*stats of a vmxnet3 vNIC rx queue",
    FIELD,
)
STATS = Known(
    "stats", (rf"\b(?:get|cat)\s+\S*?{PORT}/clientStats",), r"^\s*port client stats", FIELD
)
QUEUE = Known(
    "queue",
    (rf"\b(?:get|cat)\s+\S*?{PORT}/vmxnet3/rxqueues/(?P<queue>\d+)/status",),
    r"^\s*status of a vmxnet3 vNIC rx queue",
    FIELD,
)
QUEUES = Known("queues", (rf"\bls\s+\S*?{PORT}/vmxnet3/rxqueues/?$",), "", r"^\d+/$")
PORTS = Known("ports", (r"\bnet-stats\s+-l",), r"^\s*PortNum\s+Type", r"^\s*\d+\s+\d+\s+\d+\s+\S")
ETHTOOL = Known(
    "ethtool",
    (r"\bethtool\s+-S\s+(?P<nic>\w+)",),
    r"^NIC statistics:",
    r"^\s*[\w #]+:\s*\d+$",
    node="guest",
)
FREE = Known("free", (r"^free\b",), r"^\s+total\s+used", r"^(?:Mem|Swap|-/\+).*$", node="guest")
NAME = Known("hostname", (r"^hostname$",), "", r"^[\w.-]+$")
PROFILE = Known("profile", (r"\bsoftware profile get",))
ROLES = Known(
    "roles", (r"\bcontrol-cluster roles",), r"^\s+Listen-IP", r"^\w+\s+\S.*$", node="nsx_controller"
)
VMKERNEL = Known("vmkernel", (), r"^\d{4}-\d\d-\d\dT\S+Z cpu\d+:\d+\)", log=True)
HOSTD = Known("hostd", (), r"^\d{4}-\d\d-\d\dT\S+Z \w+ hostd\[", log=True)
ALL = [RX, STATS, QUEUE, QUEUES, PORTS, ETHTOOL, FREE, NAME, PROFILE, ROLES, VMKERNEL, HOSTD]

RX_DUMP = [
    "stats of a vmxnet3 vNIC rx queue {",
    "   pkts rx ok:12",
    "   # of times the 1st ring is full:3",
    "}",
]
QUEUE_DUMP = [
    "status of a vmxnet3 vNIC rx queue {",
    "   ring #1 size:512",
    "   ring #2 size:32",
    "}",
]
STATS_DUMP = ["port client stats {", "   pktsTxOK:1", "   droppedRx:0", "}"]
PORTS_DUMP = [
    "PortNum  Type SubType SwitchName MACAddress ClientName",
    "33554464 5 9 vSwitch0 00:50:56:00:00:01 vm1",
]
GET_RX = "vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxSummary"


def outputs(text: list[str]) -> list[TranscriptPiece]:
    """Split and give the pieces that parsers read, after checking that no line was lost or doubled."""
    pieces = split(text, ALL)
    at = 1
    for piece in pieces:
        assert piece.first_line == at
        assert piece.lines
        at += len(piece.lines)
    assert at == len(text) + 1
    return [piece for piece in pieces if piece.parser]


def only(text: list[str]) -> TranscriptPiece:
    pieces = outputs(text)
    assert len(pieces) == 1, [piece.parser for piece in pieces]
    return pieces[0]


def spot(piece: TranscriptPiece) -> tuple[str | None, int, int]:
    return piece.parser, piece.first_line, len(piece.lines)
