"""`show interface` on an NSX Edge: interfaces with their addresses and counters.

Source: NSX Edge CLI (NSX for vSphere 6.1), as an administrator published it.
"""

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import (
    Block,
    Column,
    ColumnValueError,
    KeyColumn,
    Row,
    Table,
    convert,
)

from ..common._nsx import name_refusals
from ..common._nsxt import match_first

TABLE = Table.of(
    "nsx.edge_interface",
    "Network interfaces of an NSX Edge.",
    "show interface (on the Edge)",
    KeyColumn("interface", "str", "name of the interface: vNic_0, VDR, lo"),
    Column("admin_up", "bool", "it is switched on"),
    Column("link_up", "bool", "its line protocol is up"),
    Column("mtu", "int", "MTU", "bytes"),
    Column("mac", "str", "MAC address"),
    Column("addresses", "str", "addresses with the length of their netmask, by commas"),
    Column("rx_packets", "int", "packets received", "packets"),
    Column("rx_bytes", "int", "bytes received", "bytes"),
    Column("rx_dropped", "int", "frames received and dropped", "packets"),
    Column("rx_errors", "int", "all errors of receiving", "times"),
    Column(
        "rx_missed_errors", "int", "frames missed for want of a descriptor: ring too small", "times"
    ),
    Column("tx_packets", "int", "packets sent", "packets"),
    Column("tx_bytes", "int", "bytes sent", "bytes"),
    Column("tx_dropped", "int", "frames dropped on the way out", "packets"),
    Column("tx_errors", "int", "all errors of sending", "times"),
    ask="`show interface` on the Edge",
    counts_since="boot",
    gauges=("mtu",),
)
_HEAD = re.compile(
    r"\s*Interface (?P<name>\S+) is (?P<admin>\S+(?: \S+)?), line protocol is (?P<link>\S+)\s*$"
)
_LINES = (
    re.compile(r"\s*index \d+ metric \d+ mtu (?P<mtu>\S+)"),
    re.compile(r"\s*HWaddr: (?P<mac>\S+)"),
    re.compile(
        r"\s*input packets (?P<rx_packets>\S+), bytes (?P<rx_bytes>\S+), dropped (?P<rx_dropped>[^\s,]+)"
    ),
    re.compile(
        r"\s*input errors (?P<rx_errors>[^\s,]+).*?(?:missed (?P<rx_missed_errors>\S+))?\s*$"
    ),
    re.compile(
        r"\s*output packets (?P<tx_packets>\S+), bytes (?P<tx_bytes>\S+), dropped (?P<tx_dropped>[^\s,]+)"
    ),
    re.compile(r"\s*output errors (?P<tx_errors>[^\s,]+)"),
)
_ADDRESS = re.compile(r"\s*inet6? (?P<address>\S+)\s*$")
_REST = re.compile(r"\s*(?:proxy_arp:|Auto-duplex|collisions |$)")


def parse_block(block: Block) -> Output:
    """Read the interfaces, one row each."""
    return name_refusals(_read_rows(block))


def _read_rows(block: Block) -> Output:
    last: Row | None = None
    for number, line in enumerate(block.lines, block.first_line):
        if found := _HEAD.match(line):
            if last is not None:
                yield last
            values = TABLE.blank()
            values["interface"] = found["name"]
            values["admin_up"] = found["admin"] == "up"
            values["link_up"] = found["link"] == "up"
            last = Row(TABLE, values, block, number, {})
        elif last is not None and (found := _ADDRESS.match(line)):
            before = last.values["addresses"]
            last.values["addresses"] = (
                f"{before}, {found['address']}" if before else found["address"]
            )
        elif last is not None and (found := match_first(_LINES, line)):
            if any(
                last.values[name] is not None for name in found.groupdict()
            ):  # of an interface without its head
                yield last
                last = None
                yield fault_at(block, number, PARSER.name, "no line says what this belongs to")
            else:
                # Put the named groups of a line into the columns of a row
                for name, text in found.groupdict().items():
                    column = TABLE.column(name)
                    try:
                        last.values[name] = (
                            convert(column, text.rstrip(",")) if column and text else None
                        )
                        last.lines = {**last.lines, name: number}
                    except ColumnValueError as error:
                        yield fault_at(last.block, number, PARSER.name, str(error))
        elif line.strip() and (last is None or not _REST.match(line)):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    if last is not None:
        yield last


PARSER = Parser(
    name="nsx_edge_interface",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_edge",
    commands=(r"^\s*show interface(?: \S+)?\s*$",),
    shape=r"^\s*Interface \S+ is \S+(?: \S+)?, line protocol is \S+\s*$",
    body=(
        r"^\s*(?:Interface \S+ is |index \d+ metric |HWaddr: |inet6? |proxy_arp:|Auto-duplex |(?:in|out)put "
        r"|collisions |%|$)"
    ),
)
