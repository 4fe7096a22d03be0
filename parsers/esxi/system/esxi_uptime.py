"""How long the host runs: counters since boot are worth nothing without it.

Sources: `esxcli system stats uptime get` (`commands/localcli_system-stats-uptime-get.txt`), one integer
of microseconds; and the text of `uptime`.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import lies_above
from analyzer.artefacts.tables import Block, Column, Record, Row, Table
from analyzer.forms import record_parser

TABLE = Table.of(
    "esxi.uptime",
    "Time since the host was booted.",
    "esxcli system stats uptime get; commands/localcli_system-stats-uptime-get.txt; uptime",
    Column("uptime_s", "float", "time since boot", "s", sign=lies_above(31536000, weight=1.5)),
    ask="`esxcli system stats uptime get`",
)

_SECONDS = {"DAYS": 86_400, "HOURS": 3_600, "MINUTES": 60, "SECONDS": 1}


def read_record(block: Block, record: Record) -> Output:
    """Make the row of the uptime."""
    micros = str(record.values["UPTIME_S"])
    if micros:
        seconds = int(micros) / 1e6
    else:
        seconds = float(sum(int(str(record.values[k]) or 0) * n for k, n in _SECONDS.items()))
    yield Row(TABLE, {"uptime_s": seconds}, block, record.line)


PARSER = record_parser(
    "esxi_uptime",
    (TABLE,),
    read_record,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_system-stats-uptime-get\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+system\s+stats\s+uptime\s+get\b", r"^\s*uptime\s*$"),
    body=r"^\s*(?:\d{1,19}|\d\d?:\d\d.*\bup\b.*)\s*$",
)
