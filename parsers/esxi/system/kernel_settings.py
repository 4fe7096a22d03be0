"""`esxcli system settings kernel list`: boot options of the vmkernel; `-d` in a bundle lists the changed ones.

A configured value that differs from the running one waits for a boot. 5.x prints the description in the middle.
"""

from analyzer.artefacts.signs import differs_from
from analyzer.forms import Field, Key, localcli_table

_VALUE = r"\S+"

PARSER = localcli_table(
    "kernel_settings",
    "system settings kernel list",
    "esxi.kernel_setting",
    "Boot options of the vmkernel, one row an option.",
    Key(
        "Name",
        "kernel_setting",
        "str",
        "name of the option: iovDisableIR, vga",
        pattern=r"[a-z]\w*",
    ),
    Field("Type", "setting_type", "str", "Bool, String, Uint8, Uint32, …", pattern=r"\w+"),
    Field("Configured", "configured_value", "str", "what the next boot takes", pattern=_VALUE),
    Field(
        "Runtime",
        "runtime_value",
        "str",
        "what the host runs with",
        pattern=_VALUE,
        sign=differs_from("configured_value", weight=2),
    ),
    Field("Default", "default_setting", "str", "what it is without a change", pattern=_VALUE),
    Field("Description", "setting_meaning", "str", "what it does", maybe=True),
    row=r"(?:Name\s+Type\s+Description|\w+\s+(?:Bool|[Ss]tring|U?[Ii]nt\d*))\b",
    options="-d",
)
