"""Tables and readers of physical NICs: esxcli, vsish and `nicinfo.sh.txt` fill the same tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from analyzer.artefacts.parsing import Output, convert_params, fault_at, read_rows, run_template
from analyzer.artefacts.signs import lies_below, named_by, says_bad, says_good
from analyzer.artefacts.tables import MAC_FORM, Block, Column, Fault, Row, Table, Value

PNIC = Column("pnic", "str", "physical NIC as the host names it: vmnic0")

_RX = "since the driver was loaded or the counters were reset"

LIST = Table.of(
    "esxi.pnic",
    "Physical NICs of the host: driver, link, speed.",
    "esxcli network nic list; esxcfg-nics -l; commands/nicinfo.sh.txt",
    PNIC,
    Column("pci", "str", "PCI address"),
    Column("driver", "str", "driver in use"),
    Column(
        "admin_up",
        "bool",
        "set up by the administrator; 5.x does not print it",
        sign=says_bad("false", weight=1.5),
    ),
    Column("link_up", "bool", "the link is up", sign=says_bad("false", weight=2.5)),
    Column(
        "speed_mbps",
        "int",
        "speed of the link, 0 while down",
        "Mbit/s",
        sign=lies_below(1000, weight=2.5).except_where("link_up", "false"),
    ),
    Column(
        "duplex",
        "str",
        "Full or Half",
        sign=says_good("full", weight=4).except_where("link_up", "false"),
    ),
    Column("mac", "str", "MAC address of the NIC", form=MAC_FORM),
    Column("mtu", "int", "largest frame payload", "bytes"),
    Column("description", "str", "model as the driver names it"),
    ask="`esxcli network nic list`",
    key=("pnic",),
)

INFO = Table.of(
    "esxi.pnic_info",
    "Driver and firmware of a physical NIC.",
    "esxcli network nic get -n <vmnic>; commands/nicinfo.sh.txt",
    PNIC,
    Column("driver", "str", "driver in use"),
    Column("driver_version", "version", "version of the driver"),
    Column("firmware_version", "version", "version of the firmware as the driver reads it"),
    Column("bus_info", "str", "PCI address as the driver prints it"),
    Column("link_status", "str", "state of the link in words: Up, Down, Up by explicit linkSet"),
    Column("link_detected", "bool", "the driver sees a link"),
    Column("auto_negotiation", "bool", "speed and duplex are negotiated"),
    Column("pause_rx", "bool", "flow control towards the host is on"),
    Column("pause_tx", "bool", "flow control from the host is on"),
    ask="`esxcli network nic get -n <vmnic>`",
    key=("pnic",),
)

STATS = Table.of(
    "esxi.pnic_stats",
    f"Counters of a physical NIC that all drivers have, {_RX}.",
    "esxcli network nic stats get -n <vmnic>; vsish -e get /net/pNics/<vmnic>/stats; nicinfo.sh.txt",
    PNIC,
    Column("rx_packets", "int", "frames received", "packets"),
    Column("tx_packets", "int", "frames sent", "packets"),
    Column("rx_bytes", "int", "bytes received", "bytes"),
    Column("tx_bytes", "int", "bytes sent", "bytes"),
    Column("rx_dropped", "int", "frames received and dropped", "packets"),
    Column("tx_dropped", "int", "frames dropped on the way out", "packets"),
    Column("rx_multicast", "int", "multicast frames received", "packets"),
    Column("rx_broadcast", "int", "broadcast frames received", "packets"),
    Column("tx_multicast", "int", "multicast frames sent", "packets"),
    Column("tx_broadcast", "int", "broadcast frames sent", "packets"),
    Column("collisions", "int", "collisions", "times"),
    Column("rx_errors", "int", "all errors of receiving", "times"),
    Column("rx_length_errors", "int", "frames of a wrong length", "times"),
    Column("rx_over_errors", "int", "overflows of the receiver", "times"),
    Column("rx_crc_errors", "int", "frames with a bad check sum: cable, SFP, switch port", "times"),
    Column("rx_frame_errors", "int", "frames with bad alignment", "times"),
    Column("rx_fifo_errors", "int", "overflows of the NIC's buffer: ring or bus too slow", "times"),
    Column(
        "rx_missed_errors", "int", "frames missed for want of a descriptor: ring too small", "times"
    ),
    Column("tx_errors", "int", "all errors of sending", "times"),
    Column("tx_aborted_errors", "int", "sendings aborted", "times"),
    Column("tx_carrier_errors", "int", "losses of carrier", "times"),
    Column("tx_fifo_errors", "int", "underruns of the NIC's buffer", "times"),
    Column("tx_heartbeat_errors", "int", "heartbeat errors", "times"),
    Column("tx_window_errors", "int", "late collisions", "times"),
    ask="`esxcli network nic stats get -n <vmnic>`",
    key=("pnic",),
    counts_since="boot",
)

RING = Table.of(
    "esxi.pnic_ring",
    "Ring sizes of a physical NIC, as set and the most possible.",
    "esxcli network nic ring current get / preset get -n <vmnic>; commands/nicinfo.sh.txt",
    PNIC,
    Column("rx_max", "int", "most descriptors of the receive ring", "descriptors"),
    Column("rx_mini_max", "int", "most descriptors of the mini ring", "descriptors"),
    Column("rx_jumbo_max", "int", "most descriptors of the jumbo ring", "descriptors"),
    Column("tx_max", "int", "most descriptors of the transmit ring", "descriptors"),
    Column("rx", "int", "receive ring as set", "descriptors"),
    Column("rx_mini", "int", "mini ring as set", "descriptors"),
    Column("rx_jumbo", "int", "jumbo ring as set", "descriptors"),
    Column("tx", "int", "transmit ring as set", "descriptors"),
    ask="`esxcli network nic ring current get -n <vmnic>` and `esxcli network nic ring preset get -n <vmnic>`",
    key=("pnic",),
)

PRIVATE = Table.of(
    "esxi.pnic_private_stats",
    "Counters only one driver has, one row a counter, with its meaning where it is documented.",
    "commands/nicinfo.sh.txt; vsish -e get /net/pNics/<vmnic>/stats",
    PNIC,
    Column(
        "queue_name", "str", "queue or group the counter belongs to: rxq0; empty for the whole NIC"
    ),
    Column("key", "str", "name of the counter as printed"),
    Column(
        "value",
        "int",
        "its value; empty where the text is no decimal number (registers)",
        sign=named_by("key"),
    ),
    Column("meaning", "str", "crc, missed, fifo, no_buffer, or other (no loss, or not documented)"),
    ask="`/usr/lib/vmware/vm-support/bin/nicinfo.sh`",
    key=("pnic", "queue_name", "key"),
    counts_since="boot",
)

# Documented names only, letters and digits of the name in lower case: e1000, ixgben, i40en
# (captures), mlx5 (kernel documentation). rx_over_errors is a FIFO overflow (if_link.h).
_MEANING = {
    "rxcrcerrors": "crc",
    "rxmissederrors": "missed",
    "rxmisserrors": "missed",
    "rxfifoerrors": "fifo",
    "rxovererrors": "fifo",
    "rxoverflowerrors": "fifo",
    "rxnobuffercount": "no_buffer",
    "allocrxbufffailed": "no_buffer",
    "allocrxbuffail": "no_buffer",
    "rxoutofbuffer": "no_buffer",
    "outofbuf": "no_buffer",
}


def describe_counter(counter: str) -> str:
    """Return what a driver's counter says of lost frames: crc, missed, fifo, no_buffer, other."""
    return _MEANING.get(re.sub(r"[^a-z0-9]", "", counter.lower()), "other")


def nic_get(block: Block) -> Output:
    """Read `nic get` into a row of esxi.pnic_info; a name given by the command fills in."""
    return read_rows(INFO, "nic_get", block, convert_params(block.params, INFO))


def nic_stats(block: Block) -> Output:
    """Read `nic stats get` into a row of esxi.pnic_stats; the NIC is named in its first line."""
    return read_rows(STATS, "nic_stats", block, convert_params(block.params, STATS))


def nic_ring(block: Block) -> Output:
    """Read ring sizes into a row of esxi.pnic_ring."""
    return read_rows(RING, "nic_ring", block, convert_params(block.params, RING))


# Counters of `Uplink Stats:`, the general part that native drivers print before their own (capture of ixgben).
_UPLINK = {
    "rxPkts": "rx_packets", "txPkts": "tx_packets", "rxBytes": "rx_bytes", "txBytes": "tx_bytes",
    "rxErrors": "rx_errors", "txErrors": "tx_errors", "rxDrops": "rx_dropped", "txDrops": "tx_dropped",
    "rxMulticastPkts": "rx_multicast", "rxBroadcastPkts": "rx_broadcast",
    "txMulticastPkts": "tx_multicast", "txBroadcastPkts": "tx_broadcast", "collisions": "collisions",
    "rxLengthErrors": "rx_length_errors", "rxOverflowErrors": "rx_over_errors", "rxCRCErrors": "rx_crc_errors",
    "rxFrameAlignErrors": "rx_frame_errors", "rxFifoErrors": "rx_fifo_errors", "rxMissErrors": "rx_missed_errors",
    "txAbortedErrors": "tx_aborted_errors", "txCarrierErrors": "tx_carrier_errors",
    "txFifoErrors": "tx_fifo_errors", "txHeartbeatErrors": "tx_heartbeat_errors",
    "txWindowErrors": "tx_window_errors",
}  # fmt: skip


def uplink_stats(block: Block, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the general counters among those of `private_stats` as rows of esxi.pnic_stats, one a heading."""
    numbered = enumerate(block.lines, block.first_line)
    heads = [number for number, line in numbered if line.strip() == "Uplink Stats:"]
    own = [row for row in rows if row.values["key"] in _UPLINK and not row.values["queue_name"]]
    for head, after in pairwise([*heads, block.first_line + len(block.lines)]):
        values = STATS.blank() | {"pnic": block.params.get("pnic")}
        lines: dict[str, int] = {}
        for row in own:
            name = _UPLINK[str(row.values["key"])]
            if head < row.line < after and name not in lines:
                values[name] = row.values["value"]
                lines[name] = row.line
        if lines:
            yield Row(STATS, values, block, head, lines)


_REGISTER = re.compile(r"[A-Z][A-Z0-9_]*(\[\d+\])?$")  # RXDCTL, MRQC, VFRE[0]: hex without 0x
_PAIR = re.compile(r"([\w.\[\]-]+)=(\S*)")
_DECIMAL = re.compile(r"(?:0|[1-9]\d{0,18})$")
_OTHER = re.compile(
    r"-?\d|0x|(?=[a-fA-F]*\d)[0-9a-fA-F]+$"
)  # registers, negative and very large numbers


def private_stats(block: Block) -> Output:
    """Read a driver's own counters, of any form: `key: n`, `key : n`, `key=n`, `queue: k=n k=n`."""
    for record in run_template("nic_private", block):
        if isinstance(record, Fault):
            yield record
            continue
        queue = str(record.values["QUEUE_NAME"])
        pairs = _PAIR.findall(str(record.values["PAIRS"]))
        for name, text in pairs or [(str(record.values["KEY"]), str(record.values["VALUE"]))]:
            register = _REGISTER.match(name) is not None
            if _DECIMAL.match(text) and not register:
                count = int(text)
            else:
                count = None
            if count is None and text and not register and not _OTHER.match(text):
                yield fault_at(
                    block, record.line, "nic_private", f"{name} is not a number: {text[:60]!r}"
                )
            yield private_row(block, record.line, queue or None, name, count)


def private_row(block: Block, line: int, queue: str | None, counter: str, count: int | None) -> Row:
    """Return a row of esxi.pnic_private_stats; the NIC comes from the command or the section."""
    fits = count is not None and count < 2**63
    values: dict[str, Value] = {
        "pnic": block.params.get("pnic"),
        "queue_name": queue,
        "key": counter,
        "value": count if fits else None,
        "meaning": describe_counter(counter),
    }
    return Row(PRIVATE, values, block, line)
