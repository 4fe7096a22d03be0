"""Guest `ethtool -g`: ring sizes of a network interface, possible and set.

Source: ethtool's own output. Sizes are descriptors, never bytes. vmxnet3 drivers of the 1.1.x
line print the **sum over the queues** as the current size (512 = 2 queues of 256; after
`-G rx 4096` they print 8192); later drivers print the size of one queue. The host's
`rxqueues/N/status` is per queue and is the value to trust.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser

from ._guest import INTERFACE, ethtool_command

_SUM = "1.1.x vmxnet3 drivers print the sum over the queues"

TABLE = Table.of(
    "guest.ethtool_ring",
    "Ring sizes of a network interface in a Linux guest: the most possible, and what is set.",
    "ethtool -g <interface>, in the guest",
    INTERFACE,
    Column("rx_max", "int", "most descriptors of receive ring #1 of one queue", "descriptors"),
    Column("rx_mini_max", "int", "most descriptors of the receive data ring", "descriptors"),
    Column("rx_jumbo_max", "int", "most descriptors of receive ring #2", "descriptors"),
    Column("tx_max", "int", "most descriptors of the transmit ring", "descriptors"),
    Column("rx", "int", f"receive ring #1 as set; {_SUM}", "descriptors"),
    Column(
        "rx_mini", "int", "receive data ring as set; 0 where the driver has none", "descriptors"
    ),
    Column("rx_jumbo", "int", "receive ring #2 as set; old drivers print 0", "descriptors"),
    Column("tx", "int", f"transmit ring as set; {_SUM}", "descriptors"),
    ask="`ethtool -g eth0` in the guest, for each interface",
    key=("interface",),
)


PARSER = template_parser(
    "ethtool_ring",
    TABLE,
    node="guest",
    commands=(ethtool_command("-g", "--show-ring"),),
    shape=r"^\s*Ring parameters for (?!vmnic\d)[\w.@:-]+:\s*$",
    body=(
        r"^\s*(?:Ring parameters for .*|Pre-set maximums:|Current hardware settings:"
        r"|(?:RX|TX|CQE|TCP)[\w /-]{0,30}:\s*(?:\d+|n/a|on|off|enabled|disabled)?)\s*$"
    ),
)
