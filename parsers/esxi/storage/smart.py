"""SMART of local disks: `smartinfo.txt` of a bundle, and `esxcli storage core device smart get -d DEVICE`.

For ATA disks value, threshold and worst are normalised, a value at or below its threshold is bad; the raw number comes
from 8.x on. NVMe prints the numbers themselves. A RAID controller hides its disks: then there is no row. A line with
the name of a disk alone, or behind a word, is the head of its table: `Device:  naa.…`, `naa.…` of a loop.
"""

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Column, KeyColumn, Row, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.smart",
    "SMART of local disks, one row a parameter.",
    "commands/smartinfo.txt; esxcli storage core device smart get -d <storage_device>",
    KeyColumn("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    KeyColumn(
        "smart_parameter", "str", "Health Status, Reallocated Sector Count, Drive Temperature, …"
    ),
    Column(
        "smart_text",
        "str",
        "the value as printed: OK, WARNING, IMPENDING FAILURE, a number",
        sign=says_bad("warning", "fail", "critical", "prefail", weight=4.5),
    ),
    Column("smart_value", "int", "the value where it is a number"),
    Column("smart_threshold", "int", "a normalised value at or below it is bad"),
    Column("smart_worst", "int", "worst normalised value so far"),
    Column("smart_raw", "int", "number behind the normalised value (8.x)"),
    ask="`esxcli storage core device smart get -d <storage_device>`",
)


def finish_row(row: Row) -> None:
    """Read a value that is a number."""
    text = str(row.values["smart_text"] or "")
    row.values["smart_value"] = int(text) if text.isdigit() else None


_VALUE = r"(?:-?\d+|N/A|OK|WARNING|IMPENDING FAILURE|UNKNOWN)"

PARSER = template_parser(
    "smart",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/smartinfo\.txt$",),
    commands=(
        r"\bstorage\s+core\s+device\s+smart\s+get\s+(?:-d|--device-name)[= ]?\s*(?P<storage_device>\S+)",
    ),
    shape=r"^\s*SMART Data for Disk : \S+\s*$|^\s*Parameter\s+Value\s+Threshold\s+Worst(?:\s+Raw)?\s*$",
    body=(
        r"^\s*(?:SMART Data for Disk : \S+|(?:[A-Za-z][\w ]*:\s*)?(?:naa|eui|t10|mpx|vml)\.\S+"
        rf"|Parameter\s+Value\s+Threshold.*|-[- ]+|[A-Z][A-Za-z /-]+?\s+{_VALUE}\s.*"
        r"|(?:SmartIsLocalSatpDevice )?Failed .*|Error getting .*)\s*$"
    ),
    finish=finish_row,
)
