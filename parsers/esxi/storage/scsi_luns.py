"""`vim-cmd hostsvc/summary/scsilun`: storage devices as the host's agent lists them, with their adapter.

Source: outputs of 4.x and 5.x that an administrator published; copies have lost the columns, so that vendor and model
are in one cell.
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, text_table


def finish_row(row: Row) -> None:
    """Leave one blank between vendor and model, however wide their columns were."""
    row.values["display_name"] = " ".join(str(row.values["display_name"]).split())


PARSER = text_table(
    "scsi_luns",
    "esxi.scsi_lun",
    Key(
        "Device",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=r"[a-z][\w]*\.\S+",
    ),
    Field("Type", "lun_type", "str", "disk, cdrom, …", pattern=r"[a-z]+"),
    Field("Vendor Model", "display_name", "str", "vendor and model as printed", pattern=r"\S.*?"),
    Field(
        "UUID",
        "lun_uuid",
        "str",
        "identifier of the device for the agent",
        pattern=r"[0-9a-f]{12,}",
    ),
    Field("Hba", "hba", "str", "disk adapter as the host names it: vmhba0", pattern=r"vmhba\d+"),
    meaning="Storage devices as the agent of the host lists them.",
    source="vim-cmd hostsvc/summary/scsilun",
    node="esxi",
    commands=(r"\bvim-cmd\s+/?hostsvc/summary/scsilun\b",),
    shape=r"^\s*Device\s+Type\s+Vendor\s+Model\s+UUID\s+Hba\s*$",
    heading=r"Device\s+Type\s+Vendor\s.*",
    finish=finish_row,
    body=r"[a-z]\w*\.\S+\s+[a-z]+\s",
)
