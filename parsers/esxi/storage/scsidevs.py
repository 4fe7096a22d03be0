"""`esxcfg-scsidevs -l`: storage devices with type, size, plugin, model and state.

Source: `commands/esxcfg-scsidevs_-l.txt` or the command. Several keys share a line; copies from a blog lose the
indents, so that only the form of its name tells where a device begins.
"""

from analyzer.forms import template_parser

from ._scsi import DEVICES

PARSER = template_parser(
    "scsidevs",
    DEVICES,
    node="esxi",
    files=(r"(?:^|/)commands/esxcfg-scsidevs_-l\.txt$",),
    commands=(r"\b(?:esxcfg|vicfg)-scsidevs\s+(?:-l|--list)\b",),
    shape=r"^\s*Console Device:\s*/\S+\s*$",
    lead=r"^\s*(?:(?:naa|eui|t10|mpx)\.\S+|(?:Device Type|Size|Display Name|Multipath Plugin):.*)\s*$",
    body=r"^\s*(?:(?:naa|eui|t10|mpx|vml)\.\S+|[A-Z][A-Za-z ]{2,20}:.*)\s*$",
)
