"""`esxcli storage core device vaai status get`: which primitives of VAAI each device supports."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vaai_status",
    "storage core device vaai status get",
    "esxi.vaai_status",
    "Hardware acceleration (VAAI) of storage devices: supported or unsupported.",
    Key(
        "|Device",
        "storage_device",
        "str",
        "storage device: naa.…, eui.…, t10.…, mpx.…",
        pattern=r"(?:naa|eui|t10|mpx|vml)\.\S+",
    ),
    Field("VAAI Plugin Name", "vaai_plugin", "str", "plugin of the array: VMW_VAAIP_…"),
    Field("ATS Status", "ats_status", "str", "atomic test and set"),
    Field("Clone Status", "clone_status", "str", "full copy"),
    Field("Zero Status", "zero_status", "str", "block zero"),
    Field("Delete Status", "delete_status", "str", "unmap"),
)
