"""vsish `vmxnet3/txSummary`: the transmit side of one VMXNET3 port, one row a counter.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/txSummary`. No published source lists its
keys, so they stay as printed.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import PORT, PORT_ID, SWITCH, body

TABLE = Table(
    name="esxi.vmxnet3_tx_summary",
    meaning="Transmit counters of a VMXNET3 port, one row a counter, since the port was connected.",
    source="vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/txSummary",
    ask="`vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/txSummary`",
    key=("switch", "port_id", "key"),
    columns=(
        SWITCH,
        PORT_ID,
        Column("key", "str", "name of the counter as printed"),
        Column("value", "int", "its value; empty where the text is no decimal number (registers)"),
    ),
)


def parse(block: Block) -> Output:
    """Read one dump: one row a counter; switch and port come from the command's vsish path."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="vmxnet3_tx_summary",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(PORT + r"/vmxnet3/txSummary\b",),
    shape=r"^\s*stats of a vmxnet3 vNIC tx queue\s*\{?\s*$",
    body=body("stats of a vmxnet3 vNIC tx queue"),
)
