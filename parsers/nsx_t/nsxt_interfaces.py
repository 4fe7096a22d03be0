"""`get interfaces` and `get interface NAME` on a node of NSX-T: interfaces of its management with their counters.

Source: the NSX CLI guide (3.2 and 4.1). Since 4.1 the addresses are below a heading of their family; of several the
last IPv4 address is kept.
"""

from analyzer.forms import Field, Key
from analyzer.forms.blocks import key_value

from ..common._nsxt import DATED, name_refusals

PARSER = key_value(
    "nsxt_interfaces",
    "nsxt.interface",
    Key("Interface", "interface", "str", "name of the interface: eth0, lo", pattern=r"\S+"),
    Field("Address", "address", "str", "address and length of the netmask; none where it has none"),
    Field("MAC address", "mac", "str", "MAC address"),
    Field("MTU", "mtu", "int", "MTU", "bytes"),
    Field("Default gateway", "gateway_ip", "str", "gateway of that network"),
    Field("Link status", "link_status", "str", "up, down, as printed"),
    Field("Admin status", "admin_status", "str", "up, down, as printed"),
    Field("RX packets", "rx_packets", "int", "packets received", "packets"),
    Field("RX bytes", "rx_bytes", "int", "bytes received", "bytes"),
    Field("RX errors", "rx_errors", "int", "all errors of receiving", "times"),
    Field("RX dropped", "rx_dropped", "int", "frames received and dropped", "packets"),
    Field("TX packets", "tx_packets", "int", "packets sent", "packets"),
    Field("TX bytes", "tx_bytes", "int", "bytes sent", "bytes"),
    Field("TX errors", "tx_errors", "int", "all errors of sending", "times"),
    Field("TX dropped", "tx_dropped", "int", "frames dropped on the way out", "packets"),
    meaning="Network interfaces of a node of NSX-T, those of its operating system.",
    source="get interfaces; get interface <name>",
    ask="`get interfaces` on the node",
    node="",
    commands=(r"^\s*get interfaces?(?: [\w./-]+)?\s*$",),
    shape=r"^\s*Interface:\s+(?:eth|lo|bond|fp-|kni|mgmt)[\w./-]*\s*$",
    begins="Interface",
    ignored=rf"(?!{DATED})(?:-\s+)?[A-Z][^:=]{{0,70}}",
    answers=name_refusals,
    counts_since="boot",
    gauges=("mtu",),
)
