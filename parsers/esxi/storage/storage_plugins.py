"""`esxcli storage core plugin registration list`: modules of the storage stack and what they need."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "storage_plugins",
    "storage core plugin registration list",
    "esxi.storage_plugin",
    "Storage plugins that are registered: multipathing, path selection, array types, VAAI.",
    Key(
        "Module Name",
        "module",
        "str",
        "module: vmw_satp_alua, mask_path_plugin, …",
        pattern=r"[\w.-]+",
    ),
    Field(
        "Plugin Name",
        "plugin",
        "str",
        "plugin: NMP, VMW_SATP_ALUA, MASK_PATH, …",
        pattern=r"[\w.-]+",
    ),
    Field("Plugin Class", "plugin_class", "str", "MP, SATP, PSP, VAAI, Filter", pattern=r"[\w.-]+"),
    Field("Dependencies", "dependencies", "str", "modules it needs", pattern=r"[\w,]+", maybe=True),
    Field(
        "Full Path",
        "module_path",
        "str",
        "file of the module, where it is not the usual one",
        pattern=r"/?\S+",
        maybe=True,
    ),
)
