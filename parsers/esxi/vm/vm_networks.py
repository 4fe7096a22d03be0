"""`esxcli network vm list`: running VMs by world, with their networks."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "vm_networks",
    "network vm list",
    "esxi.vm_networks",
    "Running VMs and the networks they are connected to.",
    Key(
        "World ID",
        "vm_world_id",
        "int",
        "world that leads the VM: the id that `vm process kill` takes",
    ),
    Field("Name", "vm_name", "str", "name of the virtual machine"),
    Field("Num Ports", "n_ports", "int", "ports the VM has on switches", pattern=r"\d+"),
    Field("Networks", "vm_networks", "str", "their port groups, by commas", maybe=True),
)
