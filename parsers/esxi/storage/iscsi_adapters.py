"""`esxcli storage san iscsi list`: software iSCSI adapters; `esxcli iscsi adapter list` prints the same as a table."""

from analyzer.forms import Field, get_blocks

from ._san import HBA

PARSER = get_blocks(
    "iscsi_adapters",
    "storage san iscsi list",
    "esxi.iscsi_adapter",
    "Software iSCSI adapters and their state.",
    HBA,
    Field("UID", "hba_uid", "str", "identifier of the adapter: IQN"),
    Field("Driver", "driver", "str", "driver in use"),
    Field("State", "adapter_state", "str", "online, unbound, …"),
    Field("Description", "description", "str", "model as the driver names it"),
    begins="Adapter",
    head=r"iScsi\w+",  # localcli prints the name of its structure
)
