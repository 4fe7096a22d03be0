"""`esxcli network vm port list -w WORLD`: ports of a running VM on its switches, with the uplink each takes."""

from analyzer.artefacts.tables import MAC_FORM
from analyzer.forms import Field, Key, Made, get_blocks

PARSER = get_blocks(
    "vm_ports",
    "network vm port list",
    "esxi.vm_port",
    "Ports of running VMs: switch, port group, address, uplink in use.",
    Made(
        "vm_world_id",
        "int",
        "world that leads the VM: the id that `vm process kill` takes",
        key=True,
    ),
    Key("Port ID", "port_id", "int", "PortNum of the port on its switch"),
    Field("vSwitch", "switch", "str", "virtual switch by the name the host gives it"),
    Field("Portgroup", "portgroup", "str", "name of the port group"),
    Field(
        "DVPort ID", "dvport", "str", "number of the distributed port, as in the VM's configuration"
    ),
    Field("MAC Address", "mac", "str", "MAC address of the client", form=MAC_FORM),
    Field("IP Address", "ip_address", "str", "address that the host has learnt", none=("0.0.0.0",)),
    Field("Team Uplink", "uplink", "str", "NIC its frames take: vmnic0, void, all(2)"),
    Field("Uplink Port ID", "uplink_port_id", "int", "PortNum of that NIC"),
    Field("Active Filters", "filters", "str", "filters on the port, by commas"),
    begins="Port ID",
    sign="Team Uplink|Uplink Port ID",
    ignored=r"[A-Za-z#][^:]{0,70}",
    commands=(
        r"\bnetwork\s+vm\s+port\s+list\b.*?\s(?:-w\s*|--world-id[= ]\s*)(?P<vm_world_id>\d+)",
    ),
)
