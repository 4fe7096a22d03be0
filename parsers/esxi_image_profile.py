"""`esxcli software profile get`: the image the host was installed or patched with.

Source: `commands/localcli_software-profile-get.txt`, line `Name:`. VMware's own profiles are
called `ESXi-<version>-<build or date>-standard`; a vendor's name may hold the version only.
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzer.parsing import Output, Parser, run_template
from analyzer.tables import Block, Fault, Value

from ._host import VERSION, version_row

_MOST = 500  # the line of all VIBs is longer, and not read here
_NAME = re.compile(r"ESXi-(?P<version>\d+\.\d+\.\d+)(?:-(?P<build>\d{6,8})(?=-))?")


def parse(block: Block) -> Output:
    """Read the name of the image profile: version, and the build where the name holds it."""
    short = replace(block, lines=[line[:_MOST] for line in block.lines])
    for record in run_template(PARSER.name, short):
        if isinstance(record, Fault):
            yield record
            continue
        name = str(record.values["UPDATE_TEXT"])
        found = _NAME.search(name)
        values: dict[str, Value] = {"product": "VMware ESXi", "update_text": name}
        if found:
            values |= {"version": found["version"], "build": int(found["build"]) if found["build"] else None}
        yield version_row(block, record.line, "image profile", values)


PARSER = Parser(
    name="esxi_image_profile",
    tables=(VERSION,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_software-profile-get\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+software\s+profile\s+get\s*$",),
)
