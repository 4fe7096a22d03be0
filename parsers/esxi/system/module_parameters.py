"""`esxcli system module parameters list -m MODULE`: parameters of a driver and what is set."""

from dataclasses import replace

from analyzer.forms import Field, Key, Made, localcli_table

_LIST = localcli_table(
    "module_parameters",
    "system module parameters list",
    "esxi.module_parameter",
    "Parameters of a module of the vmkernel; one without a value has its default.",
    Made("module", "str", "name of the module: ixgben, vmfs3", key=True),
    Key(
        "Name",
        "module_parameter",
        "str",
        "name of the parameter: RSS, NumQueues",
        pattern=r"[\w.-]+",
    ),
    Field(
        "Type",
        "parameter_type",
        "str",
        "int, array of int, uint, string, bool",
        pattern=r"(?:array of )?(?:u?(?:int|short|long|byte)|bool|string|char)\w*",
    ),
    Field("Value", "parameter_text", "str", "what is set", pattern=r"\S+", maybe=True),
    Field("Description", "parameter_meaning", "str", "what it does"),
    commands=(
        r"\bsystem\s+module\s+parameters\s+list\b.*?\s(?:-m\s*|--module[= ]\s*)(?P<module>[\w.-]+)",
    ),
)
# `system settings kernel list` begins with the same two labels
PARSER = replace(_LIST, shape=r"^\s*Name\s+Type\s+Value\s+Description\s*$")
