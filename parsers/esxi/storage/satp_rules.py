"""`esxcli storage nmp satp rule list`: array type and path selection for each kind of array.

Most cells of a row are empty: without the widths of the line of dashes no one can tell which, and such rows are faults.
"""

from analyzer.forms import Field, localcli_table

PARSER = localcli_table(
    "satp_rules",
    "storage nmp satp rule list",
    "esxi.satp_rule",
    "Rules of the native multipathing: which plugin and path selection an array gets.",
    Field(
        "Name",
        "satp",
        "str",
        "plugin for the array: VMW_SATP_ALUA, VMW_SATP_LOCAL, …",
        pattern=r"\S+",
    ),
    Field(
        "Device",
        "storage_device",
        "str",
        "device the rule is for, where it is for one",
        pattern=r"\S+",
    ),
    Field("Vendor", "vendor_name", "str", "vendor as the device states it", pattern=r"\S+"),
    Field("Model", "model", "str", "model as the device states it", pattern=r"\S+"),
    Field("Driver", "driver", "str", "driver of the adapter", pattern=r"\S+"),
    Field("Transport", "transport", "str", "fc, iscsi, sas, usb, …", pattern=r"\S+"),
    Field("Options", "satp_options", "str", "options of the plugin", pattern=r"\S+"),
    Field(
        "Rule Group",
        "rule_group",
        "str",
        "system: came with ESXi; user: added on this host",
        pattern=r"system|user",
    ),
    Field(
        "Claim Options",
        "claim_options",
        "str",
        "what the array must state: tpgs_on, tpgs_off",
        pattern=r"\S+",
    ),
    Field(
        "Default PSP",
        "psp",
        "str",
        "path selection: VMW_PSP_RR, VMW_PSP_MRU, VMW_PSP_FIXED",
        pattern=r"\S+",
    ),
    Field(
        "PSP Options", "psp_options", "str", "options of the path selection: iops=1", pattern=r"\S+"
    ),
    Field("Description", "description", "str", "text of the rule"),
)
