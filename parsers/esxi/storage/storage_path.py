"""`esxcli storage core path list`: paths to storage devices, which adapter and target each takes, and its state.

A dead path has no device: plugin and transport details say so in words ("No associated device", "unavailable").
What `grep` left of it (`… | grep -e Runtime -e State`) has no UID: there the runtime name begins a path.
"""

from __future__ import annotations

import re
from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Row
from analyzer.forms import Field, Key, get_blocks

_NONE = ("No associated device", "(unclaimed)", "Unavailable or path is unclaimed", "Unavailable")

_UID = Key("UID", "path_uid", "str", "UID of the path: adapter, target and device")
_FIELDS = (
    Field(
        "Runtime Name",
        "path_name",
        "str",
        "name of the path: vmhba2:C0:T0:L1; changes over a reboot",
    ),
    Field(
        "Device", "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…", none=_NONE
    ),
    Field(
        "Device Display Name", "display_name", "str", "name shown to the administrator", none=_NONE
    ),
    Field("Adapter", "hba", "str", "disk adapter as the host names it: vmhba0"),
    Field("LUN", "lun", "int", "logical unit number"),
    Field("Plugin", "plugin", "str", "multipath plugin that owns it: NMP", none=_NONE),
    Field(
        "State",
        "path_state",
        "str",
        "active, standby, dead, off, disabled, …",
        sign=says_good("active", "on", "standby"),
    ),
    Field("Transport", "transport", "str", "fc, iscsi, sas, sata, parallel, block, …"),
    Field("Adapter Identifier", "hba_uid", "str", "identifier of the adapter: WWNs, IQN"),
    Field("Target Identifier", "target_uid", "str", "identifier of the target: WWNs, IQN, address"),
)
_ABOUT = (
    "storage core path list",
    "esxi.storage_path",
    "Paths to storage devices, one row a path.",
)
_BY_NAME = get_blocks(
    "storage_path", *_ABOUT, replace(_UID, key=False), *_FIELDS, begins="Runtime Name"
)
_WHOLE = get_blocks(
    "storage_path", *_ABOUT, _UID, *_FIELDS, sign="Adapter Identifier|Adapter Transport Details"
)
_NAMED = re.compile(r"\s*UID:")


def parse_block(block: Block) -> Output:
    """Read the paths, by their names where somebody filtered their UIDs out."""
    named = any(map(_NAMED.match, block.lines)) or not any(
        "Runtime Name:" in line for line in block.lines
    )
    if named:
        yield from _WHOLE.parse(block)
        return
    for item in _BY_NAME.parse(block):
        yield (
            Row(_WHOLE.tables[0], item.values, block, item.line, item.lines)
            if isinstance(item, Row)
            else item
        )


# Without a template of its own: the quick look at one would not see the paths that are known by name.
PARSER = replace(_WHOLE, parse=parse_block, template="")
