"""`esxcli storage san sas stats get`: counters of SAS links; they grow with a bad cable, backplane or disk."""

from analyzer.artefacts.signs import counts_loss
from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "sas_stats",
    "storage san sas stats get",
    "esxi.sas_stats",
    "Counters of SAS links.",
    Key("Device Name", "hba", "str", "disk adapter as the host names it: vmhba2"),
    Field("Invalid DWORD Count", "invalid_dwords", "int", "words that are none", "times"),
    Field(
        "Running Disparity Error Count",
        "disparity_errors",
        "int",
        "errors of the line code",
        "times",
    ),
    Field(
        "Loss of DWORD Sync Count", "sync_losses", "int", "times the link lost its step", "times"
    ),
    Field(
        "Phy Reset Problem Count",
        "phy_reset_problems",
        "int",
        "resets of a PHY that failed",
        "times",
        sign=counts_loss(),
    ),
    begins="Device Name",
    counts_since="boot",
)
