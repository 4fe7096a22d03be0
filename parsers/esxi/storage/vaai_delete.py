"""`esxcli storage core device vaai delete list`: how much one unmap command may free, and in which steps."""

from analyzer.forms import Field, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "vaai_delete",
    "storage core device vaai delete list",
    "esxi.vaai_delete",
    "Limits of unmap (VAAI) of storage devices.",
    DEVICE_CELL,
    Field("Max LBA Count", "unmap_max_blocks", "int", "most blocks of one command", "blocks"),
    Field(
        "Max Block Desc Count (in blocks)|Max Block Desc Count",
        "unmap_ranges_max",
        "int",
        "most ranges of one command",
    ),
    Field(
        "Optimal Granularity (in blocks)", "unmap_granularity_blocks", "int", "best step", "blocks"
    ),
    Field("UGA Valid", "unmap_alignment_valid", "bool", "the array states an alignment"),
    Field(
        "Granularity Alignment (in blocks)",
        "unmap_alignment_blocks",
        "int",
        "block that steps begin at",
        "blocks",
    ),
)
