"""`partedUtil getptbl`: partition table of each disk with its last sector; `partedUtil.sh.txt` holds all disks.

Source: the script of the bundle: "Device:  PATH", the table (`gpt`, cylinders heads sectors-per-track sectors, then
`number first last GUID name attribute`; with `msdos` a type by number), and the sectors that may be used.
"""

from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.disk_partition",
    "Partitions of disks by partedUtil.",
    "commands/partedUtil.sh.txt; partedUtil getptbl /vmfs/devices/disks/<storage_device>",
    KeyColumn("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
    Column("partition_table", "str", "gpt, msdos, unknown"),
    Column("disk_sectors", "int", "size of the disk", "sectors"),
    KeyColumn("partition", "int", "number of the partition"),
    Column("start_sector", "int", "its first sector", "sectors"),
    Column("end_sector", "int", "its last sector", "sectors"),
    Column(
        "partition_guid",
        "str",
        "what it is for, 32 hex digits; AA31E02A400F11DB9590000C2911D1B8: VMFS",
    ),
    Column(
        "partition_name", "str", "vmfs, vmfsl, vmkDiagnostic, systemPartition, linuxNative, vsan, …"
    ),
    Column("mbr_type", "int", "what it is for, where the table is msdos; 251: VMFS"),
    ask="`partedUtil getptbl /vmfs/devices/disks/<storage_device>`",
)

PARSER = template_parser(
    "disk_partitions",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/partedUtil\.sh\.txt$",),
    commands=(
        # the word it prints first is no more of the device's name
        r"\bpartedUtil\s+getptbl\s+\"?/(?:vmfs/devices|dev)/disks/"
        r"(?P<storage_device>[^\s\"]+?)(?=(?:gpt|msdos|unknown)$|[\s\"]|$)",
        r"\bpartedUtil\.sh\b(?!\.)",
    ),
    shape=r"^\s*Partition table and usable sector information for disks\s*$",
    body=(
        r"^\s*(?:Partition table and usable sector.*|Device:\s+/\S+|Partition table:|Usable sectors:|gpt|msdos|unknown"
        r"|\d+(?: \d+){1,4}|\d+ \S+ \S+ [0-9A-F]{32} \S+ \d+|Error: .*|Unable to .*|Unknown .*)\s*$"
    ),
)
