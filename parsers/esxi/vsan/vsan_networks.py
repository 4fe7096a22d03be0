"""`esxcli vsan network list`: VMkernel adapters that carry vSAN, and their multicast groups."""

from analyzer.forms import Field, Key, get_blocks

PARSER = get_blocks(
    "vsan_networks",
    "vsan network list",
    "esxi.vsan_network",
    "VMkernel adapters of vSAN.",
    Key("VmkNic Name", "vmknic", "str", "VMkernel adapter"),
    Field("IP Protocol", "ip_protocol", "str", "IP, IPv4, IPv6"),
    Field(
        "Agent Group Multicast Address",
        "agent_group",
        "str",
        "multicast address of the agents; no use with unicast",
    ),
    Field(
        "Master Group Multicast Address", "master_group", "str", "multicast address of the masters"
    ),
    Field("Host Unicast Channel Bound Port", "unicast_port", "int", "UDP port of unicast: 12321"),
    Field("Multicast TTL", "multicast_ttl", "int", "routers a packet may pass"),
    Field("Traffic Type", "traffic_type", "str", "vsan, witness"),
    begins="VmkNic Name",
    head="Interface",
)
