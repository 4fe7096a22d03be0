"""`esxcfg-volume -l`: volumes the host takes for copies, as `esxcli storage vmfs snapshot list` names them."""

from analyzer.forms import template_parser

from .vmfs_snapshots import PARSER as COPIES

PARSER = template_parser(
    "volume_copies",
    COPIES.tables[0],
    node="esxi",
    commands=(r"\besxcfg-volume\s+(?:-l|--list)\b",),
    shape=r"^\s*(?:Scanning for VMFS-\d host activity.*|VMFS\d? UUID/label: [0-9a-f]{8}-\S+)",
    body=r"^\s*(?:VMFS\d? UUID/label:|Can [Mm]ount:|Can resignature:|Extent name:|Scanning for|Errors?\b|Unable).*$",
)
