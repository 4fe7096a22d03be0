"""Guest `ethtool -S`: counters of each queue of a vmxnet3 interface; of another driver each counter with its name.

Source: names of the Linux vmxnet3 driver, whole (`Tx Queue#: 0` and `Rx Queue#: 0` heads) or through
`grep`, where only the order of the lines tells the queues apart: the driver prints all transmit
queues, then all receive queues, and each counter once a queue. `giant hdr` alone is printed twice
a transmit queue: first as a part of `drv dropped tx total`, then as the count of large headers. Other drivers (e1000,
virtio_net, be2net passed through) name and order theirs as they like; without the command no one knows whether such
counters are a guest's or those of a host's NIC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.artefacts.parsing import Output, Parser, convert_params, fault_at, run_template
from analyzer.artefacts.signs import counts_loss, named_by
from analyzer.artefacts.tables import Block, Column, Fault, KeyColumn, Record, Row, Table

from ._guest import INTERFACE, ethtool_command

_GIANT = "giant hdr"

# label of the driver -> direction, column, meaning, unit
_COUNTERS: dict[str, tuple[str, str, str, str]] = {
    "TSO pkts tx": ("tx", "tso_pkts_tx", "frames sent with segmentation offload", "packets"),
    "TSO bytes tx": ("tx", "tso_bytes_tx", "bytes sent with segmentation offload", "bytes"),
    "ucast pkts tx": ("tx", "ucast_pkts_tx", "unicast frames sent", "packets"),
    "ucast bytes tx": ("tx", "ucast_bytes_tx", "unicast bytes sent", "bytes"),
    "mcast pkts tx": ("tx", "mcast_pkts_tx", "multicast frames sent", "packets"),
    "mcast bytes tx": ("tx", "mcast_bytes_tx", "multicast bytes sent", "bytes"),
    "bcast pkts tx": ("tx", "bcast_pkts_tx", "broadcast frames sent", "packets"),
    "bcast bytes tx": ("tx", "bcast_bytes_tx", "broadcast bytes sent", "bytes"),
    "pkts tx err": ("tx", "pkts_tx_err", "frames the device failed to send", "packets"),
    "pkts tx discard": ("tx", "pkts_tx_discard", "frames the device discarded on send", "packets"),
    "drv dropped tx total": (
        "tx",
        "drv_dropped_tx",
        "frames the driver dropped on send",
        "packets",
    ),
    "too many frags": ("tx", "drv_dropped_tx_frags", "of these, for too many fragments", "packets"),
    "hdr err": ("tx", "drv_dropped_tx_hdr", "of these, for a header error", "packets"),
    "tso": ("tx", "drv_dropped_tx_tso", "of these, for segmentation offload", "packets"),
    "ring full": ("tx", "tx_ring_full", "times the transmit ring was full", "times"),
    "pkts linearized": ("tx", "pkts_linearized", "frames copied into one buffer", "packets"),
    "hdr cloned": ("tx", "hdr_cloned", "headers copied because they were shared", "times"),
    "LRO pkts rx": ("rx", "lro_pkts_rx", "frames received merged by LRO", "packets"),
    "LRO byte rx": ("rx", "lro_bytes_rx", "bytes received merged by LRO", "bytes"),
    "ucast pkts rx": ("rx", "ucast_pkts_rx", "unicast frames received", "packets"),
    "ucast bytes rx": ("rx", "ucast_bytes_rx", "unicast bytes received", "bytes"),
    "mcast pkts rx": ("rx", "mcast_pkts_rx", "multicast frames received", "packets"),
    "mcast bytes rx": ("rx", "mcast_bytes_rx", "multicast bytes received", "bytes"),
    "bcast pkts rx": ("rx", "bcast_pkts_rx", "broadcast frames received", "packets"),
    "bcast bytes rx": ("rx", "bcast_bytes_rx", "broadcast bytes received", "bytes"),
    "pkts rx OOB": (
        "rx",
        "pkts_rx_oob",
        "frames lost because no receive buffer was left",
        "packets",
    ),
    "pkts rx err": ("rx", "pkts_rx_err", "frames received with an error", "packets"),
    "drv dropped rx total": (
        "rx",
        "drv_dropped_rx",
        "frames the driver dropped for errors",
        "packets",
    ),
    "err": ("rx", "drv_dropped_rx_err", "of these, for an error flag", "packets"),
    "fcs": ("rx", "drv_dropped_rx_fcs", "of these, for a bad checksum of the frame", "packets"),
    "rx buf alloc fail": (
        "rx",
        "rx_buf_alloc_fail",
        "receive buffers the guest could not allocate",
        "times",
    ),
}
_GIANT_COLUMNS = (
    Column(
        "drv_dropped_tx_giant_hdr", "int", "frames dropped on send for a giant header", "packets"
    ),
    Column("giant_hdr", "int", "frames sent with a header larger than the copy buffer", "packets"),
)

TABLE = Table.of(
    "guest.ethtool_stats",
    "Counters of one queue of a vmxnet3 interface in a Linux guest, since the driver started.",
    "ethtool -S <interface>, in the guest",
    INTERFACE,
    Column("direction", "str", "rx or tx"),
    Column(
        "queue", "int", "number of the queue, from 0; in a filtered output by order of the lines"
    ),
    *(Column(name, "int", meaning, unit) for _, name, meaning, unit in _COUNTERS.values()),
    *_GIANT_COLUMNS,
    Column(
        "tx_timeout_count", "int", "resets after a send timeout, whole interface; on its tx queue 0"
    ),
    ask="`ethtool -S eth0` in the guest, for each interface",
    key=("interface", "direction", "queue"),
    counts_since="guest",
)


# Documented for every driver (linux/if_link.h, ethtool of e1000 and igb); others are a driver's own.
_LOSS = dict.fromkeys(
    (
        "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_crc_errors", "rx_fifo_errors", "rx_over_errors",
        "rx_missed_errors", "rx_no_buffer_count", "rx_length_errors", "rx_frame_errors", "tx_fifo_errors",
        "tx_aborted_errors", "tx_carrier_errors", "tx_window_errors",
    ),
    counts_loss(),
)  # fmt: skip
COUNTERS = Table.of(
    "guest.nic_counter",
    "Counters of a network interface in a Linux guest whose driver is not vmxnet3, one row a counter.",
    "ethtool -S <interface>, in the guest",
    KeyColumn("interface", "str", INTERFACE.meaning),
    KeyColumn(
        "counter", "str", "name as printed: rx_missed_errors, tx_queue_0_packets, rxq0: rx_bytes"
    ),
    Column("value", "int", "its value", sign=named_by("counter", **_LOSS)),
    ask="`ethtool -S eth0` in the guest, for each interface",
    counts_since="guest",
)
_OWN = re.compile(
    r"\s*(?P<counter>[A-Za-z\[][^\s:][^:]{0,60}?(?::\s?[A-Za-z][\w .-]{0,60})?):\s*(?P<value>-?\d{1,18})\s*$"
)
_VMXNET3 = re.compile(rf"\s*(?:[TR]x Queue#|{'|'.join(map(re.escape, _COUNTERS))}|{_GIANT}):")


def parse_block(block: Block) -> Output:
    """Read one output into one row for each queue; of another driver into one for each counter."""
    if block.params.get("interface") and not any(map(_VMXNET3.match, block.lines)):
        return _read_counters(block)
    return _read_vmxnet3(block)


def _read_counters(block: Block) -> Output:
    fixed = convert_params(block.params, COUNTERS)
    for number, line in enumerate(block.lines, block.first_line):
        if found := _OWN.match(line):
            own = {"counter": found["counter"], "value": int(found["value"])}
            yield Row(COUNTERS, {**COUNTERS.blank(), **fixed, **own}, block, number)
        elif line.strip() and line.strip() != "NIC statistics:":
            yield fault_at(block, number, PARSER.name, "not a counter")


def _read_vmxnet3(block: Block) -> Output:
    queues = _Queues(block)
    known = 0
    first: Record | None = None
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            queues.lose_head(record.text)
            yield record
            continue
        first = first or record
        known += queues.take_counter(record)
    yield from queues.rows()
    yield from queues.faults
    if first is not None and not known:
        line = first.lines["COUNT"]
        text = block.lines[line - block.first_line]
        why = "no counter of the vmxnet3 driver in this output: another driver, or another spelling"
        yield Fault(block.address, line, text, PARSER.name, why=why)


class _Queues:
    """Sorts counters to queues: by the heads where there are any, else by the order of the lines."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.fixed = convert_params(block.params, TABLE)
        self.head: tuple[str, int] | None = None
        self.head_line = 0
        self.lost = False  # the head of this queue could not be read
        self.faults: list[Fault] = []
        self.found: dict[tuple[str, int], Row] = {}

    def take_counter(self, record: Record) -> bool:
        """Put one counter into its queue; False when the table has no column for it.

        A counter that has a value already, or whose queue is not known, is a fault.
        """
        label = str(record.values["LABEL"])
        count = str(record.values["COUNT"])
        line = record.lines["COUNT"]
        if record.values["DIRECTION"]:
            number = str(record.values["QUEUE"])
            self.lost = self.lost and record.lines["QUEUE"] == self.head_line
            self.head_line = record.lines["QUEUE"]
            direction = str(record.values["DIRECTION"]).lower()
            self.head = direction, int(number) if len(number) < 6 else 0
        if label == "tx timeout count":
            return self._put_count(self._find_row("tx", 0, line), "tx_timeout_count", count, line)
        if label == _GIANT:
            direction, columns = "tx", [column.name for column in _GIANT_COLUMNS]
        elif label in _COUNTERS:
            direction = _COUNTERS[label][0]
            columns = [_COUNTERS[label][1]]
        else:
            return False
        if self.lost or (self.head is not None and self.head[0] != direction):
            return self._add_fault(line, "the head of its queue is missing or was not understood")
        begun = sum(1 for key in self.found if key[0] == direction)
        if self.head is not None:
            row = self._find_row(*self.head, line)
        else:
            row = self._find_row(direction, max(begun - 1, 0), line)
        for column in columns:
            if row.values[column] is None:
                return self._put_count(row, column, count, line)
        if self.head is None:  # seen before and no heads: this line opens the next queue
            row = self._find_row(direction, begun, line)
            return self._put_count(row, columns[0], count, line)
        return self._add_fault(line, "comes a second time for its queue: a head is missing")

    def lose_head(self, text: str) -> None:
        """Take note of a line that was not understood: below a head the counters have no queue."""
        self.lost = self.lost or "Queue#" in text

    def _add_fault(self, line: int, why: str) -> bool:
        self.faults.append(fault_at(self.block, line, PARSER.name, why))
        return True

    def _find_row(self, direction: str, queue: int, line: int) -> Row:
        if (direction, queue) not in self.found:
            values = TABLE.blank()
            values.update(self.fixed, direction=direction, queue=queue)
            self.found[direction, queue] = Row(TABLE, values, self.block, line)
        return self.found[direction, queue]

    def _put_count(self, row: Row, column: str, count: str, line: int) -> bool:
        if row.values[column] is not None:
            return self._add_fault(line, "comes a second time for its queue: a head is missing")
        row.values[column] = int(count)
        row.lines = {**row.lines, column: line}
        return True

    def rows(self) -> Iterator[Row]:
        """Return the queues in the order in which they appeared."""
        yield from self.found.values()


PARSER = Parser(
    name="ethtool_stats",
    tables=(TABLE, COUNTERS),
    parse=parse_block,
    node="guest",
    commands=(ethtool_command("-S", "--statistics"),),
    shape=r"^\s*(?:NIC statistics:|(?:pkts rx OOB|drv dropped [rt]x total|rx buf alloc fail):\s*\d+)\s*$",
    body=(
        r"^\s*(?:NIC statistics:|(?:Tx|Rx) Queue#:\s*\d+"
        r"|[A-Za-z][\w #.\[\]/-]{0,60}(?::\s?[A-Za-z][\w .-]{0,60})?:\s*\d+)\s*$"
    ),
)
