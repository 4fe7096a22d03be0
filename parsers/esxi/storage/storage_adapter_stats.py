"""`esxcli storage core adapter stats get`: commands of each disk adapter, those that failed among them."""

from analyzer.forms import Key, get_blocks

from ._scsi import COMMANDS

PARSER = get_blocks(
    "storage_adapter_stats",
    "storage core adapter stats get",
    "esxi.storage_adapter_stats",
    "Commands of disk adapters since the host booted, those that failed among them.",
    Key(
        "|Adapter|HBA Name",
        "hba",
        "str",
        "disk adapter as the host names it: vmhba0",
        pattern=r"vmhba\d+",
    ),
    *COMMANDS,
    counts_since="boot",
)
