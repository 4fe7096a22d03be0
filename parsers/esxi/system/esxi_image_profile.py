"""`esxcli software profile get`: the image the host was installed or patched with, and the one the next boot takes.

Source: `commands/localcli_software-profile-get.txt`, and the same with `--rebooting-image`. VMware's own profiles are
called `ESXi-<version>-<build or date>-standard`; a vendor's name may hold the version only. Without an image that
waits for a boot the second says "No pending image profile available." in place of the name.
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Row, Value
from analyzer.forms import Field, Made, get_blocks
from analyzer.forms.columns import bundle_files

from ...common._host import VERSION, make_version_row
from .vib_get import name_image

_MOST = 500  # the line of all VIBs is longer, and not read here
_NAME = re.compile(r"ESXi-(?P<version>\d+\.\d+\.\d+)(?:-(?P<build>\d{6,8})(?=-))?")
_LABEL = re.compile(
    r"\s*(?:Name|Vendor|Creation Time|Modification Time|Stateless Ready|Description|VIBs):"
)

_FORM = get_blocks(
    "esxi_image_profile",
    "software profile get",
    "esxi.image_profile",
    "Image profiles of the host: the one it runs, and the one the next boot takes.",
    Field(
        "Name",
        "profile",
        "str",
        "name of the image profile; (Updated) before it: packages were added since",
    ),
    Field("Vendor", "vendor", "str", "who made it"),
    Field("Creation Time", "profile_created", "time", "when it was made"),
    Field(
        "Modification Time",
        "profile_modified",
        "time",
        "when it was last changed: the last patch or driver",
    ),
    Field("Stateless Ready", "stateless_ready", "bool", "it may be booted from the network"),
    Made(
        "image", "str", "running: what the host runs; next boot: what the next boot takes", key=True
    ),
    files=bundle_files("localcli software profile get --rebooting-image", twin=True),
    begins="Name",
    titled=r"\S.{0,200}",
    finish=name_image,
    sign="Stateless Ready",
)


def parse_block(block: Block) -> Output:
    """Read an image profile, and the version that the name of the running one holds.

    A profile that was "(Updated)" since has its old name, so it states no version.
    """
    # The text of the description and the list of packages are left out
    lines = []
    described = False
    for line in block.lines:
        text = line.strip()
        described = (described or text.startswith("Description:")) and not text.startswith("VIBs:")
        lines.append(line[:_MOST] if _LABEL.match(line) or not described else "")
    for item in _FORM.parse(replace(block, lines=lines)):
        yield item
        if isinstance(item, Row) and item.values["image"] == "running" and item.values["profile"]:
            name = str(item.values["profile"])
            if " " not in name:
                found = _NAME.search(name)
                values: dict[str, Value] = {"product": "VMware ESXi", "update_text": name}
                if found:
                    values |= {
                        "version": found["version"],
                        "build": int(found["build"]) if found["build"] else None,
                    }
                version_row = make_version_row(
                    block, item.line_of("profile"), "image profile", values
                )
                yield version_row


PARSER = replace(_FORM, parse=parse_block, tables=(VERSION, *_FORM.tables))
