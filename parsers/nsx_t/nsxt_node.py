"""What a node of NSX-T or NSX 4 is: its name, role and release.

Sources: `get version` of its CLI prints `VMware NSX Software, Version 9.0.0.0.24476664` (NSX CLI guide), whose last
part is the build; the lines of its syslog name host and component (parsers/nsx_t/nsxt_syslog_head.py).
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Row, Table, Value

from ..common._nsxt import stray_fault
from ..common._site import SITE_NSXT

TABLE = Table.of(
    "nsxt.node",
    "A node of NSX-T / NSX 4: name, role and release, one row for each place that states them.",
    "get version; the greeting of its CLI; the head of var/log/syslog",
    Column("hostname", "str", "name of the node, as its syslog prints it"),
    Column("role", "str", "manager or edge, as the component of its lines says"),
    Column("version", "version", "release: 4.1.0.2.0", form=r"\d+(?:\.\d+)+"),
    Column(
        "build", "int", "build of the node; manager, edge and kernel modules have different ones"
    ),
    Column("source", "str", "where it is stated: syslog, cli"),
    ask="`get version` on the node, or its support bundle",
)

_VERSION = re.compile(
    r"\s*VMware NSX(?:-T)? Software, Version (?P<version>\d+(?:\.\d+){2,5})\.(?P<build>\d{6,10})\s*$"
)
_AROUND = re.compile(
    r"\s*(?:Technical Support:|Copyright|The term|companies\.|All trademarks|.{0,40}trademarks|All rights|This product|"
    r"[a-z].{0,400}$|$)"
)


def parse_block(block: Block) -> Output:
    """Read `get version`: one row."""
    for number, line in enumerate(block.lines):
        if found := _VERSION.match(line):
            cells: dict[str, Value] = {
                "version": found["version"],
                "build": int(found["build"]),
                "source": "cli",
            }
            yield node_row(block, block.first_line + number, cells)
        elif not _AROUND.match(line):
            yield stray_fault(block, number, PARSER.name)


def node_row(block: Block, line: int, cells: dict[str, Value]) -> Row:
    """Return a row of the table, cells that are not given empty."""
    return Row(TABLE, TABLE.blank() | cells, block, line)


PARSER = Parser(
    name="nsxt_node",
    tables=(TABLE,),
    parse=parse_block,
    commands=(r"^\s*get version\s*$",),
    shape=r"^\s*VMware NSX(?:-T)? Software, Version \d",
    body=r"^\s*(?:%|VMware NSX|Technical Support:|Copyright|The term|All |companies\.)",
)

MADE = SITE_NSXT  # of what all members of a site say of one another
