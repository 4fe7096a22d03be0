"""`Get-VM` of PowerCLI: VMs with power state, vCPUs and memory, as the shell prints them by default.

Source: public captures of PowerCLI 5 to 13. The shell cuts a long name with `…` or three dots, which it was before no
one can tell; numbers stand at the left or at the right of their column, with the decimal sign of the desk's language.
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, Made, text_table


def finish_row(row: Row) -> None:
    """Read the size of memory as a number."""
    text = str(row.values["memory_text"] or "").replace(",", ".")
    row.values["vm_memory_gb"] = float(text) if text else None


PARSER = text_table(
    "powercli_vms",
    "vcenter.vm",
    Key(
        "Name",
        "vm_name",
        "str",
        "name of the virtual machine; one that ends in dots was cut by the shell",
    ),
    Field(
        "PowerState",
        "power_state",
        "str",
        "PoweredOn, PoweredOff or Suspended",
        pattern=r"Powered(?:On|Off)|Suspended",
    ),
    Field("Num CPUs|NumCpu", "vcpus", "int", "number of virtual CPUs", pattern=r"\d{1,4}"),
    Field(
        "MemoryGB",
        "memory_text",
        "str",
        "memory in GB as printed: 8.000 or 8,000",
        pattern=r"\d{1,6}(?:[.,]\d{1,3})?",
    ),
    Made("vm_memory_gb", "float", "memory of the VM", "GB"),
    meaning="VMs as PowerCLI lists them, one row a VM.",
    source="PowerCLI: Get-VM",
    ask="`Get-VM`",
    node="vcenter",
    commands=(r"(?i)^\s*Get-VM\b(?!.*\|\s*(?:Get|Set|Start|Stop|Remove|New|Move)-)",),
    shape=r"^\s*Name\s+PowerState\s+Num ?C(?:PUs|pu)\s+MemoryGB\s*$",
    finish=finish_row,
    body=r"\S.*\s(?:Powered(?:On|Off)|Suspended)\s+\d",
)
