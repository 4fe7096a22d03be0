"""`esxcli network nic pauseParams list`: flow control of the physical NICs, as set and as agreed with the switch.

Format: real outputs of ESXi 7.0 and 8.0 that administrators published.
"""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "nic_pause_params",
    "network nic pauseParams list",
    "esxi.nic_pause",
    "Flow control (pause frames) of the physical NICs.",
    Key("NIC", "pnic", "str", "NIC as the host names it", pattern=r"\S+"),
    Field("Pause Params Supported", "pause_supported", "bool", "the driver can set flow control"),
    Field("Pause RX", "pause_rx", "bool", "flow control towards the host is on"),
    Field("Pause TX", "pause_tx", "bool", "flow control from the host is on"),
    Field(
        "Auto Negotiation", "pause_negotiated", "bool", "flow control is negotiated with the switch"
    ),
    Field(
        "Auto Negotiation Resolution Avail",
        "pause_agreed",
        "bool",
        "the result of the negotiation is known",
    ),
    Field(
        "RX Auto Negotiation Resolution",
        "agreed_pause_rx",
        "bool",
        "negotiated: flow control towards the host",
    ),
    Field(
        "TX Auto Negotiation Resolution",
        "agreed_pause_tx",
        "bool",
        "negotiated: flow control from the host",
    ),
)
