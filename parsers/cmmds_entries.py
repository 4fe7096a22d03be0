"""`cmmds-tool find`: the directory of a vSAN cluster: its nodes, their maintenance state, disks, states of objects.

Source: `commands/cmmds-tool_find--f-python.txt` of a bundle, or the command with `-f python` or `-f json`: entries of
`"key": "value"` lines. Only entries of the types below are rows: objects and components would be a hundred thousand.
The content is one line of JSON, in the Python form inside a string.
"""

from __future__ import annotations

import re

from analyzer.parsing import Output, Parser, fault_at
from analyzer.tables import Block, Column, Row, Table, Value

TABLE = Table(
    name="esxi.cmmds_entry",
    meaning="Entries of the directory of a vSAN cluster: nodes, disks and states of objects.",
    source="cmmds-tool find -f python; commands/cmmds-tool_find--f-python.txt",
    ask="`cmmds-tool find -f python`",
    columns=(
        Column("entry_type", "str", "HOSTNAME, NODE_DECOM_STATE, DISK, CONFIG_STATUS"),
        Column("entry_uuid", "str", "what it is about: node, disk or object"),
        Column("owner_uuid", "str", "node that wrote it"),
        Column("entry_health", "str", "Healthy, Unhealthy: the node that wrote it is in touch or not"),
        Column("entry_name", "str", "HOSTNAME: name of the node; DISK: device as its host names it"),
        Column("decom_state", "int", "NODE_DECOM_STATE: 0 none, 4 entering vSAN maintenance mode, 6 in it"),
        Column("object_state", "int", "CONFIG_STATUS: 7 healthy, 13 inaccessible, 15 reduced or not compliant"),
        Column("disk_bytes", "int", "DISK: size", "bytes"),
    ),
)

_LINE = re.compile(r'\s*"(uuid|owner|health|type|content|errorStr)"\s*:\s*(.*?)\s*,?\s*$')
_INSIDE = {
    "HOSTNAME": {"entry_name": "hostname"},
    "NODE_DECOM_STATE": {"decom_state": "decomState"},
    "DISK": {"entry_name": "devName", "disk_bytes": "capacity"},
    "CONFIG_STATUS": {"object_state": "state"},
}
_CELLS = {"uuid": "entry_uuid", "owner": "owner_uuid", "health": "entry_health", "type": "entry_type"}


def parse(block: Block) -> Output:
    """Read the entries that have a row; a line is looked at once, however long it is."""
    entry: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for number, text in enumerate(block.lines, block.first_line):
        found = _LINE.match(text, 0, 200) or (_LINE.match(text) if '"content"' in text[:40] else None)
        if found is None:
            continue
        key, value = found[1], found[2]
        if key == "uuid":
            entry, lines = {}, {}
        if key in _CELLS:
            entry[_CELLS[key]] = value.strip('"')
            lines[_CELLS[key]] = number
        elif key == "content" and (wanted := _INSIDE.get(str(entry.get("entry_type")))):
            for name, inner in wanted.items():
                if (cell := _cell(inner, value)) is not None:
                    entry[name] = int(cell) if _kind(name) == "int" else cell
                    lines[name] = number
            if not wanted.keys() & entry.keys():
                yield fault_at(block, number, PARSER.name, f"the content of {entry['entry_type']} is in another form")
        elif key == "errorStr" and entry.get("entry_type") in _INSIDE:
            empty = dict.fromkeys((column.name for column in TABLE.columns), None)
            yield Row(TABLE, empty | entry, block, min(lines.values()), lines)
            entry, lines = {}, {}


def _cell(name: str, content: str) -> str | None:
    """Return the value of a key of the content, as text."""
    found = re.search(rf'\\?"{name}\\?"\s*:\s*(?:\\?"([^"\\]*)\\?"|\[?(\d{{1,18}}))', content)
    return None if found is None else found[1] if found[1] is not None else found[2]


def _kind(name: str) -> str:
    column = TABLE.column(name)
    return column.kind if column is not None else ""


PARSER = Parser(
    name="cmmds_entries",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/cmmds-tool_find--f-python\.txt$",),
    commands=(r"\bcmmds-tool\s+find\b",),
    body=(
        r'^\s*(?:"(?:uuid|owner|health|revision|type|flag|minHostVersion|md5sum|valueLen|content|errorStr|entries)"\s*:.*'
        r"|[\[\]{},]\s*[\[\]{},]?\s*)$"
    ),
)
