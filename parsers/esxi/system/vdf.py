"""`vdf -h`: RAM disks of the host with their space; the packages it lists before them (tardisks) are left out.

Source: the command; it prints `--` for the path of a RAM disk, so that a row alone tells what it is.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, fault_at
from analyzer.artefacts.tables import Block, Record, Row
from analyzer.forms import record_parser

from .ramdisks import PARSER as RAMDISKS

_TABLE = RAMDISKS.tables[0]
_SIZE = r"\d{1,12}(?:\.\d+)?[BKMGT]?"
_KIB = {"B": 1 / 1024, "K": 1, "M": 1024, "G": 1024**2, "T": 1024**3}


def read_record(block: Block, record: Record) -> Output:
    """Make the row of a RAM disk: sizes in KiB, a size without a unit is in KiB already."""
    line = record.lines["RAMDISK"]
    values = _TABLE.blank()
    for name in ("maximum_kib", "used_kib"):
        text = str(record.values[name.upper()])
        unit = _KIB.get(text[-1], _KIB["K"])
        values[name] = int(float(text.rstrip("BKMGT")) * unit)
    used = re.match(r"\d{1,3}$", str(record.values["SHARE"]))
    if used is None:
        yield fault_at(block, line, "vdf", "not a share")
        return
    values["ramdisk"] = str(record.values["RAMDISK"])
    values["ramdisk_free_pct"] = max(0, 100 - int(used[0]))
    yield Row(_TABLE, values, block, line)


PARSER = record_parser(
    "vdf",
    (_TABLE,),
    read_record,
    node="esxi",
    commands=(r"(?:^|\s)vdf(?:\s+-h)?\s*$",),
    shape=(
        r"^\s*Ramdisk\s+(?:Size|1k-blocks)\s+Used\s+Available\s+Use%\s+Mounted on\s*$"
        rf"|^\s*[a-z][\w.-]*\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+\d{{1,3}}%\s+--\s*$"
    ),
    body=rf"^\s*(?:Tardisk\s.*|Ramdisk\s.*|-[-\s]*|\S+\s+{_SIZE}\s+{_SIZE}.*)$",
)
