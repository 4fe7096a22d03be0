"""`esxcli storage nfs41 list`: NFS 4.1 datastores, their servers, security and whether the host reaches them."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "nfs41_list",
    "storage nfs41 list",
    "esxi.nfs41_datastore",
    "NFS 4.1 datastores of the host.",
    Key("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Field(
        "Host\x28s)", "nfs_server", "str", "server: names or addresses, by commas", pattern=r"\S+"
    ),  # as printed
    Field("Share", "nfs_share", "str", "exported path", pattern=r"/\S*"),
    Field(
        "Vmknics",
        "bound_vmknics",
        "str",
        "VMkernel adapters it is bound to (8.x)",
        pattern=r"(?:None|vmk\S+)",
        none=("None",),
        maybe=True,
    ),
    Field("Accessible", "accessible", "bool", "the host reaches it"),
    Field("Mounted", "mounted", "bool", "it is mounted"),
    Field("Connections", "nfs_connections", "int", "connections to the server (8.x)", maybe=True),
    Field("Read-Only", "read_only", "bool", "mounted for reading only"),
    Field("Security", "nfs_security", "str", "AUTH_SYS, SEC_KRB5, SEC_KRB5I", pattern=r"[A-Z]\w+"),
    Field(
        "isPE", "is_protocol_endpoint", "bool", "a protocol endpoint of virtual volumes", maybe=True
    ),
    Field(
        "Hardware Acceleration", "hardware_acceleration", "str", "Supported, Not Supported, Unknown"
    ),
)
