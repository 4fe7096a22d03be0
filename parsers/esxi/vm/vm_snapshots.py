"""`.vmsd`: the snapshots of a VM, and whether its disks wait for a consolidation.

Source: `vmfs/volumes/<uuid>/<vm>/<vm>.vmsd` of a bundle, or the file alone. Lines are `key = "value"`; the time of a
snapshot is microseconds since 1970 in two halves, the low one with a sign. Names and descriptions are the user's;
descriptions are not read.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from analyzer.artefacts.logtime import FAR, moment_of_seconds
from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import dates_before, lies_above
from analyzer.artefacts.tables import Block, Column, Row, Table

_FOLDER = Column(
    "vm_folder",
    "str",
    "folder of the VM on its datastore; the name of the file where its path has none",
)
_SOURCE = "<vm>.vmsd; vmfs/volumes/<datastore>/<vm>/<vm>.vmsd of a bundle"
_ASK = "the VM's .vmsd file"
CHAIN = Table.of(
    "esxi.snapshot_chain",
    "VMs by their list of snapshots, one row a .vmsd file that is not empty.",
    _SOURCE,
    _FOLDER,
    Column("snapshots", "int", "snapshots in the list", sign=lies_above(3, weight=2.5)),
    Column("current_uid", "int", "the snapshot that the VM stands on"),
    Column("needs_consolidation", "bool", "disks of removed snapshots are still there"),
    ask=_ASK,
    key=("vm_folder",),
)
SNAPSHOT = Table.of(
    "esxi.vm_snapshot",
    "Snapshots of VMs.",
    _SOURCE,
    _FOLDER,
    Column("snapshot_uid", "int", "number of the snapshot"),
    Column("parent_uid", "int", "the snapshot below it; empty = the base disk"),
    Column("snapshot_name", "str", "its name"),
    Column("created", "time", "when it was made", "UTC", sign=dates_before(3, weight=2)),
    Column("snapshot_disks", "int", "disks it holds"),
    ask=_ASK,
    key=("vm_folder", "snapshot_uid"),
)

_LINE = re.compile(r'\s*([A-Za-z.][\w.:-]*)\s*=\s*"(.*)"\s*$')
_KEY = re.compile(
    r"snapshot(\d{1,6})\.(uid|parent|displayName|createTimeHigh|createTimeLow|numDisks)$"
)
_PATH = re.compile(r"(?:^|/)vmfs/volumes/[^/]+/([^/]+)/[^/]+\.vmsd")
_NUMBER = re.compile(r"-?\d{1,18}$")
_BOOL = re.compile(r"(?i:true|false)$")
_CHAIN = {
    "snapshot.numSnapshots": "snapshots",
    "snapshot.current": "current_uid",
    "snapshot.needConsolidate": "needs_consolidation",
}
_KINDS = {"snapshots": _NUMBER, "current_uid": _NUMBER, "needs_consolidation": _BOOL}
_COLUMNS = {
    "uid": "snapshot_uid",
    "parent": "parent_uid",
    "numDisks": "snapshot_disks",
    "displayName": "snapshot_name",
}


Cells = dict[str, tuple[str, int]]  # key -> its text and its line


def parse_block(block: Block) -> Output:
    """Read lists of snapshots: a row of the VM, and a row for each snapshot. A key that comes again begins a list."""
    cells: Cells = {}
    for number, text in enumerate(block.lines, block.first_line):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        line = _LINE.match(text)
        if line is None:
            yield fault_at(block, number, PARSER.name, 'not a line of the form key = "value"')
            continue
        if line[1] in cells:
            yield from _read_list(block, cells)
            cells = {}
        cells[line[1]] = (line[2], number)
    yield from _read_list(block, cells)


def _read_list(block: Block, cells: Cells) -> Output:
    """Yield the rows of one list, and a fault for each value that is not what its key says."""
    # The VM's folder, by the path of the file or the command; a loose file has its own name
    folder: str | None = None
    if in_path := _PATH.search(block.address) or _PATH.search(block.command):
        folder = in_path[1]
    elif (name := PurePosixPath(block.address).name).endswith(".vmsd"):
        folder = name
    chain = CHAIN.blank()
    lines: dict[str, int] = {}
    snapshots: dict[int, Cells] = {}
    for name, (value, number) in cells.items():
        column = _CHAIN.get(name)
        key = _KEY.match(name)
        if column is not None:
            if not _KINDS[column].match(value):
                yield fault_at(block, number, PARSER.name, f"{name} is no value of {column}")
                continue
            if column == "needs_consolidation":
                chain[column] = value.upper() == "TRUE"
            else:
                chain[column] = int(value)
            lines[column] = number
        elif key is not None:
            uid = int(key[1])
            label = key[2]
            if label != "displayName" and not _NUMBER.match(value):
                yield fault_at(block, number, PARSER.name, f"{label} is no number")
                continue
            snapshots.setdefault(uid, {})[label] = (value, number)
    if lines:
        yield Row(CHAIN, chain | {"vm_folder": folder}, block, min(lines.values()), lines)
    for _, found in sorted(snapshots.items()):
        yield from _read_snapshot(block, folder, found)


def _read_snapshot(block: Block, folder: str | None, cells: Cells) -> Output:
    """Yield the row of a snapshot, and a fault for each line of one that has no number."""
    if "uid" not in cells:
        for _, number in cells.values():
            yield fault_at(block, number, PARSER.name, "belongs to a snapshot whose uid is missing")
        return
    values = SNAPSHOT.blank()
    values["vm_folder"] = folder
    lines = {}
    for key, name in _COLUMNS.items():
        if key in cells:
            text, lines[name] = cells[key]
            values[name] = text if key == "displayName" else int(text)
    if "createTimeHigh" in cells and "createTimeLow" in cells:
        high = int(cells["createTimeHigh"][0])
        low = int(cells["createTimeLow"][0])
        lines["created"] = cells["createTimeHigh"][1]
        micros = (high << 32) + (low & 0xFFFFFFFF)
        created = moment_of_seconds(micros // 1_000_000)
        if created is None:
            yield fault_at(block, lines["created"], PARSER.name, f"the time of a snapshot is {FAR}")
        elif micros:  # a linked clone has zero
            values["created"] = created.strftime("%Y-%m-%d %H:%M:%S")
    yield Row(SNAPSHOT, values, block, min(lines.values()), lines)


PARSER = Parser(
    name="vm_snapshots",
    tables=(CHAIN, SNAPSHOT),
    parse=parse_block,
    node="esxi",
    files=(r"\.vmsd$",),
    commands=(r"\b(?:cat|more|less)\s[^|]*\.vmsd\b",),
    shape=r"^\s*snapshot\.(?:lastUID|numSnapshots|current|needConsolidate)\s*=\s*\".*\"\s*$",
    body=r"^\s*[A-Za-z.][\w.:-]*\s*=\s*\".*\"\s*$",
    lead=r"^\s*\.encoding\s*=",
)
