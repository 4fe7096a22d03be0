"""`esxcli network sriovnic vf list -n NIC`: virtual functions of a NIC and the world that owns each."""

from analyzer.forms import Field, Key, Made, localcli_table

PARSER = localcli_table(
    "sriov_vfs",
    "network sriovnic vf list",
    "esxi.sriov_vf",
    "Virtual functions (SR-IOV) of a NIC.",
    Made("pnic", "str", "physical NIC as the host names it: vmnic0", key=True),
    Key("VF ID", "vf_number", "int", "number of the function, from 0"),
    Field("Active", "active", "bool", "a VM has it"),
    Key("PCI Address", "pci", "str", "PCI address", pattern=r"[\w:.]+"),
    Field(
        "Owner World ID",
        "vm_world_id",
        "int",
        "world that leads the VM: the id that `vm process kill` takes",
        none=("-",),
    ),
    commands=(r"\bnetwork\s+sriovnic\s+vf\s+list\b.*?\s(?:-n\s*|--nic-name[= ]\s*)(?P<pnic>\w+)",),
)
