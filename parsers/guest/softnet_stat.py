"""`cat /proc/net/softnet_stat`: what each CPU of a Linux machine did with received packets, in hexadecimal.

Source: `net/core/net-procfs.c` of Linux. One line a CPU; its number is a column from 5.10 on, before that the place of the
line, so that a CPU that is offline shifts those behind it.
"""

from __future__ import annotations

import re
from functools import partial

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import counts_loss
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

_Count = partial(Column, unit="packets")
TABLE = Table.of(
    "guest.softnet",
    "Packets that each CPU took from the network cards, and those it had to drop; counters since the boot.",
    "cat /proc/net/softnet_stat, in the guest",
    KeyColumn("softnet_cpu", "int", "CPU, by its number or by the place of its line"),
    _Count("softnet_processed", "int", "packets taken"),
    _Count(
        "softnet_dropped",
        "int",
        "packets dropped since the queue of the CPU was full (net.core.netdev_max_backlog)",
        sign=counts_loss("softnet_processed"),
    ),
    Column(
        "softnet_squeezed",
        "int",
        "times that the CPU stopped with packets left (net.core.netdev_budget)",
        "times",
        sign=counts_loss("softnet_processed"),
    ),
    ask="`cat /proc/net/softnet_stat` in the guest, twice, some minutes apart",
    counts_since="guest",
    gauges=("softnet_cpu",),
)

_COLUMNS = ("softnet_processed", "softnet_dropped", "softnet_squeezed")
_CPU_AT = 12  # the column that holds the number of the CPU, where there is one
_LINE = r"[0-9a-f]{8}(?:\s+[0-9a-f]{8}){8,15}\s*$"
_ROW = re.compile(rf"\s*{_LINE}")


def parse_block(block: Block) -> Output:
    """Return a row for each CPU."""
    place = 0
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip():
            continue
        if not _ROW.match(line):
            yield fault_at(block, number, PARSER.name, "no line of a CPU")
            continue
        cells = [int(word, 16) for word in line.split()]
        cpu = cells[_CPU_AT] if len(cells) > _CPU_AT else place
        values: dict[str, Value] = {"softnet_cpu": cpu}
        values.update(zip(_COLUMNS, cells, strict=False))
        yield Row(TABLE, values, block, number, {})
        place += 1


PARSER = Parser(
    name="softnet_stat",
    tables=(TABLE,),
    parse=parse_block,
    node="guest",
    commands=(r"\b(?:cat|more|less|head|tail)\s.*?/proc/net/softnet_stat\b",),
    shape=rf"^\s*{_LINE}",
    body=rf"^\s*{_LINE}",
)
