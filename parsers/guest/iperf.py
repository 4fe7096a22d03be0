"""Guest iperf 2 and 3: throughput of each stream and interval.

Source: iperf's own table, `[ ID] Interval Transfer Bandwidth` (iperf 3: `Bitrate`). Bytes are counted in
1,024s and bits in 1,000s: 918 MBytes in 2.0 s is 3.85 Gbits/sec.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Column, Record, Row, Table, Value
from analyzer.forms import record_parser

TABLE = Table.of(
    "guest.iperf",
    "Throughput measured by iperf: one row for each stream and interval, and for the sums.",
    "iperf or iperf3, in the guest",
    Column("stream", "str", "number of the stream, or SUM"),
    Column("start_s", "float", "start of the interval", "s"),
    Column("end_s", "float", "end of the interval", "s"),
    Column("transfer_bytes", "int", "bytes moved, as exact as the three digits printed", "bytes"),
    Column("bandwidth_bps", "float", "throughput", "bit/s"),
    Column("retransmits", "int", "segments sent again in the interval (iperf 3)", "segments"),
    Column("side", "str", "sender or receiver, on the summary lines of iperf 3"),
    ask="`iperf3 -c <server> -t 60 -P 4` in the guest",
)

_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_BITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def read_record(block: Block, record: Record) -> Output:
    """Yield an interval or a summary."""
    cell = {name: str(text) for name, text in record.values.items()}
    values: dict[str, Value] = {
        "stream": cell["STREAM"],
        "start_s": float(cell["START_S"]),
        "end_s": float(cell["END_S"]),
        "transfer_bytes": round(float(cell["TRANSFER"]) * _BYTES[cell["TRANSFER_UNIT"].upper()]),
        "bandwidth_bps": float(cell["BANDWIDTH"]) * _BITS[cell["BANDWIDTH_UNIT"].upper()],
        "retransmits": int(cell["RETRANSMITS"]) if cell["RETRANSMITS"] else None,
        "side": cell["SIDE"] or None,
    }
    yield Row(TABLE, values, block, record.line)


PARSER = record_parser(
    "iperf",
    (TABLE,),
    read_record,
    node="guest",
    commands=(r"\biperf3?\s+.*-[a-zA-Z]*[cs]\b",),
    shape=(
        r"^\s*(?:Client connecting to\b|Server listening on (?:TCP|UDP|\d)|Connecting to host .+, port \d+"
        r"|\[\s*ID\]\s+Interval\b|\[\s*(?:\d{1,4}|SUM)\]\s+\d+\.\d+\s*-\s*\d+\.\d+\s+sec\b)"
    ),
    body=(
        r"^\s*(?:-{5,}|(?:- )+-?|Client connecting to.*|Server listening on.*|Connecting to host.*"
        r"|TCP window size.*|UDP buffer size.*|Sending \d+ byte.*|Accepted connection from.*"
        r"|Binding to local.*|\[\s*(?:\d{1,4}|SUM|ID)\].*|iperf Done\.)\s*$"
    ),
)
