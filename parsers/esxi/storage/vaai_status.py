"""`esxcli storage core device vaai status get`: which primitives of VAAI each device supports."""

from analyzer.forms import Field, get_blocks

from ._scsi import DEVICE

PARSER = get_blocks(
    "vaai_status",
    "storage core device vaai status get",
    "esxi.vaai_status",
    "Hardware acceleration (VAAI) of storage devices: supported or unsupported.",
    DEVICE,
    Field("VAAI Plugin Name", "vaai_plugin", "str", "plugin of the array: VMW_VAAIP_…"),
    Field("ATS Status", "ats_status", "str", "atomic test and set"),
    Field("Clone Status", "clone_status", "str", "full copy"),
    Field("Zero Status", "zero_status", "str", "block zero"),
    Field("Delete Status", "delete_status", "str", "unmap"),
    sign="ATS Status",
)
