"""vsish listing of `vmxnet3/rxqueues/`: how many receive queues the guest uses.

Source: `vsish -e ls /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/`, one child a line,
branches end in a slash. A Windows guest shows one queue while RSS is off in its driver.
"""

from analyzer.artefacts.tables import Table
from analyzer.forms import template_parser

from ._vsish import PORT, PORT_ID, QUEUE, SWITCH

TABLE = Table.of(
    "esxi.vmxnet3_rx_queues",
    "Receive queues a VMXNET3 port has, one row a queue.",
    "vsish -e ls /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/",
    SWITCH.column,
    PORT_ID.column,
    QUEUE.column,
    key=("switch", "port_id", "queue"),
)


PARSER = template_parser(
    "vmxnet3_rx_queues",
    TABLE,
    node="esxi",
    commands=(PORT.replace("get|cat", "ls") + r"/vmxnet3/rxqueues/?(?=\s|$|[\"';|&>])",),
    body=r"^\s*(?:\d{1,3}/?|VSISH\w*\(\):.*)\s*$",
)
