"""`README` of a vm-support bundle: its name, when it was taken, and by which vm-support.

Source: the top directory of a bundle (vm-support 3.x). Five `key: value` lines, then a
description of the files. Host time is UTC on ESXi.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, rows
from analyzer.artefacts.tables import Block, Column, Fault, KeyColumn, Table

from ...common._host import HOST, make_host_row

TABLE = Table.of(
    "esxi.bundle",
    "The vm-support bundle: when it was taken and with which options.",
    "README in the top directory of a vm-support bundle",
    KeyColumn("bundle_name", "str", "name of the bundle, <prefix>-<host>-<date>--<time>-<pid>"),
    Column("captured", "time", "when the bundle was taken, UTC"),
    Column("vm_support_version", "str", "version of vm-support"),
    Column("command_line", "str", "command that took the bundle"),
    ask="`vm-support`",
)

_HASH = re.compile(r"[0-9a-f]{40}$")  # vm-support --obfuscate: no name at all
_NAME = re.compile(r"(?:esx|vc\w*)-(?P<host>.+)-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?$")


def parse_block(block: Block) -> Output:
    """Read the head of a README into one row, and the host's name out of the bundle's."""
    for item in rows(TABLE, PARSER.name, block):
        yield item
        if isinstance(item, Fault):
            continue
        found = _NAME.match(str(item.values["bundle_name"]))
        if found and not _HASH.match(found["host"]):
            yield make_host_row(block, item.line_of("bundle_name"), "README", found["host"])


PARSER = Parser(
    name="esxi_bundle",
    tables=(TABLE, HOST),
    parse=parse_block,
    node="esxi",
    files=(r"^(?:esx|vc\w*)-[^/]+/README$",),
)
