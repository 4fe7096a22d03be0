"""`esxcli storage core device vaai ats list`: how much an atomic test and set may compare."""

from analyzer.forms import Field, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "vaai_ats",
    "storage core device vaai ats list",
    "esxi.vaai_ats",
    "Limits of atomic test and set (VAAI) of storage devices.",
    DEVICE_CELL,
    Field(
        "Maximum Compare and Write Length (in blocks)",
        "ats_max_blocks",
        "int",
        "most blocks of one command",
        "blocks",
    ),
)
