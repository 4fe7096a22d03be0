"""Guest `dmesg | grep eth`: which adapter model and link the guest's kernel saw.

Source: messages of the Linux kernel and its drivers (vmxnet3, e1000, e1000e, pcnet32), in the forms
`driver 0000:03:00.0 eth0: text`, `driver 0000:03:00.0: eth0: text`, `driver: eth0 text` and
`eth0: text`. The wording differs between kernels; other messages that `grep` caught are
passed over. A guest with `pcnet32` runs the Flexible (vlance) adapter.
"""

from analyzer.artefacts.tables import MAC_FORM, Column, Table
from analyzer.forms import template_parser

from ._guest import INTERFACE

TABLE = Table.of(
    "guest.nic_boot",
    "Messages of a Linux guest's kernel about its network interfaces, one row a line.",
    "dmesg | grep eth, in the guest",
    Column("uptime_s", "float", "seconds since the guest's boot, where printed", "s"),
    Column("driver", "str", "driver that speaks: vmxnet3, e1000, e1000e, pcnet32"),
    Column("bus_info", "str", "PCI address of the adapter in the guest"),
    INTERFACE,
    Column("link", "str", "Up or Down, on a message about the link"),
    Column("link_mbps", "int", "link speed shown; 10,000 on VMXNET3 is no cap", "Mbit/s"),
    Column("mac", "str", "MAC address, on a message that shows it", form=MAC_FORM),
    Column("renamed_from", "str", "old name of the interface, on a message about a new name"),
    Column("message", "str", "text after the name of the interface"),
    ask="`dmesg | grep -i eth` in the guest",
)


_STAMP = r"(?:\[\s*\d+\.\d+\]\s+)"
_PCI = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d"

PARSER = template_parser(
    "nic_boot",
    TABLE,
    node="guest",
    commands=(r"\bdmesg\b.*\|\s*e?grep\b.*(?:eth|ens|vmxnet|e1000|pcnet|NIC)",),
    shape=rf"^{_STAMP}?(?:vmxnet3|e1000e?|pcnet32)\s+{_PCI}:?\s+[a-z]\w+:? ",
    body=rf"^(?:{_STAMP}.*|(?:vmxnet3|e1000e?|pcnet32)[: ].*|(?:eth|ens)\d+\w*: .*)$",
)
