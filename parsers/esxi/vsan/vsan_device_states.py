"""`vdq -q -H`: every disk as vSAN sees it: in use, eligible, or why not.

Source: `commands/vdq_-q--H.txt` of a bundle, or the command; `vdq -q` prints the same as a loose JSON.
"""

from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.vsan_device_state",
    "Disks of the host by their state for vSAN.",
    "vdq -q -H; commands/vdq_-q--H.txt",
    KeyColumn("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Column("vsan_uuid", "str", "id of the disk in vSAN"),
    Column(
        "vsan_disk_state",
        "str",
        "In-use for VSAN, Eligible for use by VSAN, Ineligible for use by VSAN",
        sign=says_good("in-use for vsan", "eligible for use by vsan", "ineligible for use by vsan"),
    ),
    Column("vsan_reason", "str", "why it is not eligible: Has partitions, …"),
    Column("is_ssd", "bool", "the device says that it has no disks that turn"),
    Column("is_capacity_flash", "bool", "a flash device marked for data"),
    Column("is_pdl", "bool", "permanent device loss"),
    Column("size_mb", "int", "size of the device", "MB"),
    Column("format_type", "str", "512n, 512e, 4Kn SWE, Unknown"),
    ask="`vdq -q -H`",
)

_NAMES = r"Name|VSANUUID|State|Reason|StoragePool\w+|Is[A-Z]\w+\??|Size\(MB\)|FormatType|SSD|MD|ChecksumSupport"
_LABEL = rf'"?(?:{_NAMES})"?\s*:.*'

PARSER = template_parser(
    "vsan_device_states",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/vdq_-q--H\.txt$",),
    commands=(r"\bvdq\s+-[a-zA-Z]*q",),
    shape=r"^\s*DiskResults:\s*$",
    body=rf"^\s*(?:DiskResults:|DiskResult\[\d+\]:?|DiskMapping\[\d+\]:?|Mappings:|{_LABEL}|[\[\]{{}}],?)\s*$",
)
