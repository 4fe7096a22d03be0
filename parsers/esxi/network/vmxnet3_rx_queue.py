"""vsish `rxqueues/<n>/status`: ring sizes of one receive queue of a VMXNET3 port.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/<n>/status`. Sizes are
descriptors, one ring each queue: the value to trust, as `ethtool -g` of old Linux drivers
prints the sum over the queues.
"""

from analyzer.artefacts.signs import lies_above
from analyzer.forms import Field, vsish_block

from ._vsish import PORT_ID, QUEUE, SWITCH

PARSER = vsish_block(
    "vmxnet3_rx_queue",
    "/net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/<n>/status",
    "status of a vmxnet3 vNIC rx queue",
    "esxi.vmxnet3_rx_queue",
    "State and ring sizes of one receive queue of a VMXNET3 port.",
    SWITCH,
    PORT_ID,
    QUEUE,
    Field("intr index", "intr_index", "int", "interrupt the queue uses"),
    Field("stopped", "stopped", "bool", "the guest has stopped the queue"),
    Field(
        "error code",
        "error_code",
        "int",
        "error that stopped the queue, 0 = none",
        sign=lies_above(0),
    ),
    Field("ring #1 size", "ring1_size", "int", "size of the 1st receive ring", "descriptors"),
    Field("ring #2 size", "ring2_size", "int", "size of the 2nd receive ring", "descriptors"),
)
