"""`esxcli storage nmp path list`: how the native multipathing sees each path: group state, TPG, preferred or not."""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "nmp_paths",
    "storage nmp path list",
    "esxi.nmp_path",
    "Paths of the native multipathing: state of their group, array's settings, which is in use.",
    Field("", "path_uid", "str", "UID of the path: adapter, target and device"),
    Key(
        "Runtime Name",
        "path_name",
        "str",
        "name of the path: vmhba2:C0:T0:L1; changes over a reboot",
    ),
    Field(
        "Device",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        none=("No associated device",),
    ),
    Field("Device Display Name", "display_name", "str", "name shown to the administrator"),
    Field(
        "Group State",
        "group_state",
        "str",
        "active, active unoptimized, standby, dead, …",
        sign=says_good("active", "active unoptimized", "standby", "unavailable"),
    ),
    Field("Array Priority", "array_priority", "int", "order the array gives the path"),
    Field(
        "Storage Array Type Path Config",
        "satp_path_config",
        "str",
        "TPG and its state, as printed: TPG_state=AO, ANO",
    ),
    Field(
        "Path Selection Policy Path Config",
        "psp_path_config",
        "str",
        "in use or preferred, as printed",
    ),
    sign="Group State",
)
