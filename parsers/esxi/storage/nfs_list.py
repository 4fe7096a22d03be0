"""`esxcli storage nfs list`: NFS 3 datastores, and whether the host reaches them."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, Key, localcli_table
from analyzer.forms.columns import bundle_files

PARSER = localcli_table(
    "nfs_list",
    "storage nfs list",
    "esxi.nfs_datastore",
    "NFS 3 datastores of the host.",
    Key("Volume Name", "volume_name", "str", "name of the datastore or volume"),
    Field("Host", "nfs_server", "str", "server: name or address", pattern=r"\S+"),
    Field("Share", "nfs_share", "str", "exported path", pattern=r"/\S*"),
    Field(
        "Accessible",
        "accessible",
        "bool",
        "the host reaches it",
        sign=says_bad("false", weight=4.5),
    ),
    Field("Mounted", "mounted", "bool", "it is mounted"),
    Field("Read-Only", "read_only", "bool", "mounted for reading only", maybe=True),
    Field(
        "isPE", "is_protocol_endpoint", "bool", "a protocol endpoint of virtual volumes", maybe=True
    ),
    Field(
        "Hardware Acceleration", "hardware_acceleration", "str", "Supported, Not Supported, Unknown"
    ),
    # protocol endpoints are a list of their own
    files=bundle_files("localcli storage nfs list --pe-only", twin=True),
)
