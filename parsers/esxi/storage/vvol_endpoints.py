"""`esxcli storage vvol protocolendpoint list`: devices and NFS shares that the I/O of virtual volumes goes through."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vvol_endpoints",
    "storage vvol protocolendpoint list",
    "esxi.vvol_endpoint",
    "Protocol endpoints of virtual volumes.",
    Key("Host Id", "endpoint_id", "str", "device or share as the host names it: naa.…"),
    Field("Array Id", "array_id", "str", "array it belongs to"),
    Field("Type", "endpoint_type", "str", "SCSI, NFS, NFS4x"),
    Field("Accessible", "accessible", "bool", "the host reaches it"),
    Field("Configured", "configured", "bool", "it is in use"),
    Field("Lun Id", "endpoint_lun", "str", "LUN as the array names it"),
    Field("Remote Host", "nfs_server", "str", "server: name or address"),
    Field("Remote Share", "nfs_share", "str", "exported path"),
    Field("Storage Containers", "containers", "str", "containers it serves, by commas"),
    begins="Host Id",
    head=r"[\w.:-]+",
)
