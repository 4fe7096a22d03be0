"""A loop over `vsish -e ls /system/heaps` that prints the stats of each heap, whole or what a grep leaves of them.

Such loops are in guides on the heaps of the distributed firewall (NSX 6.2.3 and later). A heap begins with its name,
which the loop prints as the list has it (`vsip-rules-0x430b6dc53000/`), or with its label Name.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, ColumnValueError, Row, convert_cell

from .heap_stats import FIELDS
from .heap_stats import PARSER as STATS

TABLE = STATS.tables[0]
_NAME = re.compile(r"\s*(?P<heap>\S+?)-0x[0-9a-f]{4,16}/?\s*$")
_LINE = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z ]{1,60}?)\s*:\s*(?P<text>\S.*?)\s*$")
_LABELS = {field.label: field.name for field in FIELDS}


def parse_block(block: Block) -> Output:
    """Read the heaps, one row each."""
    row: Row | None = None
    for number, line in enumerate(block.lines, block.first_line):
        if re.match(r"\s*Heap stats \{", line) and row is not None and row.lines:
            yield row
            row = None
        found = _LINE.match(line)
        # The name of the heap that a line begins, None where it begins none
        named = _NAME.match(line)
        if named is not None:
            heap = named["heap"]
        elif found and found["label"] == "Name" and (row is None or row.lines):
            heap = found["text"]
        else:
            heap = None
        if heap is not None:
            if row is not None:
                yield row
            row = Row(TABLE, TABLE.blank() | {"heap": heap}, block, number, {})
        elif found and row is not None:
            yield from _put_cell(row, found["label"], found["text"], number)
        elif found and found["label"] in _LABELS:
            yield fault_at(block, number, PARSER.name, "belongs to a heap whose name is missing")
        elif line.strip() and not re.match(r"\s*(?:Heap stats \{|\}|[A-Za-z][^:]{0,70}:)", line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    if row is not None:
        yield row


def _put_cell(row: Row, label: str, text: str, line: int) -> Output:
    """Put a cell into the row of its heap; a label that has no column is left out."""
    name = _LABELS.get(label)
    column = TABLE.column(name) if name else None
    if column is None or column.name == "heap":
        return
    try:
        row.values[column.name] = convert_cell(column, text)
        row.lines = {**row.lines, column.name: line}
    except ColumnValueError as error:
        yield fault_at(row.block, line, PARSER.name, str(error))


PARSER = Parser(
    name="heap_loop",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bvsish -e ls /system/heaps\b.*\bvsish -e get /system/heaps/",),
    shape=r"^\s*[\w.-]+-0x[0-9a-f]{6,16}/\s*$",
    body=r"^\s*(?:\S+-0x[0-9a-f]{4,16}/?\s*$|Heap stats \{|\}|[A-Za-z][A-Za-z ]{1,60}:\s*\S)",
)
