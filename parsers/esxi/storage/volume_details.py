"""`vmkfstools -P -v 10`: a volume from within: version, mode, space, files and blocks that are left, its partitions.

Source: `commands/vmkfstools_-P--v-10-….txt` of a bundle (one for each datastore, bank and scratch) or the command; `-h`
prints sizes with units (`Capacity 119.8 GB, 93.1 GB available`, a public capture of 6.7).
"""

from analyzer.artefacts.tables import Column, KeyColumn, Row, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.volume_detail",
    "Volumes by their own metadata: space, files, blocks, partitions.",
    "vmkfstools -P -v 10 <path>; commands/vmkfstools_-P--v-10-….txt",
    Column("filesystem_version", "str", "VMFS-6.81, VMFS-5.61, vfat-0.04, NFS-1.00, …"),
    Column("span_count", "int", "partitions it lies on"),
    Column("volume_name", "str", "name of the datastore or volume"),
    Column("volume_mode", "str", "public, public ATS-only, private, …"),
    Column("total_bytes", "int", "size of the volume", "bytes"),
    Column("free_bytes", "int", "bytes that are free", "bytes"),
    Column("size_text", "str", "size as printed in units"),
    Column("free_text", "str", "free space as printed in units"),
    Column("files_max", "int", "most files", "files"),
    Column("files_free", "int", "files that can still be made", "files"),
    Column("ptr_blocks_max", "int", "most pointer blocks", "blocks"),
    Column(
        "ptr_blocks_free",
        "int",
        "pointer blocks that are free; without one no file can grow",
        "blocks",
    ),
    Column("sub_blocks_max", "int", "most sub-blocks", "blocks"),
    Column("sub_blocks_free", "int", "sub-blocks that are free", "blocks"),
    KeyColumn("volume_uuid", "str", "id of the volume"),
    Column("spanned", "str", "its partitions, by commas: naa.…:1"),
    Column("offline_remark", "str", "what the host says where a partition may be offline"),
    ask="`vmkfstools -P -v 10 /vmfs/volumes/<volume_name>`",
)

_UNIT = {
    "bytes": 0,
    "B": 0,
    "KB": 1,
    "MB": 2,
    "GB": 3,
    "TB": 4,
    "PB": 5,
}  # of 1,024, as the VMkernel counts


def finish_row(row: Row) -> None:
    """Read the sizes in bytes."""
    for text, column in (("size_text", "total_bytes"), ("free_text", "free_bytes")):
        number, _, unit = str(row.values[text] or "").partition(" ")
        if unit in _UNIT and row.values[column] is None and len(number) < 18:
            row.values[column] = int(float(number) * 1024 ** _UNIT[unit])


PARSER = template_parser(
    "volume_details",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/(?:\d+\.)?vmkfstools_-P--v-10-[^/]*\.txt$",),
    commands=(r"\bvmkfstools\s+(?:-v\s*\d+\s+)?-P[hv]?\b",),
    shape=r"^\s*[\w-]+-\d+\.\d+ (?:\(Raw Major Version: \d+\) )?file system spanning \d+ partitions\.\s*$",
    body=(
        r"^\s*(?:[\w-]+-\d+\.\d+ .*file system spanning .*|File system label.*|Mode: .*|Capacity \d.*"
        r"|[A-Z][A-Za-z ]+\((?:max|overcommit|total).*|[A-Z][A-Za-z ]{3,40}: .*|UUID: .*|Partitions spanned.*"
        r"|(?:naa|eui|t10|mpx)\.\S+:\d+|\(One or more .*|(?:notDCS|[A-Za-z]+:)\S*.*|[A-Z]{4,}: .*|\d+:VVOLLIB.*)\s*$"
    ),
    finish=finish_row,
)
