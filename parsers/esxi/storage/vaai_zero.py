"""`esxcli storage core device vaai zero list`: how much one write-same command may zero."""

from analyzer.forms import Field, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "vaai_zero",
    "storage core device vaai zero list",
    "esxi.vaai_zero",
    "Limits of block zero (VAAI) of storage devices.",
    DEVICE_CELL,
    Field(
        "Maximum Write Same Length (in blocks)",
        "zero_max_blocks",
        "int",
        "most blocks of one command",
        "blocks",
    ),
)
