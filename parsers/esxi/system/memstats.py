"""`memstats -r REPORT -s COLUMNS`: memory of groups (pools, agents, VMs) as the scheduler of the host counts it.

Source: Broadcom article 313531 and a public script for the heading, the rules of dashes and the row Total; `-s` says
which columns there are. A VM is `vm.<cartel>`. Sizes are KB where `-u` or a line `Unit : MB` says nothing else; -1 is
no limit. Without the command nothing tells the unit, so a table alone is not taken. `memstats -r uw-stats` of a bundle
is read line by line (tool_lines): no real output of it was at hand.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import lies_above
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

_SIZES = {
    "memSize": Column("memsz_mb", "float", "memory of the group, of a VM its size", "MB"),
    "memSizePeak": Column("memsz_peak_mb", "float", "the most it had", "MB"),
    "min": Column("reserved_mb", "float", "what is kept for it", "MB"),
    "max": Column(
        "limit_mb", "float", "what it may have at most; none where there is no limit", "MB"
    ),
    "consumed": Column("consumed_mb", "float", "CNSM: memory of the host the VM takes", "MB"),
    "touched": Column(
        "touched_mb", "float", "TCHD: working set, as the vmkernel estimates it", "MB"
    ),
    "active": Column("active_mb", "float", "memory in use, as the vmkernel estimates it", "MB"),
    "ballooned": Column("memctl_mb", "float", "MCTLSZ: guest memory held by balloons", "MB"),
    "swapped": Column(
        "swap_used_mb",
        "float",
        "SWCUR: guest memory the host has swapped",
        "MB",
        sign=lies_above(1),
    ),
    "zipped": Column("compressed_mb", "float", "guest memory that is kept compressed", "MB"),
}
TABLE = Table.of(
    "esxi.memory_group",
    "Memory of the groups of the host's scheduler: pools, agents, VMs; columns as memstats was asked for.",
    "memstats -r vm-stats, group-stats, …",
    KeyColumn(
        "mem_group",
        "str",
        "name of the group: vm.71234, host, system; its id where no name was asked for",
    ),
    Column("cartel_id", "int", "cartel (process group) of the VM's vmx world"),
    *_SIZES.values(),
    ask="`memstats -r vm-stats -s name:memSize:max:consumed:ballooned:swapped:zipped -u mb`",
)
_MB = {"kb": 1 / 1024, "mb": 1.0, "gb": 1024.0}
_UNIT = re.compile(
    r"\s-u\s*(?P<unit>[kmg]b)\b|^\s*Unit\s*:\s*(?P<printed>[KMG]B)\s*$", re.IGNORECASE
)
_HEADING = re.compile(r"\s*(?:gid\s+)?name(?:\s+[A-Za-z]\w*)+\s*$|\s*gid(?:\s+[A-Za-z]\w*)+\s*$")
_BESIDE = re.compile(r"\s*(?:-{5,}|[A-Z][A-Za-z. ]*:\s.*|)\s*$")
_OF_VM = re.compile(r"vm\.(\d{1,10})$")


def parse_block(block: Block) -> Output:
    """Read the groups below a heading, one row each; the row Total is a sum and left out."""
    asked = _UNIT.search(block.command)
    unit = _MB[(asked["unit"] if asked and asked["unit"] else "kb").lower()]
    names: list[str] = []
    for number, line in enumerate(block.lines, block.first_line):
        if printed := _UNIT.match(line):
            unit = _MB[printed["printed"].lower()]
        elif _BESIDE.match(line):
            continue
        elif _HEADING.match(line):
            names = line.split()
        elif line.split()[0] == "Total":
            continue
        elif row := _make_row(block, number, names, unit):
            yield row
        else:
            yield fault_at(
                block, number, PARSER.name, "not a row of this output, or its heading is missing"
            )


def _make_row(block: Block, line: int, names: list[str], unit: float) -> Row | None:
    """Return the row of a group, none where its cells do not fit the heading."""
    texts = block.lines[line - block.first_line].split()
    cells = dict(zip(names, texts, strict=False))
    group = cells.get("name") or cells.get("gid")
    if group is None or len(texts) != len(names):
        return None
    cartel = _OF_VM.match(group)
    values: dict[str, Value] = {"mem_group": group, "cartel_id": int(cartel[1]) if cartel else None}
    for name, text in cells.items():
        if name not in _SIZES:
            continue
        if not re.fullmatch(r"-?\d{1,15}", text):
            return None
        size = int(text)
        values[_SIZES[name].name] = size * unit if size >= 0 else None
    return Row(TABLE, TABLE.blank() | values, block, line)


PARSER = Parser(
    name="memstats",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bmemstats\s+(?:-[a-qs-z]\s*\S+\s+)*-r\s*(?!uw-stats)[\w-]+",),
    body=r"^\s*(?:-{5,}|[A-Z][A-Za-z. ]*:\s.*|(?:gid\s+)?name\s.*|gid\s.*|\S+(?:\s+\S+){1,40})\s*$",
)
