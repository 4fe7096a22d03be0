"""Descriptor of a virtual disk (`.vmdk`): type, parent and extents.

The text of a `.vmdk` file: `key=value` lines, one line for each extent (`RW <sectors> <type> "<file>"`), and the disk
data base (`ddb.*`). A snapshot's disk names the file it stands on in `parentFileNameHint`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.parsing import Output, Parser, fault_at, run_template
from analyzer.tables import Block, Column, Record, Row, Table, Value

DISK = Table.of(
    "esxi.vmdk",
    "Virtual disks by their descriptor.",
    "<disk>.vmdk (the text file, not -flat or -delta)",
    Column("create_type", "str", "kind of the disk: vmfs, seSparse, …"),
    Column("cid", "str", "content id, in hex"),
    Column("parent_cid", "str", "content id the parent had when this disk was made, in hex"),
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


def parse(block: Block) -> Output:
    """Read descriptors: a row of each disk, and a row for each extent."""
    lines: dict[str, int] = {}
    disk: dict[str, Value] = {}
    for record in run_template(PARSER.name, block):
        if not isinstance(record, Record):
            yield record
        elif record.values["SECTORS"]:
            cells = {column.name: str(record.values[column.name.upper()]) for column in EXTENT.columns}
            yield Row(EXTENT, cells | {"sectors": int(cells["sectors"])}, block, record.line)
        elif record.values["HEADING"]:
            yield from _disk(block, disk, lines)
            disk, lines = {}, {}
        else:
            ((name, cell),) = ((name.lower(), str(cell)) for name, cell in record.values.items() if cell)
            if name in disk:
                yield fault_at(block, record.line, PARSER.name, f"{name} is set a second time")
            disk.setdefault(name, cell)
            lines.setdefault(name, record.line)
    yield from _disk(block, disk, lines)


def _disk(block: Block, disk: dict[str, Value], lines: dict[str, int]) -> Iterator[Row]:
    """Yield the row of a disk, when anything of it was read."""
    if disk:
        yield Row(DISK, DISK.blank() | disk, block, min(lines.values()), lines)


PARSER = Parser(
    name="vmdk",
    tables=(DISK, EXTENT),
    parse=parse,
    node="esxi",
    files=(
        r"(?:^|/)vmfs/volumes/[^/]+/[^/]+/[^/]+(?<!-flat)(?<!-delta)(?<!-sesparse)(?<!-ctk)(?<!-rdm)(?<!-rdmp)\.vmdk$",
    ),
    commands=(r"\b(?:cat|more|less)\s[^|]*(?<!-flat)(?<!-delta)(?<!-sesparse)\.vmdk\b",),
    shape=r"^\s*# Disk DescriptorFile\s*$",
    body=r"^\s*(?:#.*|[A-Za-z][\w.]*\s*=.*|(?:RW|RDONLY|NOACCESS)\s.*)$",
)
