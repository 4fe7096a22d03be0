"""`esxcli storage vvol vasaprovider list`: VASA providers of virtual volumes; without one no VM can start."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vvol_providers",
    "storage vvol vasaprovider list",
    "esxi.vvol_provider",
    "VASA providers the host has, and whether it reaches them.",
    Key("VP Name", "vasa_provider", "str", "name of the provider"),
    Field("URL", "vasa_url", "str", "its address"),
    Field("Status", "vasa_status", "str", "online, offline, syncError, …"),
    begins="VP Name",
    head=r"[\w.:-]+",
)
