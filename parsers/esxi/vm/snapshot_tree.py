"""`vim-cmd vmsvc/snapshot.get ID`: the snapshots of a VM as a tree, which `create` and `revert` print too.

Source: public captures of ESXi 5.5 to 7.0. Each level has two dashes more, a child is below `|-CHILD`. The label
"Desciption" is spelt so by the host; more lines of a description are counted as not understood. The time is UTC.
"""

from __future__ import annotations

import re
from datetime import datetime

from analyzer.artefacts.logtime import check_range
from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

TABLE = Table.of(
    "esxi.snapshot_tree",
    "Snapshots of a VM as vim-cmd prints them.",
    "vim-cmd vmsvc/snapshot.get <vmid>",
    KeyColumn(
        "vmid",
        "int",
        "number of the VM on the host, as getallvms lists it; empty without the command",
    ),
    KeyColumn("snapshot_uid", "int", "number of the snapshot"),
    Column("parent_uid", "int", "the snapshot below it; empty = the base disk"),
    Column("snapshot_name", "str", "its name"),
    Column("created", "time", "when it was made", "UTC"),
    Column("snapshot_state", "str", "powered on, powered off, suspended: with memory, or without"),
    ask="`vim-cmd vmsvc/getallvms` and `vim-cmd vmsvc/snapshot.get <vmid>`",
)
_LABEL = re.compile(
    r"\s*(?P<level>-+)Snapshot (?P<label>Name|Id|Desc\w+|Created On|State)\s*:(?: (?P<text>.*))?$"
)
_CHILD = re.compile(r"\s*-*\|-CHILD\s*$")
_ROOT = re.compile(r"\s*(?:-*\|-ROOT|(?:Get|Create|Revert) Snapshot:)\s*$")
_COLUMNS = {
    "Name": "snapshot_name",
    "Id": "snapshot_uid",
    "Created On": "created",
    "State": "snapshot_state",
}


def parse_block(block: Block) -> Output:
    """Read the tree, one row a snapshot; a value of one whose name is missing is a fault, and so is a strange line."""
    vmid = block.params.get("vmid")
    parents: dict[int, Value] = {}
    row: Row | None = None
    for number, line in enumerate(block.lines, block.first_line):
        found = _LABEL.match(line)
        root = _ROOT.match(line)
        if row is not None and (root or _CHILD.match(line) or (found and found["label"] == "Name")):
            yield row
            row = None
        if found is None:
            if root:
                parents = {}
            elif line.strip() and not _CHILD.match(line):
                yield fault_at(
                    block, number, PARSER.name, "neither a label of a snapshot nor a branch"
                )
            continue
        label = found["label"]
        text = (found["text"] or "").strip()
        if label == "Name":
            empty = TABLE.blank()
            row = Row(TABLE, empty | {"vmid": int(vmid) if vmid else None}, block, number, {})
        if row is None or _COLUMNS.get(label) in row.lines:
            yield fault_at(
                block, number, PARSER.name, "belongs to a snapshot whose name is missing"
            )
        elif label in _COLUMNS:
            if not _put_value(row, label, text, number):
                yield fault_at(block, number, PARSER.name, f"{label} has no value that can be read")
            if label == "Id":
                level = len(found["level"])
                row.values["parent_uid"] = parents.get(level - 2)
                parents[level] = row.values["snapshot_uid"]
    if row is not None:
        yield row


def _put_value(row: Row, label: str, text: str, number: int) -> bool:
    """Put a value into its column; what is no number or no time stays empty, and the answer is False."""
    value: Value = text or None
    if label == "Id":
        if text.isdecimal() and len(text) < 10:
            value = int(text)
        else:
            value = None
    elif label == "Created On":
        # `2/26/2021 17:41:7`: month first and without zeros
        try:
            created = check_range(datetime.strptime(text, "%m/%d/%Y %H:%M:%S"))
            value = created.strftime("%Y-%m-%d %H:%M:%S")
        except ValueError:
            value = None
    row.values[_COLUMNS[label]] = value
    row.lines = {**row.lines, _COLUMNS[label]: number}
    return value is not None or not text


PARSER = Parser(
    name="snapshot_tree",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bvim-cmd\s+vmsvc/snapshot\.(?:get|create|revert)\s+(?P<vmid>\d{1,6})\b",),
    shape=r"^\s*(?:Get|Create|Revert) Snapshot:\s*$|^\s*\|-ROOT\s*$",
    body=r"^\s*(?:(?:Get|Create|Revert) Snapshot:|-+Snapshot [A-Z][A-Za-z ]*:.*|-*\|-(?:ROOT|CHILD))\s*$",
)
