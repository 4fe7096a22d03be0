"""`esxcli storage core device vaai clone list`: limits of the array's own copy (XCOPY)."""

from analyzer.forms import Field, localcli_table

from ._scsi import DEVICE_CELL

PARSER = localcli_table(
    "vaai_clone",
    "storage core device vaai clone list",
    "esxi.vaai_clone",
    "Limits of full copy (VAAI) of storage devices.",
    DEVICE_CELL,
    Field(
        "Maximum Segment Length (in bytes)",
        "copy_segment_max_bytes",
        "int",
        "most bytes of a segment",
        "bytes",
    ),
    Field(
        "Maximum Segment Descriptor Count",
        "copy_segments_max",
        "int",
        "most segments of one command",
    ),
    Field(
        "Optimal Transfer Length Granularity (in blocks)",
        "copy_granularity_blocks",
        "int",
        "best step of a copy",
        "blocks",
    ),
)
