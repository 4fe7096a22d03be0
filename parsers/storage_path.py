"""`esxcli storage core path list`: paths to storage devices, which adapter and target each takes, and its state.

A dead path has no device: plugin and transport details say so in words ("No associated device", "unavailable").
"""

from analyzer.forms import Field, Key, get_blocks

_NONE = ("No associated device", "(unclaimed)", "Unavailable or path is unclaimed", "Unavailable")

PARSER = get_blocks(
    "storage_path",
    "storage core path list",
    "esxi.storage_path",
    "Paths to storage devices, one row a path.",
    Key("UID", "path_uid", "str", "UID of the path: adapter, target and device"),
    Field("Runtime Name", "path_name", "str", "name of the path: vmhba2:C0:T0:L1; changes over a reboot"),
    Field("Device", "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…", none=_NONE),
    Field("Device Display Name", "display_name", "str", "name shown to the administrator", none=_NONE),
    Field("Adapter", "hba", "str", "disk adapter as the host names it: vmhba0"),
    Field("LUN", "lun", "int", "logical unit number"),
    Field("Plugin", "plugin", "str", "multipath plugin that owns it: NMP", none=_NONE),
    Field("State", "path_state", "str", "active, standby, dead, off, disabled, …"),
    Field("Transport", "transport", "str", "fc, iscsi, sas, sata, parallel, block, …"),
    Field("Adapter Identifier", "hba_uid", "str", "identifier of the adapter: WWNs, IQN"),
    Field("Target Identifier", "target_uid", "str", "identifier of the target: WWNs, IQN, address"),
    sign="Adapter Identifier|Adapter Transport Details",
)
