"""`esxcli storage nmp psp list`: plugins that choose the path of a storage device."""

from analyzer.artefacts.signs import NOTHING
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "psp_list",
    "storage nmp psp list",
    "esxi.psp",
    "Plugins of the native multipathing that choose the path of a device.",
    Key("Name", "psp", "str", "VMW_PSP_RR, VMW_PSP_MRU, VMW_PSP_FIXED", pattern=r"\S*PSP\S*"),
    Field(
        "Description",
        "psp_meaning",
        "str",
        "how it chooses, or that it is not loaded",
        sign=NOTHING,
    ),
    alone=r"VMW_PSP_\w+\s+[A-Z(]",
)
