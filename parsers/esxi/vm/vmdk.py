"""Descriptor of a virtual disk (`.vmdk`): type, parent and extents.

The text of a `.vmdk` file: `key=value` lines, one line for each extent (`RW <sectors> <type> "<file>"`), and the disk
data base (`ddb.*`). A snapshot's disk names the file it is on in `parentFileNameHint`, and repeats the content id
which that file had: where both descriptors are there, they can be compared.
"""

from __future__ import annotations

import posixpath
import re

from analyzer.artefacts.parsing import Output, Parser, fault_at, run_template
from analyzer.artefacts.tables import Block, Column, Record, Row, Table, Value

DISK = Table.of(
    "esxi.vmdk",
    "Virtual disks by their descriptor.",
    "<disk>.vmdk (the text file, not -flat or -delta)",
    Column(
        "vm_folder",
        "str",
        "folder of the VM on its datastore; the name of the file where its path has none",
    ),
    Column("disk_path", "str", "path of this descriptor, where the bundle or the command tells it"),
    Column("parent_path", "str", "path of the disk below, where the path of this one is known"),
    Column("create_type", "str", "kind of the disk: vmfs, seSparse, …"),
    Column("cid", "str", "content id, in hex, small letters"),
    Column(
        "parent_cid",
        "str",
        "content id the parent had when this disk was made, in hex, small letters",
    ),
    Column("parent_file", "str", "disk below this one; empty = none, this is a base disk"),
    ask="the descriptor of the disk, <disk>.vmdk",
)
EXTENT = Table.of(
    "esxi.vmdk_extent",
    "Files a virtual disk is made of.",
    "<disk>.vmdk (the text file, not -flat or -delta)",
    Column("access", "str", "RW, RDONLY, NOACCESS"),
    Column("sectors", "int", "size of the extent", "sectors of 512 bytes"),
    Column("extent_type", "str", "kind of the extent: VMFS, SESPARSE, FLAT, …"),
    Column("file_name", "str", "file of the extent"),
    ask="the descriptor of the disk, <disk>.vmdk",
)


_PATH = re.compile(r"(/vmfs/volumes/[^/]+/(?P<folder>[^/]+)/[^/\"']+\.vmdk)\b")


def parse_block(block: Block) -> Output:
    """Read descriptors: a row of each disk, and a row for each extent."""
    lines: dict[str, int] = {}
    disk: dict[str, Value] = {}
    disks: list[tuple[dict[str, Value], dict[str, int]]] = []
    for record in run_template(PARSER.name, block):
        if not isinstance(record, Record):
            yield record
        elif record.values["SECTORS"]:
            values: dict[str, Value] = {}
            for column in EXTENT.columns:
                text = str(record.values[column.name.upper()])
                if column.name == "sectors":
                    values[column.name] = int(text)
                else:
                    values[column.name] = text
            extent_row = Row(EXTENT, values, block, record.line)
            yield extent_row
        elif record.values["HEADING"]:
            disks.append((disk, lines))
            disk, lines = {}, {}
        else:
            (label,) = (label for label, cell in record.values.items() if cell)
            name = label.lower()
            text = str(record.values[label])
            if name in disk:
                yield fault_at(block, record.line, PARSER.name, f"{name} is set a second time")
            disk.setdefault(name, text.lower() if name.endswith("cid") else text)
            lines.setdefault(name, record.line)
    disks.append((disk, lines))
    found = [(cells, places) for cells, places in disks if cells]
    for cells, places in found:
        if len(found) == 1:
            paths = _find_paths(block, cells)
        else:
            paths = {}
        yield Row(DISK, DISK.blank() | cells | paths, block, min(places.values()), places)


def _find_paths(block: Block, disk: dict[str, Value]) -> dict[str, Value]:
    """Return where the only descriptor of a block lies; which of two files a command printed is not known."""
    paths = list(_PATH.finditer(block.command if ".vmdk" in block.command else block.address))
    if len(paths) != 1:
        return {}
    path = paths[0][1]
    folder = paths[0]["folder"]
    below = disk.get("parent_file")
    if below:
        parent = posixpath.join(posixpath.dirname(path), str(below))
    else:
        parent = None
    return {"vm_folder": folder, "disk_path": path, "parent_path": parent}


PARSER = Parser(
    name="vmdk",
    tables=(DISK, EXTENT),
    parse=parse_block,
    node="esxi",
    files=(
        r"(?:^|/)vmfs/volumes/[^/]+/[^/]+/[^/]+(?<!-flat)(?<!-delta)(?<!-sesparse)(?<!-ctk)(?<!-rdm)(?<!-rdmp)\.vmdk$",
    ),
    commands=(r"\b(?:cat|more|less)\s[^|]*(?<!-flat)(?<!-delta)(?<!-sesparse)\.vmdk\b",),
    shape=r"^\s*# Disk DescriptorFile\s*$",
    body=r"^\s*(?:#.*|[A-Za-z][\w.]*\s*=.*|(?:RW|RDONLY|NOACCESS)\s.*)$",
)
