"""`stat -f PATH`: blocks and inodes of a file system; `stat -f /` of a host tells of its root, visorfs.

Source: the format in BusyBox's stat.c, which prints it on ESXi.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

TABLE = Table.of(
    "esxi.file_system_stat",
    "File systems as stat -f prints them, one row a path.",
    "stat -f PATH",
    KeyColumn("stat_path", "str", "path that was asked for"),
    Column("stat_type", "str", "type as printed: visorfs"),
    Column("inodes_total", "int", "files and folders it can hold", "inodes"),
    Column("inodes_free", "int", "files and folders that can still be made", "inodes"),
    Column("blocks_total", "int", "size in blocks", "blocks"),
    Column("blocks_free", "int", "blocks that are free", "blocks"),
    ask="`stat -f /`",
)
_FILE = re.compile(r'\s*File: "(?P<stat_path>[^"]*)"\s*$')
_LINES = (
    re.compile(r"\s*ID: \S+\s+Namelen: \S+\s+Type: (?P<stat_type>\S.*?)\s*$"),
    re.compile(
        r"\s*Blocks: Total: (?P<blocks_total>\d{1,18})\s+Free: (?P<blocks_free>\d{1,18})\s+Available: \d+\s*$"
    ),
    re.compile(
        r"\s*Inodes: Total: (?P<inodes_total>\d{1,18})\s+Free: (?P<inodes_free>\d{1,18})\s*$"
    ),
)
_OTHER = re.compile(r"\s*(?:(?:Fundamental b|B)lock size: .*)?$")


def parse_block(block: Block) -> Output:
    """Read the file systems, one row each, at the line that names it."""
    values: dict[str, Value] = {}
    at = block.first_line
    for number, line in enumerate(block.lines, block.first_line):
        if named := _FILE.match(line):
            if values:
                yield Row(TABLE, values, block, at)
            values = {**TABLE.blank(), **named.groupdict()}
            at = number
        elif values and (found := next(filter(None, (one.match(line) for one in _LINES)), None)):
            cells = found.groupdict().items()
            values |= {name: text if name == "stat_type" else int(text) for name, text in cells}
        elif not _OTHER.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    if values:
        yield Row(TABLE, values, block, at)


PARSER = Parser(
    name="file_system_stat",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    common=True,
    commands=(r"(?:^|[\s/])stat\s+-f\b",),
    body=r'^\s*(?:File: ".*|ID: .*|(?:Fundamental b|B)lock size: .*|Blocks: Total: .*|Inodes: Total: .*)$',
)
