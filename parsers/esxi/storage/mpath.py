"""`esxcfg-mpath -b`: storage devices, and below each its paths with adapter, target and state.

Source: `commands/esxcfg-mpath_-b.txt` or the command. Adapter and target are worded by transport: WWNs, IQN, address.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.artefacts.parsing import Output, fault_at
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Column, Fault, KeyColumn, Row, Table, Value
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.mpath",
    "Paths by storage device, one row a path.",
    "esxcfg-mpath -b; commands/esxcfg-mpath_-b.txt",
    Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Column("display_name", "str", "name shown to the administrator"),
    KeyColumn("path_name", "str", "name of the path: vmhba2:C0:T0:L1; changes over a reboot"),
    Column("lun", "int", "logical unit number"),
    Column(
        "path_state",
        "str",
        "active, standby, dead, off, disabled, …",
        sign=says_good("active", "on", "standby"),
    ),
    Column("transport", "str", "fc, iscsi, sas, sata, parallel, block, …"),
    Column("adapter_words", "str", "the adapter as printed: WWNs, IQN"),
    Column("target_words", "str", "the target as printed: WWNs, IQN, session"),
    ask="`esxcfg-mpath -b`",
)


def drop_repeated(found: Iterable[Row | Fault]) -> Output:
    """Pass on what was read; a path that comes again, and not below its device's next heading, has lost its heading."""
    known: dict[
        Value, tuple[Value, int]
    ] = {}  # path -> its device, and the line that named the device
    for item in found:
        if isinstance(item, Row):
            path = item.values["path_name"]
            device = item.values["storage_device"]
            heading = item.line
            before = known.get(path)
            if before is not None and (before[0] != device or before[1] == heading):
                why = "a path that another line has already: the text does not say whose it is"
                yield fault_at(item.block, item.line_of("path_name"), PARSER.name, why)
                continue
            known[path] = (device, heading)
        yield item


PARSER = template_parser(
    "mpath",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-mpath_-b\.txt$",),
    commands=(r"\besxcfg-mpath\s+(?:-b|--list-compact-paths|--list-paths-brief)\b",),
    shape=r"^\s*(?:naa|eui|t10|mpx|uuid)\.\S+ : \S.*$",
    body=r"^\s*(?:(?:naa|eui|t10|mpx|uuid)\.\S+ : \S.*|\w+:C\d+:T\d+:L\d+ LUN:.*|(?:Errors?|Unable|Failed)\b.*)$",
    answers=drop_repeated,
)
