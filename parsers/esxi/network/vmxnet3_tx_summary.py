"""vsish `vmxnet3/txSummary`: the transmit side of one VMXNET3 port, one row a counter.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/txSummary`. No published source lists its
keys, so they stay as printed.
"""

from analyzer.artefacts.signs import counts_loss, named_by
from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser
from analyzer.forms.blocks import vsish_body

from ._vsish import PORT, PORT_ID, SWITCH

TABLE = Table.of(
    "esxi.vmxnet3_tx_summary",
    "Transmit counters of a VMXNET3 port, one row a counter, since the port was connected.",
    "vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/txSummary",
    SWITCH.column,
    PORT_ID.column,
    Column("key", "str", "name of the counter as printed"),
    Column(
        "value",
        "int",
        "its value; empty where the text is no decimal number (registers)",
        sign=named_by("key", **{"# of times the ring is full": counts_loss()}),
    ),
    key=("switch", "port_id", "key"),
    counts_since="port",
)


PARSER = template_parser(
    "vmxnet3_tx_summary",
    TABLE,
    node="esxi",
    commands=(PORT + r"/vmxnet3/txSummary\b",),
    shape=r"^\s*stats of a vmxnet3 vNIC tx queue\s*\{?\s*$",
    body=vsish_body("stats of a vmxnet3 vNIC tx queue"),
)
