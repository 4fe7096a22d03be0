"""Files of a VM's folder: `ls -isla` of a bundle; deltas of snapshots, swap files and leftovers with size and time.

Source: `ls_-isla-vmfsvolumes….txt` of a bundle, one for each VM, in `commands/` or in its folder, or the command. Times
are UTC, without a year for files of the last months: `Mon DD HH:MM` or `Mon DD  YYYY`.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Column, Record, Row, Table, Value
from analyzer.forms import record_parser

TABLE = Table.of(
    "esxi.vm_file",
    "Files in the folders of VMs.",
    "ls -isla <vm_folder>; commands/ls_-isla-vmfsvolumes….txt",
    Column(
        "vm_folder",
        "str",
        "folder of the VM on its datastore; the name of the file where its path has none",
    ),
    Column("vm_file", "str", "name of the file"),
    Column("allocated_kib", "int", "space it takes", "KiB"),
    Column("size_bytes", "int", "its size", "bytes"),
    Column("modified", "str", "when it was written last, as printed, UTC"),
    Column(
        "is_delta", "bool", "named as the disk of a snapshot is: ends in six digits, -000001.vmdk"
    ),
    Column("is_folder", "bool", "a folder"),
    Column(
        "descriptor_file",
        "str",
        "of the data of a disk (NAME-flat.vmdk): the file that describes it, NAME.vmdk",
    ),
    ask="`ls -isla /vmfs/volumes/<volume_name>/<vm_folder>`",
)

_DELTA = re.compile(r"-\d{6}(?:-delta|-sesparse|-ctk)?\.vmdk$")
_DATA = "-flat.vmdk"
_FOLDER = re.compile(r"(?:^|/)vmfs/volumes/[^/]+/([^/]+)/[^/]+$")
_MEMBER = re.compile(
    r"/(?:\d+\.)?ls_-isla-vmfsvolumes(?:[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12})?(.*)\.txt$"
)
_MODE = r"[-dlbcps][-rwxsStT]{9}\S?"


def read_record(block: Block, record: Record) -> Output:
    """Yield a file; the folder comes from the command or from the name of the member, which has lost its slashes."""
    cells = {name.lower(): str(cell) for name, cell in record.values.items()}
    folder = block.params.get("vm_folder")
    if folder is None and (found := _FOLDER.search(block.address) or _MEMBER.search(block.address)):
        folder = found[1]
    file = cells["vm_file"]
    values: dict[str, Value] = {
        "vm_folder": folder.rstrip("/").rpartition("/")[2] if folder else None,
        "vm_file": cells["vm_file"],
        "allocated_kib": int(cells["allocated_kib"]),
        "size_bytes": int(cells["size_bytes"]),
        "modified": cells["modified"],
        "is_delta": _DELTA.search(cells["vm_file"]) is not None,
        "is_folder": cells["mode"].startswith("d"),
        "descriptor_file": file.removesuffix(_DATA) + ".vmdk" if file.endswith(_DATA) else None,
    }
    if cells["vm_file"] not in (".", ".."):
        yield Row(TABLE, values, block, record.line)


PARSER = record_parser(
    "vm_files",
    (TABLE,),
    read_record,
    node="esxi",
    files=(r"(?:^|/)(?:\d+\.)?ls_-isla-vmfsvolumes[^/]+\.txt$",),
    commands=(r"\bls\s+-isla\s+\"?(?P<vm_folder>/vmfs/volumes/[^/\s\"]+/[^\"]*[^\"\s/])/?\"?\s*$",),
    body=rf"^\s*(?:total \d+|\d+\s+\d+\s+{_MODE}\s.*|ls: .*)$",
)
