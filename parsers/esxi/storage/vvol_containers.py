"""`esxcli storage vvol storagecontainer list`: datastores of virtual volumes and their space."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vvol_containers",
    "storage vvol storagecontainer list",
    "esxi.vvol_container",
    "Storage containers of virtual volumes.",
    Key("StorageContainer Name", "volume_name", "str", "name of the datastore or volume"),
    Field("UUID", "container_uuid", "str", "id of the container: vvol:…"),
    Field("Array", "array_id", "str", "array it lies on"),
    Field("Size(MB)", "size_mb", "int", "size", "MB"),
    Field("Free(MB)", "container_free_mb", "int", "what is free", "MB"),
    Field("Accessible", "accessible", "bool", "the host reaches it"),
    begins="StorageContainer Name",
    head=r"[\w.:-]+",
)
