"""`esxcli storage core device detached list`: devices an administrator has switched off for good."""

from analyzer.artefacts.signs import says_rows
from analyzer.forms import Field, Key, localcli_table

from ._scsi import NAME

PARSER = localcli_table(
    "detached_devices",
    "storage core device detached list",
    "esxi.detached_device",
    "Storage devices that were detached by hand; they stay off over a reboot.",
    Key(
        "Device UID",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=NAME,
    ),
    Field(
        "State",
        "device_status",
        "str",
        "state of the device as printed: off",
        pattern=r"\S+",
        sign=says_rows(2),
    ),
)
