"""`Get-VMHost` of PowerCLI: ESXi hosts with their connection to vCenter, load and version, as the shell prints them.

Source: public captures of PowerCLI 5 to 13. The shell cuts a long name with `…` or three dots; numbers have the decimal
sign of the desk's language; a host that does not answer has no version.
"""

from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, Made, text_table

_GB = r"\d{1,6}(?:[.,]\d{1,3})?"
_STATE = r"Connected|Disconnected|NotResponding|Maintenance"


def finish_row(row: Row) -> None:
    """Read the sizes of memory as numbers."""
    for made, printed in (
        ("memory_used_gb", "memory_used_text"),
        ("memory_total_gb", "memory_total_text"),
    ):
        text = str(row.values[printed] or "").replace(",", ".")
        row.values[made] = float(text) if text else None


PARSER = text_table(
    "powercli_hosts",
    "vcenter.host",
    Key(
        "Name",
        "vm_host",
        "str",
        "name or address of the ESXi host in vCenter; one that ends in dots was cut by the shell",
    ),
    Field(
        "ConnectionState",
        "connection_state",
        "str",
        "Connected, Disconnected, NotResponding, Maintenance",
        pattern=_STATE,
        sign=says_good("connected"),
    ),
    Field(
        "PowerState",
        "power_state",
        "str",
        "PoweredOn, PoweredOff, Standby or Unknown",
        pattern=r"PoweredOn|PoweredOff|Standby|StandBy|Unknown",
    ),
    Field("NumCpu", "cores", "int", "number of CPU cores", pattern=r"\d{1,4}"),
    Field("CpuUsageMhz", "cpu_used_mhz", "int", "CPU in use", "MHz", pattern=r"\d{1,7}"),
    Field("CpuTotalMhz", "cpu_total_mhz", "int", "CPU of the host", "MHz", pattern=r"\d{1,7}"),
    Field(
        "MemoryUsageGB",
        "memory_used_text",
        "str",
        "memory in use as printed: 17.792 or 17,792 GB",
        pattern=_GB,
    ),
    Field(
        "MemoryTotalGB", "memory_total_text", "str", "memory of the host as printed", pattern=_GB
    ),
    Field(
        "Version",
        "version",
        "version",
        "version of ESXi, none of a host that does not answer",
        pattern=r"\d\.\d\.\d",
        maybe=True,
    ),
    Made("memory_used_gb", "float", "memory in use", "GB"),
    Made("memory_total_gb", "float", "memory of the host", "GB"),
    meaning="ESXi hosts as PowerCLI lists them, one row a host.",
    source="PowerCLI: Get-VMHost",
    ask="`Get-VMHost`",
    node="vcenter",
    commands=(
        r"(?i)^\s*Get-VMHost\b(?!.*\|\s*(?:Get|Set|Start|Stop|Remove|New|Move|fl|Format-List|select|Select-Object)\b)",
    ),
    shape=r"^\s*Name\s+ConnectionState\s+PowerState\s+NumCpu\s+CpuUsageMhz\s+CpuTotalMhz\s+MemoryUsageGB\s+MemoryTotalGB\s+Version\s*$",
    finish=finish_row,
    body=rf"\S.*\s(?:{_STATE})\s+(?:Powered|Stand|Unknown)",
)
