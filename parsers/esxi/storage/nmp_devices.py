"""`esxcli storage nmp device list`: how the native multipathing treats each storage device."""

from analyzer.forms import Field, get_blocks

from ._scsi import DEVICE

PARSER = get_blocks(
    "nmp_devices",
    "storage nmp device list",
    "esxi.nmp_device",
    "Storage devices of the native multipathing: array type, path selection, working paths.",
    DEVICE,
    Field("Device Display Name", "display_name", "str", "name shown to the administrator"),
    Field(
        "Storage Array Type",
        "satp",
        "str",
        "plugin for the array: VMW_SATP_ALUA, VMW_SATP_LOCAL, …",
    ),
    Field(
        "Storage Array Type Device Config",
        "satp_config",
        "str",
        "its settings for the device, as printed",
    ),
    Field("Path Selection Policy", "psp", "str", "VMW_PSP_RR, VMW_PSP_MRU, VMW_PSP_FIXED"),
    Field(
        "Path Selection Policy Device Config",
        "psp_config",
        "str",
        "its settings for the device, as printed",
    ),
    Field("Working Paths", "working_paths", "str", "paths in use, by commas: vmhba2:C0:T0:L1"),
    sign="Storage Array Type",
)
