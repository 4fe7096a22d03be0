"""`esxcli storage core device list --pe-only`: protocol endpoints of virtual volumes.

Labels are those of the list of all devices, which holds these as well: a table of their own keeps them from counting
twice. The array of a virtual volume is reached through them.
"""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key, get_blocks

from ._scsi import NAME

PARSER = get_blocks(
    "protocol_endpoints",
    "storage core device list --pe-only",
    "esxi.protocol_endpoint",
    "Protocol endpoints of virtual volumes: state, plugin, array.",
    Key(
        "|Device",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=NAME,
    ),
    Field("Display Name", "display_name", "str", "name that the client shows"),
    Field("Multipath Plugin", "plugin", "str", "multipathing plugin that owns it: NMP, HPP"),
    Field("Vendor", "vendor_name", "str", "vendor as the device says"),
    Field("Model", "model", "str", "model as the device says"),
    Field("Revision", "revision", "str", "firmware revision as the device says"),
    Field(
        "Status",
        "device_status",
        "str",
        "on, off, dead, degraded, dead timeout, …",
        sign=says_good("on"),
    ),
    Field("Is Local", "is_local", "bool", "not on a network"),
    Field("Is Offline", "is_offline", "bool", "the device is offline"),
    Field("Is VVOL PE", "is_endpoint", "bool", "it is a protocol endpoint"),
    Field("Other UIDs", "other_names", "str", "its other identities"),
    Field(
        "Device Max Queue Depth",
        "queue_depth",
        "int",
        "most commands the device takes at once",
        "commands",
    ),
)
