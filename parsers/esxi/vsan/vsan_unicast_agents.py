"""`esxcli vsan cluster unicastagent list`: nodes this host knows of its vSAN cluster; an empty list parts the host."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "vsan_unicast_agents",
    "vsan cluster unicastagent list",
    "esxi.vsan_unicast_agent",
    "Other nodes of the vSAN cluster as this host has them, by unicast.",
    Key(
        "NodeUuid", "node_uuid", "str", "node of the vSAN cluster", pattern=r"[0-9a-f]+-[0-9a-f-]+"
    ),
    Field("IsWitness", "is_witness", "bool", "the witness of a stretched cluster"),
    Field("Supports Unicast", "supports_unicast", "bool", "it can be spoken to by unicast"),
    Field("IP Address", "ip_address", "str", "address", pattern=r"\S*[.:]\S*"),
    Field("Port", "agent_port", "int", "UDP port: 12321"),
    Field(
        "Iface Name",
        "vmknic",
        "str",
        "VMkernel adapter to use for it",
        pattern=r"vmk\d+",
        maybe=True,
    ),
    Field("Cert Thumbprint", pattern=r"[0-9A-F]{2}(?::[0-9A-F]{2})+", maybe=True),
    Field(
        "SubClusterUuid",
        "vsan_cluster_uuid",
        "str",
        "vSAN cluster",
        pattern=r"[0-9a-f]+-[0-9a-f-]+",
        maybe=True,
    ),
)
