"""`cmmds-tool find`: the directory of a vSAN cluster: its nodes, their maintenance state, disks, states of objects.

Source: `commands/cmmds-tool_find--f-python.txt` of a bundle, or the command with `-f python` or `-f json`: entries of
`"key": "value"` lines. Only entries of the types below are rows: objects and components would be a hundred thousand.
The content is one line of JSON, in the Python form inside a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from analyzer.artefacts.parsing import Output, Parser, Wanted
from analyzer.artefacts.signs import lies_above, says_good
from analyzer.artefacts.tables import Block, Column, Fault, Row, Table, Value
from analyzer.sources.encoding import LineReader

TABLE = Table.of(
    "esxi.cmmds_entry",
    "Entries of the directory of a vSAN cluster: nodes, disks and states of objects.",
    "cmmds-tool find -f python; commands/cmmds-tool_find--f-python.txt",
    Column("entry_type", "str", "HOSTNAME, NODE_DECOM_STATE, DISK, CONFIG_STATUS"),
    Column("entry_uuid", "str", "what it is about: node, disk or object"),
    Column("owner_uuid", "str", "node that wrote it"),
    Column(
        "entry_health",
        "str",
        "Healthy, Unhealthy: the node that wrote it is in touch or not",
        sign=says_good("healthy", "0"),
    ),
    Column("entry_name", "str", "HOSTNAME: name of the node; DISK: device as its host names it"),
    Column(
        "decom_state",
        "int",
        "NODE_DECOM_STATE: 0 none, 4 entering vSAN maintenance mode, 6 in it",
        sign=lies_above(0, weight=3),
    ),
    Column(
        "object_state",
        "int",
        "CONFIG_STATUS: 7 healthy, 13 inaccessible, 15 reduced or not compliant",
    ),
    Column("disk_bytes", "int", "DISK: size", "bytes"),
    ask="`cmmds-tool find -f python`",
)

_LINE = re.compile(r'\s*"(uuid|owner|health|type|content|errorStr)"\s*:\s*(.*?)\s*,?\s*$')
_WORD = re.compile(r'"([\w.-]{1,80})"$')
_INSIDE = {
    "HOSTNAME": {"entry_name": "hostname"},
    "NODE_DECOM_STATE": {"decom_state": "decomState"},
    "DISK": {"entry_name": "devName", "disk_bytes": "capacity"},
    "CONFIG_STATUS": {"object_state": "state"},
}
_CELLS = {
    "uuid": "entry_uuid",
    "owner": "owner_uuid",
    "health": "entry_health",
    "type": "entry_type",
}
_LINE_BYTES = 1 << 20  # the content of an object with a thousand components is far below


def parse_block(block: Block) -> Output:
    """Read the entries that have a row."""
    return _read_entries(block, enumerate(block.lines, block.first_line))


def stream(block: Block, chunks: Iterable[bytes | memoryview], _wanted: Wanted = None) -> Output:
    """Read a directory of any size from chunks of bytes; no more than one entry is held."""
    return _read_entries(block, enumerate(_split_lines(chunks), block.first_line))


def _split_lines(chunks: Iterable[bytes | memoryview]) -> Iterator[str]:
    reader = LineReader(_LINE_BYTES)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


def _read_entries(block: Block, lines: Iterable[tuple[int, str]]) -> Output:
    entry: dict[str, Value] = {}
    places: dict[str, int] = {}
    for number, text in lines:
        found = _LINE.match(text)
        if found is None:
            continue
        key, value = found[1], found[2]
        if key == "uuid":
            entry, places = {}, {}
        if key in _CELLS:
            if word := _WORD.match(value):
                entry[_CELLS[key]] = word[1]
                places[_CELLS[key]] = number
        elif key == "content" and (wanted := _INSIDE.get(str(entry.get("entry_type")))):
            for name, inner in wanted.items():
                cell = _find_value(inner, value)
                if cell is not None:
                    entry[name] = cell
                    places[name] = number
            if not wanted.keys() & entry.keys():
                why = f"the content of {entry['entry_type']} is in another form"
                yield Fault(block.address, number, text[:300], PARSER.name, why=why)
        elif key == "errorStr" and entry.get("entry_type") in _INSIDE:
            yield Row(TABLE, TABLE.blank() | entry, block, min(places.values()), places)
            entry, places = {}, {}


def _find_value(name: str, content: str) -> Value:
    """Return the value of a key of the content: a name or a number; None where it has neither."""
    found = re.search(
        rf'\\?"{name}\\?"\s*:\s*(?:\\?"([\w.:-]{{1,200}})\\?"|\[?(\d{{1,18}})\b)', content
    )
    if found is None:
        return None
    if name in ("hostname", "devName"):
        return found[1]
    if found[2]:
        return int(found[2])
    return None


PARSER = Parser(
    name="cmmds_entries",
    tables=(TABLE,),
    parse=parse_block,
    stream=stream,
    node="esxi",
    files=(
        r"(?:^|/)commands/cmmds-tool_find--f-python\.txt$",
        # with names replaced, where a customer asks for that
        r"(?:^|/)commands/cmmds-tool_find---format-json---mangle--t-(?:HOSTNAME|NODE_DECOM_STATE|DISK|CONFIG_STATUS)\.txt$",
    ),
    commands=(r"\bcmmds-tool\s+find\b",),
    body=(
        r'^\s*(?:"(?:uuid|owner|health|revision|type|flag|minHostVersion|md5sum|valueLen|content|errorStr|entries)"\s*:.*'
        r"|[\[\]{},]\s*[\[\]{},]?\s*)$"
    ),
)
