"""`esxcfg-scsidevs -c`: storage devices, one line each.

The columns stand close ("Multipath PluginDisplay Name"); without widths the name of the device
tells where a row begins.
"""

from analyzer.forms import Field, text_table

from ._scsi import DEVICES, NAME

_TYPE = r"(?:Direct-Access|CD-ROM|Sequential-Access|Enclosure Svc Dev|Unknown|[A-Z][\w-]*)"

PARSER = text_table(
    "scsidevs_compact",
    DEVICES,
    Field("Device UID", "storage_device", pattern=NAME),
    Field("Device Type", "device_type", pattern=_TYPE),
    Field("Console Device", "", pattern=r"/\S+"),
    Field("Size", "size_mb", pattern=r"\d+", behind="MB"),
    Field("Multipath Plugin", "plugin", pattern=r"\S+"),
    Field("Display Name", "display_name"),
    node="esxi",
    commands=(r"\b(?:esxcfg|vicfg)-scsidevs\s+(?:-h\s+\S+\s+)?(?:-c|--compact-list)\b",),
    heading=r"\w+ UID\s.*",
    shape=rf"^\s*(?:Device UID\s+Device Type\s+Console Device\s|{NAME}\s+{_TYPE}\s+/\S+\s+\d+MB\s+\S+\s)",
    body=NAME + r"\s",
)
