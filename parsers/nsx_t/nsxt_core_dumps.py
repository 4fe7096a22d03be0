"""`get core-dumps` of an NSX-T node: files that a process left when it crashed.

Source: the NSX CLI guide: below a line that names the folder, size, time and name of each file.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_rows
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsxt import DATED, stray_fault, typed_row

TABLE = Table.of(
    "nsxt.core_dump",
    "Core dumps on an NSX-T node: a process crashed.",
    "get core-dumps",
    Column("folder", "str", "folder of the file: /var/log/core, /image/core"),
    KeyColumn("core_file", "str", "name of the file", sign=says_rows(5)),
    Column("process_name", "str", "process that crashed, as the name of the file says"),
    Column("core_bytes", "int", "size of the file", "bytes"),
    Column("time", "time", "when it was written", "UTC"),
    ask="`get core-dumps` on the node",
)

_FOLDER = re.compile(r"\s*Directory:\s*(?P<folder>/\S+)\s*$")
_FILE = re.compile(
    r"\s*(?P<core_bytes>\d+)\s+(?P<month>[A-Z][a-z]{2})\s+(?P<day>\d{1,2})\s+(?P<year>\d{4})\s+"
    r"(?P<clock>\d\d:\d\d:\d\d)\s+UTC\s+(?P<core_file>(?:core\.)?(?P<process_name>[A-Za-z][\w:-]*)\S*)\s*$"
)
_REST = re.compile(rf"\s*(?:$|{DATED}|No core|There are no )")


def parse_block(block: Block) -> Output:
    """Read the files, one row each."""
    folder = ""
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if found := _FOLDER.match(line):
            folder = found["folder"]
        elif found := _FILE.match(line):
            texts = {
                "folder": folder,
                "time": "{month} {day} {clock} {year} UTC".format(**found.groupdict()),
            }
            texts |= {name: found[name] for name in ("core_file", "core_bytes")}
            texts["process_name"] = re.sub(r"[:\d-]+$", "", found["process_name"])
            yield from typed_row(
                TABLE, block, PARSER.name, at, {name: (text, at) for name, text in texts.items()}
            )
        elif not _REST.match(line):
            yield stray_fault(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_core_dumps",
    tables=(TABLE,),
    parse=parse_block,
    commands=(r"^\s*get core-dumps\s*$",),
    body=rf"^\s*(?:Directory:\s|\d+\s+[A-Z][a-z]{{2}}\s+\d|No core|There are no |%|{DATED})",
)
