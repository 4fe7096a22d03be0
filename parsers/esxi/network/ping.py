"""`vmkping` and `ping` of ESXi: what came back from an address, with the size and the adapter that were asked for.

Source: outputs in public notes on jumbo frames and VTEPs. `-d` forbids to fragment, `-s` is the number of data bytes
(28 less than the packet), `-I` the VMkernel adapter. A packet larger than the MTU of its own adapter is not sent:
`sendto() failed (Message too long)`; one that is lost on the way prints nothing. NSX-T takes `source`, `vrfid`, `size`
and `dfbit enable`, and names the source in the first line. `^C` ends a ping before its last answer may have come.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import NOTHING, lies_above
from analyzer.artefacts.tables import Block, Column, Row, Table, Value

TABLE = Table.of(
    "esxi.ping",
    "Pings from the host, one row a command.",
    "vmkping; ping",
    Column("ping_target", "str", "name or address that was asked for"),
    Column("vmk", "str", "VMkernel adapter it was sent from, where the command names one"),
    Column("netstack", "str", "TCP/IP stack that the command names: vxlan, vmotion"),
    Column("ping_bytes", "int", "data bytes of a packet; 28 less than the packet", "bytes"),
    Column(
        "not_fragmented",
        "bool",
        "-d: a switch or router that carries less drops it; none without the command",
    ),
    Column("ping_sent", "int", "packets transmitted", "packets"),
    Column(
        "ping_received",
        "int",
        "packets received; those that were seen where the end is missing",
        "packets",
        sign=NOTHING,
    ),
    Column("ping_loss", "float", "packets lost", "%", sign=lies_above(0, weight=3.5)),
    Column("ping_minimum", "float", "shortest round-trip time", "ms"),
    Column("ping_average", "float", "average round-trip time", "ms"),
    Column("ping_maximum", "float", "longest round-trip time", "ms"),
    Column("ping_error", "str", "first error as printed"),
    Column(
        "ping_too_long", "bool", "a packet was larger than the MTU of the adapter: it was not sent"
    ),
    Column(
        "ping_stopped",
        "bool",
        "ended by ^C: its last packet may have had no time to come back",
        sign=NOTHING,
    ),
    ask="`vmkping -I <vmk> -d -s 8972 <address>`",
)

_HEAD = re.compile(
    r"\s*PING\s+(?P<ping_target>\S+)\s+\((?P<address>[^)]*)\)(?: from \S+)?:\s+(?P<ping_bytes>\d{1,9}) data bytes\s*$"
)
_REPLY = re.compile(r"\s*\d+ bytes from \S+ icmp_seq[=:]")
_SUM = re.compile(
    r"\s*(?P<ping_sent>\d{1,9}) packets transmitted, (?P<ping_received>\d{1,9}) packets received,"
    r"(?: \+?\d+ \w+,)* (?P<ping_loss>\d{1,3}(?:\.\d{1,6})?)% packet loss"
)
_MS = r"\d{1,9}(?:\.\d{1,9})?"
_TIME = re.compile(
    r"\s*round-trip min/avg/max(?:/\w+)? = "
    rf"(?P<ping_minimum>{_MS})/(?P<ping_average>{_MS})/(?P<ping_maximum>{_MS})\b(?!\.\d)"
)
_ERROR = re.compile(
    r"\s*(?P<ping_error>sendto\(\) failed .*|\d+ bytes from \S+ [A-Z].*|.*[Uu]nreachable.*)$"
)
_STOPPED = re.compile(r"\s*\^C")
_KNOWN = re.compile(r"\s*(?:---.*---)?\s*$")


def parse_block(block: Block) -> Output:
    """Read the pings of a block, one row each, at the line that sums it up or names it."""
    values: dict[str, Value] = {}
    at = block.first_line
    for number, line in enumerate(block.lines, block.first_line):
        if head := _HEAD.match(line):
            if values:
                yield Row(TABLE, values, block, at)
            at = number
            values = TABLE.blank()
            values["ping_target"] = head["ping_target"]
            values["ping_bytes"] = int(head["ping_bytes"])
            values["ping_too_long"] = values["ping_stopped"] = False
            if block.command:
                adapter = re.search(r"\s-I\s*(\S+)", block.command)
                stack = re.search(r"\s(?:-S\s*|\+\+netstack=)(\S+)", block.command)
                whole = re.search(r"\s-[46Dv]*d|\sdfbit enable\b", block.command)
                values["vmk"] = adapter[1] if adapter else None
                values["netstack"] = stack[1] if stack else None
                values["not_fragmented"] = whole is not None
        elif not values:
            if line.strip():
                yield fault_at(block, number, PARSER.name, "no line says what was pinged")
        elif summed := _SUM.match(line):
            at = number
            values["ping_sent"] = int(summed["ping_sent"])
            values["ping_received"] = int(summed["ping_received"])
            values["ping_loss"] = float(summed["ping_loss"])
        elif not _take_line(values, line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    if values:
        yield Row(TABLE, values, block, at)


def _take_line(values: dict[str, Value], line: str) -> bool:
    """Take a line below the head of a ping; False for one that does not belong there."""
    if timed := _TIME.match(line):
        for name, text in timed.groupdict().items():
            values[name] = float(text)
    elif error := _ERROR.match(line):
        values["ping_error"] = values.get("ping_error") or error["ping_error"].strip()
        values["ping_too_long"] = values.get("ping_too_long") or "Message too long" in line
    elif _REPLY.match(line):
        if values.get("ping_loss") is None:
            values["ping_received"] = int(values.get("ping_received") or 0) + 1
    elif _STOPPED.match(line):
        values["ping_stopped"] = True
    else:
        return _KNOWN.match(line) is not None
    return True


PARSER = Parser(
    name="ping",
    tables=(TABLE,),
    parse=parse_block,
    node="",  # an NSX-T edge and a guest print the same: the prompt tells
    commands=(r"(?:^|[\s/;])(?:vmk)?ping6?\s+\S",),
    shape=r"^\s*PING\s+\S+\s+\([^)]*\)(?: from \S+)?:\s+\d+ data bytes\s*$",
    body=(
        r"^\s*(?:PING .*|\d+ bytes from \S+ .*|sendto\(\) failed .*|\^C.*|--- \S+ ping statistics ---"
        r"|\d+ packets transmitted, .*|round-trip min/avg/max.*|.*[Uu]nreachable.*)\s*$"
    ),
)
