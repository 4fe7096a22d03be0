"""`ifconfig` and `ip -s link` of a Linux guest: what each interface received, sent and lost, as its kernel counts.

Source: net-tools in its old form (`RX packets:10 errors:0 dropped:3`) and its new one (`RX errors 0  dropped 3`),
iproute2 (`RX: bytes  packets  errors  dropped …`, the numbers on the line below).
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import MAC_FORM, Block, Column, KeyColumn, Row, Table, Value

from ._guest import INTERFACE


def _count_column(name: str, meaning: str, unit: str) -> Column:
    return Column(name, "int", meaning, unit)


TABLE = Table.of(
    "guest.interface",
    "Counters of a network interface in a Linux guest, since it came up.",
    "ifconfig; ip -s link, in the guest",
    KeyColumn("interface", "str", INTERFACE.meaning),
    Column("mac", "str", "MAC address of the interface", form=MAC_FORM),
    Column("ip_address", "str", "first address of IPv4, where it is printed"),
    Column("mtu", "int", "largest packet", "bytes"),
    _count_column("rx_packets", "packets received", "packets"),
    _count_column("rx_bytes", "bytes received", "bytes"),
    _count_column("rx_errors", "errors of receiving", "times"),
    _count_column(
        "rx_dropped", "packets received and dropped: no buffer, or nobody wanted them", "packets"
    ),
    _count_column("rx_overruns", "packets lost because the ring was full", "packets"),
    _count_column("tx_packets", "packets sent", "packets"),
    _count_column("tx_bytes", "bytes sent", "bytes"),
    _count_column("tx_errors", "errors of sending", "times"),
    _count_column("tx_dropped", "packets dropped on the way out", "packets"),
    ask="`ip -s link` in the guest",
)

_HEAD = re.compile(
    r"\s*(?:\d{1,5}: )?(?P<interface>[A-Za-z][\w.@-]{0,60}?)(?:@\w+)?(?:: (?:flags=\d+)?<|\s+Link encap:)"
)
_MTU = re.compile(r"\b(?:mtu |MTU:)(?P<mtu>\d{1,6})\b", re.IGNORECASE)
_MAC = re.compile(
    r"\b(?:HWaddr|ether|link/ether) (?P<mac>(?:[0-9a-fA-FxX*]{2}:){5}[0-9a-fA-FxX*]{2})"
)
_IP = re.compile(r"\s*inet (?:addr:)?(?P<ip_address>\d{1,3}(?:\.\d{1,3}){3})\b")
_BYTES = re.compile(r"\b(?P<way>[RT]X)? ?bytes[: ](?P<bytes>\d+)")
_WAY = re.compile(r"\s*(?P<way>[RT]X)(?::| (?:packets|errors)[: ]\d)")
_CELL = re.compile(r"\b(packets|errors|dropped|overruns)[: ](\d+)")
_NUMBERS = re.compile(r"\s*\d+(?:\s+\d+)+\s*$")
_COUNTED = re.compile(r"\b(?:packets|errors|dropped|overruns|bytes|mtu|MTU)[: ] ?(?P<number>\S+)")
_ADDRESS = re.compile(r"\s*inet (?:addr:)?\S")
_HARDWARE = re.compile(r"\b(?:HWaddr|ether|link/ether) ")
_WORDS = re.compile(
    r"\s*(?:inet6|UP |BROADCAST|collisions|Interrupt|device |Memory:|link/|loop |altname|valid_lft|vf \d)"
)


def parse_block(block: Block) -> Output:
    """Read the interfaces of an output, a row each."""
    row: Row | None = None
    labels: list[str] = []  # of the numbers on the line below: `RX: bytes packets errors dropped`
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip():
            continue
        head = _HEAD.match(line)
        if head:
            if row is not None:
                yield row
            row = Row(TABLE, {**TABLE.blank(), "interface": head["interface"]}, block, number)
        cells = _read_cells(line, labels)
        own_labels = _read_labels(line)
        damaged = bool(labels and own_labels) or _is_damaged(line)
        known = bool(head or cells or own_labels or _WORDS.match(line))
        if own_labels:
            labels = own_labels
        elif cells or head:
            labels = []
        if row is not None:  # what comes a second time is of an interface whose name was lost
            again = any(row.values[name] is not None for name in cells)
            has_counters = row.values["rx_packets"] is not None
            if again or ("mac" in cells and not head and has_counters):
                yield row
                row = None
        if row is None or damaged or not known:
            yield fault_at(
                block, number, PARSER.name, "not a line of this output, or of no interface"
            )
        if row is not None and cells:
            row.values.update(cells)
            row.lines = {**row.lines, **dict.fromkeys(cells, number)}
    if row is not None:
        yield row


def _is_damaged(line: str) -> bool:
    """Say whether a label of a line has a value of another form than it should have."""
    if _read_labels(line):
        return False
    if not all(found["number"].rstrip(":").isdecimal() for found in _COUNTED.finditer(line)):
        return True
    if _ADDRESS.match(line) is not None and _IP.match(line) is None:
        return True
    return _HARDWARE.search(line) is not None and _MAC.search(line) is None


def _read_labels(line: str) -> list[str]:
    """Return the columns of a line of `ip -s link` that says what the numbers below it are."""
    way, _, words = line.strip().partition(":")
    words = words.replace("overrun ", "overruns ")
    if way not in ("RX", "TX") or "bytes " not in words:
        return []
    return [f"{way.lower()}_{word}" for word in words.split()]


def _read_cells(line: str, labels: list[str]) -> dict[str, Value]:
    """Return the cells of a line; `labels` are the columns of the numbers on a line of `ip -s link`."""
    cells: dict[str, Value] = {}
    columns = TABLE.blank()
    if labels and _NUMBERS.match(line):
        for name, text in zip(labels, line.split(), strict=False):
            if name in columns:
                cells[name] = int(text)
        return cells
    if mtu := _MTU.search(line):
        cells["mtu"] = int(mtu["mtu"])
    for pattern in (_MAC, _IP):
        if found := pattern.search(line):
            cells |= found.groupdict()
    way = _WAY.match(line)
    side = way["way"].lower() if way else ""
    if way:
        for label, text in _CELL.findall(line):
            name = f"{side}_{label}"
            if name in columns:
                cells[name] = int(text)
    for found in _BYTES.finditer(line):
        direction = (found["way"] or side).lower()
        if direction:
            cells[f"{direction}_bytes"] = int(found["bytes"])
    return cells


PARSER = Parser(
    name="guest_interfaces",
    tables=(TABLE,),
    parse=parse_block,
    node="guest",
    commands=(
        r"(?:^|[\s;&|/])ifconfig(?:\s+-a)?(?:\s+(?!vmk)[\w.:@-]+)?\s*$",
        r"(?:^|[\s;&|/])ip\s+-s(?:tats)?\s+(?:-\w+\s+)*l(?:i(?:nk)?)?\b",
    ),
    # without a command only names that Linux gives: `mgmt` is an interface of an appliance
    shape=(
        r"^\s*(?:(?:\d{1,5}: )?(?:eth|en[opsx]|em|bond|team)\w[\w.@-]{0,60}: "
        r"(?:flags=\d+<[A-Z,]*>\s+mtu \d|<[A-Z_,]*> mtu \d+ qdisc)"
        r"|(?:eth|en[opsx]|em|bond|team)\w[\w.:-]{0,60}\s+Link encap:Ethernet\b)"
    ),
    body=(
        r"^\s*(?:(?:\d{1,5}: )?[A-Za-z][\w.@-]{0,60}(?:: (?:flags=\d+)?<|\s+Link encap:)|inet6? |ether |link/|loop |UP "
        r"|BROADCAST|[RT]X:? |collisions|Interrupt|Memory:|device |\d+(?:\s+\d+)+\s*$|altname |valid_lft|vf \d)"
    ),
)
