"""`esxcli storage iofilter list`: I/O filters of the host (VAIO): replication, cache, encryption."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "iofilters",
    "storage iofilter list",
    "esxi.iofilter",
    "I/O filters that sit between VMs and their disks.",
    Key("Name", "iofilter", "str", "name of the filter"),
    Field("Vendor", "vendor_name", "str", "who made it"),
    Field("Version", "iofilter_version", "str", "its version"),
    Field("Description", "description", "str", "what it does"),
    Field("ID", "iofilter_id", "str", "its long name with version"),
    Field("LocalID", "iofilter_local_id", "str", "its name on this host"),
    Field("Class", "iofilter_class", "str", "replication, cache, encryption, …"),
    Field("Release Date", "release_date", "str", "day it was released"),
    Field("Enabled", "enabled", "bool", "it is on"),
    begins="Name",
    head=r"[\w.:-]+",
)
