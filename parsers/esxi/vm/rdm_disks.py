"""`vmkfstools -q`: virtual disks that stand for a whole device (raw device mapping), and which device.

Source: `dump-vmdk-rdm-info.sh…txt` of a bundle, one for each VM, or the command. A disk that is none says so.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.rdm_disk",
    "Raw device mappings of VMs.",
    "vmkfstools -q <disk>.vmdk; dump-vmdk-rdm-info.sh….txt",
    Column("vdisk_file", "str", "descriptor of the virtual disk"),
    Column(
        "rdm_mode", "str", "Passthrough: physical mode, no snapshots; Non-passthrough: virtual mode"
    ),
    Column(
        "vml_name", "str", "device by its vml name, as `other_names` of esxi.scsi_device holds it"
    ),
    ask="`vmkfstools -q <disk>.vmdk`",
)

_DISK = r"Disk \S.*? is (?:a (?:Non-p|P)assthrough Raw Device Mapping|not an? \S.*)"

PARSER = template_parser(
    "rdm_disks",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)(?:\d+\.)?dump-vmdk-rdm-info\.sh[^/]*\.txt$",),
    commands=(r"\bvmkfstools\s+(?:-q|--queryrdm)\b", r"\bdump-vmdk-rdm-info\.sh\s"),
    shape=rf"^\s*{_DISK}\s*$",
    body=rf"^\s*(?:{_DISK}|Maps to: vml\.\S+|# vmkfstools -q .*|Failed to .*|DiskLib_.*)\s*$",
)
