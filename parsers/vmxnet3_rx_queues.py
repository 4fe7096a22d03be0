"""vsish listing of `vmxnet3/rxqueues/`: how many receive queues the guest uses.

Source: `vsish -e ls /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/`, one child a line,
branches end in a slash. A Windows guest shows one queue while RSS is off in its driver.
"""

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Table

from ._vsish import PORT, PORT_ID, QUEUE, SWITCH

TABLE = Table(
    name="esxi.vmxnet3_rx_queues",
    meaning="Receive queues a VMXNET3 port has, one row a queue.",
    source="vsish -e ls /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/",
    ask="`vsish -e ls /net/portsets/<switch>/ports/<port>/vmxnet3/rxqueues/`",
    key=("switch", "port_id", "queue"),
    columns=(SWITCH, PORT_ID, QUEUE),
)


def parse(block: Block) -> Output:
    """Read the listing: one row a queue; switch and port come from the vsish path."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="vmxnet3_rx_queues",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(PORT.replace("get|cat", "ls") + r"/vmxnet3/rxqueues/?(?=\s|$|[\"';|&>])",),
    body=r"^\s*(?:\d{1,3}/?|VSISH\w*\(\):.*)\s*$",
)
