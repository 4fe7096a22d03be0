"""vsish `clientStats`: counters of one switch port as its client sees them.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/clientStats`; a default vm-support
bundle does not hold it, engineers paste it. 20 fields in 4.x to 6.0, later also
`droppedTxExceedMTU`. Counters run since the port was connected. The spelling
`pksBilled` is the vmkernel's.
"""

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import PORT, PORT_ID, SWITCH, body

TABLE = Table(
    name="esxi.client_stats",
    meaning="Packets sent, received and dropped on a switch port, since the port was connected.",
    source="vsish -e get /net/portsets/<switch>/ports/<port>/clientStats",
    ask="`vsish -e get /net/portsets/<switch>/ports/<port>/clientStats`",
    key=("switch", "port_id"),
    columns=(
        SWITCH,
        PORT_ID,
        Column("pkts_tx_ok", "int", "frames the client sent (pktsTxOK)", "packets"),
        Column("bytes_tx_ok", "int", "bytes the client sent", "bytes"),
        Column("dropped_tx", "int", "frames from the client that were dropped", "packets"),
        Column("pkts_tso_tx_ok", "int", "frames sent with TSO", "packets"),
        Column("bytes_tso_tx_ok", "int", "bytes sent with TSO", "bytes"),
        Column("dropped_tso_tx", "int", "TSO frames dropped", "packets"),
        Column("pkts_sw_tso_tx", "int", "frames cut by software TSO on the way out", "packets"),
        Column("dropped_sw_tso_tx", "int", "frames dropped in software TSO on the way out", "packets"),
        Column("pkts_zerocopy_tx_ok", "int", "frames sent without a copy", "packets"),
        Column("dropped_tx_exceed_mtu", "int", "frames dropped for being larger than the MTU", "packets"),
        Column("pkts_rx_ok", "int", "frames handed to the client", "packets"),
        Column("bytes_rx_ok", "int", "bytes handed to the client", "bytes"),
        Column("dropped_rx", "int", "frames for the client that were dropped", "packets"),
        Column("pkts_sw_tso_rx", "int", "frames cut by software TSO on the way in", "packets"),
        Column("dropped_sw_tso_rx", "int", "frames dropped in software TSO on the way in", "packets"),
        Column("actions", "int", "actions posted by the client", "times"),
        Column("uplink_rx_pkts", "int", "frames that came from an uplink", "packets"),
        Column("cloned_rx_pkts", "int", "frames received as clones", "packets"),
        Column("pks_billed", "int", "frames billed (pksBilled)", "packets"),
        Column("dropped_rx_page_absent", "int", "frames dropped as a page was absent (receive)", "packets"),
        Column("dropped_tx_page_absent", "int", "frames dropped as a page was absent (send)", "packets"),
    ),
)


def parse(block: Block) -> Output:
    """Read one dump into one row; switch and port come from the command's vsish path."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="client_stats",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(PORT + r"/clientStats\b",),
    shape=r"^\s*port client stats\s*\{?\s*$",
    body=body("port client stats"),
)
