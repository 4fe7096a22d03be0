"""vsish `rxqueues/<n>/status`: ring sizes of one receive queue of a VMXNET3 port.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/<n>/status`. Sizes are
descriptors, one ring each queue: the value to trust, as `ethtool -g` of old Linux drivers
prints the sum over the queues.
"""

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import PORT, PORT_ID, QUEUE, SWITCH, body

TABLE = Table(
    name="esxi.vmxnet3_rx_queue",
    meaning="State and ring sizes of one receive queue of a VMXNET3 port.",
    source="vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/<n>/status",
    ask="`vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/<n>/status`",
    key=("switch", "port_id", "queue"),
    columns=(
        SWITCH,
        PORT_ID,
        QUEUE,
        Column("intr_index", "int", "interrupt the queue uses"),
        Column("stopped", "bool", "the guest has stopped the queue"),
        Column("error_code", "int", "error that stopped the queue, 0 = none"),
        Column("ring1_size", "int", "size of the 1st receive ring", "descriptors"),
        Column("ring2_size", "int", "size of the 2nd receive ring", "descriptors"),
    ),
)


def parse(block: Block) -> Output:
    """Read one status dump into one row; switch, port and queue come from the vsish path."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="vmxnet3_rx_queue",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(PORT + r"/vmxnet3/rxqueues/(?P<queue>\d+)/status\b",),
    shape=r"^\s*status of a vmxnet3 vNIC rx queue\s*\{?\s*$",
    body=body("status of a vmxnet3 vNIC rx queue"),
)
