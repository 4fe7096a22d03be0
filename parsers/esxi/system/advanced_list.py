"""`esxcli system settings advanced list`, whole, with `-o OPTION`, or `-d` (changed options only).

Source: `commands/localcli_system-settings-advanced-list--d.txt` or the command: a block of keys an
option; 7.x and later add keys.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, fault_at
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ._options import OPTIONS, option_row, read_integer

_DELTA = re.compile(r"list--d\.txt|\s(?:-d|--delta)\b")


def read_record(block: Block, record: Record) -> Output:
    """Make the row of an option; a number that is too large is a fault."""
    for name in ("VALUE", "DEFAULT_VALUE"):
        if record.values[name] and read_integer(str(record.values[name])) is None:
            yield fault_at(block, record.lines[name], PARSER.name, "the number is too large")
    cells = {name: str(cell) for name, cell in record.values.items() if cell}
    kind = cells.get("OPTION_TYPE")
    delta = bool(_DELTA.search(block.address) or _DELTA.search(block.command))
    values: dict[str, Value] = {"option": cells["OPTION"], "option_type": kind, "delta_only": delta}
    if kind != "string":
        values |= {
            "value": read_integer(cells.get("VALUE")),
            "default_value": read_integer(cells.get("DEFAULT_VALUE")),
        }
    if kind != "integer":
        values |= {"text": cells.get("TEXT", ""), "default_text": cells.get("DEFAULT_TEXT", "")}
    yield option_row(block, record.line, values)


PARSER = record_parser(
    "advanced_list",
    (OPTIONS,),
    read_record,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_system-settings-advanced-list(?:--d)?\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+system\s+settings\s+advanced\s+list\b",),
    shape=r"^\s*Path: /\w+/\S+\s*$",
    body=(
        r"^\s*(?:Path|Type|(?:Default )?(?:Int|String) Value|(?:Min|Max) Value|Valid Characters|Description"
        r"|Host Specific|Impact):.*$"
    ),
)
