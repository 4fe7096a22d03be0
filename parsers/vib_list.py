"""`esxcli software vib list`: packages on the host; drivers and NSX among them.

Source: `commands/localcli_software-vib-list.txt` or the command. 8.x adds a column of platforms.
"""

from __future__ import annotations

import re

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block, Column, Row, Table

TABLE = Table(
    name="esxi.vib",
    meaning="Packages (VIBs) installed on the host.",
    source="esxcli software vib list; commands/localcli_software-vib-list.txt",
    ask="`esxcli software vib list`",
    key=("name",),
    columns=(
        Column("name", "str", "name of the package: esx-base, esx-nsxv, ixgben"),
        Column("version", "version", "version as printed; 5.x and 6.x print .0 for every update"),
        Column("vib_build", "int", "last part of the version where it is a build number"),
        Column("vendor", "str", "who made it"),
        Column("acceptance", "str", "VMwareCertified, VMwareAccepted, PartnerSupported, CommunitySupported"),
        Column("install_date", "str", "day it was installed, YYYY-MM-DD"),
    ),
)

_BUILD = re.compile(r"[.-](\d{6,9})$")


def parse(block: Block) -> Output:
    """Read the table: one row a package."""
    for item in rows(TABLE, PARSER.name, block):
        if isinstance(item, Row) and (found := _BUILD.search(str(item.values["version"]))):
            item.values["vib_build"] = int(found[1])
        yield item


PARSER = Parser(
    name="vib_list",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_software-vib-list\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+software\s+vib\s+list\b",),
    shape=r"^\s*Name\s+Version\s+Vendor\s+Acceptance Level\s+Install Date",
    body=r"^\s*(?:Name\s+Version\s.*|-[- ]+|\S+\s+\S+\s+\S.*\s\w+(?:Certified|Accepted|Supported)\s.*)$",
)
