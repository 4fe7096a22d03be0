"""`esxcli network ip interface list`: VMkernel adapters with switch, port group or port, MTU and TCP/IP stack."""

from analyzer.forms import Field, Key, get_blocks

_NONE = ("N/A", "n/a")

PARSER = get_blocks(
    "ip_interface",
    "network ip interface list",
    "esxi.vmk_port",
    "VMkernel adapters and the ports they are plugged into, one row an adapter.",
    Key("Name", "vmk", "str", "VMkernel adapter: vmk0"),
    Field("MAC Address", "mac", "str", "its MAC address"),
    Field("Enabled", "enabled", "bool", "the adapter is enabled"),
    Field(
        "Portset",
        "switch",
        "str",
        "portset (virtual switch) the port belongs to, as the vmkernel names it",
    ),
    Field(
        "Portgroup", "portgroup", "str", "name of the port group of a standard switch", none=_NONE
    ),
    Field(
        "Netstack Instance", "netstack", "str", "TCP/IP stack: defaultTcpipStack, vmotion, vxlan"
    ),
    Field("VDS Name", "dvs_name", "str", "distributed switch", none=_NONE),
    Field("VDS UUID", "dvs_uuid", "str", "UUID of the distributed switch", none=_NONE),
    Field("VDS Port", "dvport", "str", "port of the distributed switch", none=_NONE),
    Field("Opaque Network ID", "opaque_network", "str", "logical switch of NSX", none=_NONE),
    Field("MTU", "mtu", "int", "MTU", "bytes"),
    Field("TSO MSS", "tso_mss", "int", "largest segment handed to TSO", "bytes"),
    Field(
        "RXDispQueue Size", "rx_dispatch_queues", "int", "receive queues of the adapter", "queues"
    ),
    Field("Port ID", "port_id", "int", "PortNum of the port on its switch"),
    head=r"vmk\d+:?",
    sign="Netstack Instance|Portset",
)
