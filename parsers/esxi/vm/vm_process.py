"""`esxcli vm process list`: running VMs with their world and group, which join them to esxtop and to logs."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vm_process",
    "vm process list",
    "esxi.vm_process",
    "VMs that run on the host, one row a VM.",
    Key(
        "World ID",
        "vm_world_id",
        "int",
        "world that leads the VM: the id that `vm process kill` takes",
    ),
    Field("Process ID", "vm_process_id", "int", "process; 0 since 4.0"),
    Field("VMX Cartel ID", "cartel_id", "int", "cartel (process group) of the VM's vmx world"),
    Field("UUID", "bios_uuid", "str", "UUID of the VM's BIOS"),
    Field("Display Name", "vm_name", "str", "name of the VM"),
    Field("Config File", "vmx_path", "str", "path of the VM's .vmx file"),
    begins="World ID",
    titled=r"\S.{0,120}",
    shape=r"^\s*World ID: \d+\s*$",
    lead=r"^\S.{0,120}$",
)
