"""`esxcli hardware cpu list`: logical CPUs with model, speed and NUMA node."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "cpu_list",
    "hardware cpu list",
    "esxi.cpu",
    "Logical CPUs of the host, one row a CPU.",
    Key("Id", "cpu", "int", "number of the logical CPU"),
    Field("Package Id", "cpu_package", "int", "socket it belongs to"),
    Field("Family", "cpu_family", "int", "family of the processor"),
    Field("Model", "cpu_model", "int", "model of the processor within its family"),
    Field("Stepping", "cpu_stepping", "int", "stepping of the processor"),
    Field(
        "Brand", "cpu_brand", "str", "brand as the processor states it: GenuineIntel, AuthenticAMD"
    ),
    Field("Core Speed", "core_hz", "int", "speed of the core", "Hz"),
    Field("Bus Speed", "bus_hz", "int", "speed of the bus", "Hz"),
    Field("APIC ID", "apic_id", "str", "id of its interrupt controller"),
    Field("Node", "numa_node", "int", "NUMA node it belongs to"),
    head=r"CPU:\d+:?",
    shape=r"^\s*CPU:\d+:?\s*$",
)
