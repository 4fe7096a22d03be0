"""`.vmsd`: the snapshots of a VM, and whether its disks wait for a consolidation.

Source: `vmfs/volumes/<uuid>/<vm>/<vm>.vmsd` of a bundle, or the file alone. Lines are `key = "value"`; the time of a
snapshot is microseconds since 1970 in two halves, the low one with a sign. Names and descriptions are the user's;
descriptions are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from analyzer.parsing import Output, Parser, fault_at
from analyzer.tables import Block, Column, Row, Table, Value

_FOLDER = Column("vm_folder", "str", "folder of the VM on its datastore; the name of the file where its path has none")
_SOURCE = "<vm>.vmsd; vmfs/volumes/<datastore>/<vm>/<vm>.vmsd of a bundle"
_ASK = "the VM's .vmsd file"
CHAIN = Table(
    name="esxi.snapshot_chain",
    meaning="VMs by their list of snapshots, one row a .vmsd file that is not empty.",
    source=_SOURCE,
    ask=_ASK,
    key=("vm_folder",),
    columns=(
        _FOLDER,
        Column("snapshots", "int", "snapshots in the list"),
        Column("current_uid", "int", "the snapshot that the VM stands on"),
        Column("needs_consolidation", "bool", "disks of removed snapshots are still there"),
    ),
)
SNAPSHOT = Table(
    name="esxi.vm_snapshot",
    meaning="Snapshots of VMs.",
    source=_SOURCE,
    ask=_ASK,
    key=("vm_folder", "snapshot_uid"),
    columns=(
        _FOLDER,
        Column("snapshot_uid", "int", "number of the snapshot"),
        Column("parent_uid", "int", "the snapshot below it; empty = the base disk"),
        Column("snapshot_name", "str", "its name"),
        Column("created", "time", "when it was made", "UTC"),
        Column("snapshot_disks", "int", "disks it holds"),
    ),
)

_LINE = re.compile(r'\s*([A-Za-z.][\w.:-]*)\s*=\s*"(.*)"\s*$')
_KEY = re.compile(r"snapshot(\d{1,6})\.(uid|parent|displayName|createTimeHigh|createTimeLow|numDisks)$")
_PATH = re.compile(r"(?:^|/)vmfs/volumes/[^/]+/([^/]+)/[^/]+\.vmsd")
_NUMBER = re.compile(r"-?\d{1,18}$")
_CHAIN = {"snapshot.numSnapshots": "snapshots", "snapshot.current": "current_uid"}
_COLUMNS = {"uid": "snapshot_uid", "parent": "parent_uid", "numDisks": "snapshot_disks", "displayName": "snapshot_name"}


def parse(block: Block) -> Output:
    """Read a list of snapshots: a row of the VM, and a row for each snapshot."""
    folder = _folder(block)
    chain: dict[str, Value] = {"vm_folder": folder}
    lines: dict[str, int] = {}
    found: dict[int, dict[str, tuple[str, int]]] = {}
    for number, text in enumerate(block.lines, block.first_line):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        line = _LINE.match(text)
        if line is None:
            yield fault_at(block, number, PARSER.name, 'not a line of the form key = "value"')
            continue
        name, value = line[1], line[2]
        if name in _CHAIN and _NUMBER.match(value):
            chain[_CHAIN[name]] = int(value)
            lines[_CHAIN[name]] = number
        elif name == "snapshot.needConsolidate":
            chain["needs_consolidation"] = value.upper() == "TRUE"
            lines["needs_consolidation"] = number
        elif key := _KEY.match(name):
            if key[2] != "displayName" and not _NUMBER.match(value):
                yield fault_at(block, number, PARSER.name, f"{key[2]} is no number")
            else:
                found.setdefault(int(key[1]), {})[key[2]] = (value, number)
    if lines:
        empty = dict.fromkeys((column.name for column in CHAIN.columns), None)
        yield Row(CHAIN, empty | chain, block, min(lines.values()), lines)
    yield from _snapshots(block, folder, found)


def _folder(block: Block) -> str | None:
    """Return the VM's folder by the path of the file or the command; a loose file has its own name."""
    for text in (block.address, block.command):
        if found := _PATH.search(text):
            return found[1]
    name = PurePosixPath(block.address).name
    return name if name.endswith(".vmsd") else None


def _snapshots(block: Block, folder: str | None, found: dict[int, dict[str, tuple[str, int]]]) -> Iterator[Row]:
    """Yield the snapshots that have a number."""
    for _, cells in sorted(found.items()):
        if "uid" not in cells:
            continue
        values: dict[str, Value] = dict.fromkeys((column.name for column in SNAPSHOT.columns), None)
        values["vm_folder"] = folder
        lines = {}
        for key, name in _COLUMNS.items():
            if key in cells:
                text, lines[name] = cells[key]
                values[name] = text if key == "displayName" else int(text)
        if "createTimeHigh" in cells and "createTimeLow" in cells:
            values["created"] = _time(int(cells["createTimeHigh"][0]), int(cells["createTimeLow"][0]))
            lines["created"] = cells["createTimeHigh"][1]
        yield Row(SNAPSHOT, values, block, min(lines.values()), lines)


def _time(high: int, low: int) -> str | None:
    """Return the time of two halves of microseconds, None for the zero of a linked clone and for what is no time."""
    micros = (high << 32) + (low & 0xFFFFFFFF)
    if not 0 < micros < 1 << 53:
        return None
    return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)).strftime("%Y-%m-%d %H:%M:%S")


PARSER = Parser(
    name="vm_snapshots",
    tables=(CHAIN, SNAPSHOT),
    parse=parse,
    node="esxi",
    files=(r"\.vmsd$",),
    commands=(r"\b(?:cat|more|less)\s[^|]*\.vmsd\b",),
    shape=r"^\s*snapshot\.(?:lastUID|numSnapshots|current|needConsolidate)\s*=\s*\".*\"\s*$",
    body=r"^\s*[A-Za-z.][\w.:-]*\s*=\s*\".*\"\s*$",
    lead=r"^\s*\.encoding\s*=",
)
