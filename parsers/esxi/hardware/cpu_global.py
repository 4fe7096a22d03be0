"""`esxcli hardware cpu global get`: sockets, cores and threads of the host, and whether hyperthreading is in use."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, get_block

PARSER = get_block(
    "cpu_global",
    "hardware cpu global get",
    "esxi.cpu_global",
    "Processors of the host as a whole.",
    Field("CPU Packages", "cpu_packages", "int", "sockets", "sockets"),
    Field("CPU Cores", "cpu_cores", "int", "cores of all sockets", "cores"),
    Field("CPU Threads", "cpu_threads", "int", "threads of all cores: logical CPUs", "threads"),
    Field(
        "Hyperthreading Active",
        "hyperthreading_active",
        "bool",
        "hyperthreading is in use",
        sign=says_bad("false", weight=1.5),
    ),
    Field(
        "Hyperthreading Supported", "hyperthreading_supported", "bool", "the processors can do it"
    ),
    Field(
        "Hyperthreading Enabled",
        "hyperthreading_enabled",
        "bool",
        "the host would use it where the firmware does",
    ),
    Field("HV Support", "hv_support", "int", "hardware virtualization: 3 = available and enabled"),
    sign="Hyperthreading Active",
)
