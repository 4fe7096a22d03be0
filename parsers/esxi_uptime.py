"""How long the host runs: counters since boot are worth nothing without it.

Sources: `esxcli system stats uptime get` (`commands/localcli_system-stats-uptime-get.txt`), one integer
of microseconds; and the text of `uptime`.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, run_template
from analyzer.tables import Block, Column, Fault, Row, Table

TABLE = Table(
    name="esxi.uptime",
    meaning="Time since the host was booted.",
    source="esxcli system stats uptime get; commands/localcli_system-stats-uptime-get.txt; uptime",
    ask="`esxcli system stats uptime get`",
    columns=(Column("uptime_s", "float", "time since boot", "s"),),
)

_SECONDS = {"DAYS": 86_400, "HOURS": 3_600, "MINUTES": 60, "SECONDS": 1}


def parse(block: Block) -> Output:
    """Read the time since boot, in seconds."""
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        micros = str(record.values["UPTIME_S"])
        if micros:
            seconds = int(micros) / 1e6
        else:
            seconds = float(sum(int(str(record.values[k]) or 0) * n for k, n in _SECONDS.items()))
        yield Row(TABLE, {"uptime_s": seconds}, block, record.line)


PARSER = Parser(
    name="esxi_uptime",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_system-stats-uptime-get\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+system\s+stats\s+uptime\s+get\b", r"^\s*uptime\s*$"),
    body=r"^\s*(?:\d{1,19}|\d\d?:\d\d.*\bup\b.*)\s*$",
)
