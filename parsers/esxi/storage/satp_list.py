"""`esxcli storage nmp satp list`: array type plugins, with the path selection each gives a device."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "satp_list",
    "storage nmp satp list",
    "esxi.satp",
    "Array type plugins of the native multipathing, and their default path selection.",
    Key(
        "Name",
        "satp",
        "str",
        "plugin for the array: VMW_SATP_ALUA, VMW_SATP_LOCAL, …",
        pattern=r"\S*SATP\S*",
    ),
    Field("Default PSP", "psp", "str", "VMW_PSP_RR, VMW_PSP_MRU, VMW_PSP_FIXED", pattern=r"\S+"),
    Field(
        "Description",
        "satp_meaning",
        "str",
        'what it is for; "(plugin not loaded)" where no array needs it',
    ),
)
