"""`esxcli system module list`: modules of the vmkernel, loaded and enabled."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "module_list",
    "system module list",
    "esxi.module",
    "Modules of the vmkernel: drivers and others.",
    Key("Name", "module", "str", "name of the module: ixgben, vmfs3", pattern=r"\S+"),
    Field("Is Loaded", "loaded", "bool", "it is loaded"),
    Field("Is Enabled", "enabled", "bool", "it is loaded at the next boot"),
)
