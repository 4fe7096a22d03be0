"""`esxcli nvme controller list`: NVMe controllers of a host, 7.0 and later.

Source: an output of 7.0 that an administrator published.
"""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "nvme_controllers",
    "nvme controller list",
    "esxi.nvme_controller",
    "NVMe controllers of the host and the adapter that each one is.",
    Key(
        "Name",
        "nvme_controller",
        "str",
        "qualified name of the subsystem: nqn.2014-08.…",
        pattern=r"\S+",
    ),
    Field(
        "Controller Number",
        "nvme_controller_number",
        "int",
        "number of the controller on this host",
    ),
    Field("Adapter", "adapter", "str", "vmhba of the controller", pattern=r"\S+"),
    Field("Transport Type", "nvme_transport", "str", "PCIe, RDMA, FC, TCP", pattern=r"\S+"),
    Field("Is Online", "is_online", "bool", "the host reaches it"),
    Field("Is VVOL", "nvme_is_vvol", "bool", "it serves virtual volumes", maybe=True),
)
