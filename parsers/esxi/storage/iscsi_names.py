"""`vmkiscsi-tool -I -l`, `vicfg-iscsi --iscsiname --list`: by which name (IQN) an iSCSI adapter of the host speaks.

Source: outputs of 4.x and 5.0 that administrators published. Only the command names the adapter.
"""

from analyzer.forms import Field, Key, Param, key_value

from ._san import HBA

PARSER = key_value(
    "iscsi_names",
    "esxi.iscsi_name",
    Param((), HBA.name, HBA.kind, HBA.meaning),
    Key("iSCSI Node Name", "hba_uid", "str", "identifier of the adapter: IQN", pattern=r"\S+"),
    Field("iSCSI Node Alias", "iscsi_alias", "str", "alias of the adapter, where it has one"),
    meaning="Names of the iSCSI adapters of the host.",
    source="vmkiscsi-tool -I -l <adapter>; vicfg-iscsi --iscsiname --list <adapter>",
    ask="`esxcli iscsi adapter list`",
    node="esxi",
    commands=(
        r"\bvmkiscsi-tool\s+-I\s+(?:-l\s+)?(?P<hba>vmhba\d+)",
        r"\bvicfg-iscsi\s+(?:\S+\s+)*?(?:--iscsiname|-I)\s+(?:--list|-l)\s+(?P<hba>vmhba\d+)",
    ),
    shape=r"^\s*iSCSI Node Name\s*:\s*(?:iqn|eui|naa)\.",
    begins="iSCSI Node Name",
)
