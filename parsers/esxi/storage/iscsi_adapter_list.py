"""`esxcli iscsi adapter list`: iSCSI adapters, their driver and state, as a table."""

from analyzer.forms import Field, localcli_table

from .iscsi_adapters import PARSER as ADAPTERS

PARSER = localcli_table(
    "iscsi_adapter_list",
    "iscsi adapter list",
    ADAPTERS.tables[0],
    "",
    Field("Adapter", "hba", pattern=r"vmhba\d+"),
    Field("Driver", "driver", pattern=r"\S+"),
    Field("State", "adapter_state", pattern=r"\S+"),
    Field("UID", "hba_uid", pattern=r"\S+"),
    Field("Description", "description"),
)
