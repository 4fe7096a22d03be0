"""vsish `clientStats`: counters of one switch port as its client sees them.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/clientStats`; a default vm-support
bundle does not hold it, engineers paste it. 20 fields in 4.x to 6.0, later also
`droppedTxExceedMTU`. Counters run since the port was connected. The spelling
`pksBilled` is the vmkernel's.
"""

from analyzer.forms import Field, vsish_block

from ._vsish import PORT_ID, SWITCH

PARSER = vsish_block(
    "client_stats",
    "/net/portsets/<switch>/ports/<port>/clientStats",
    "port client stats",
    "esxi.client_stats",
    "Packets sent, received and dropped on a switch port, since the port was connected.",
    SWITCH,
    PORT_ID,
    Field("pktsTxOK", "pkts_tx_ok", "int", "frames the client sent (pktsTxOK)", "packets"),
    Field("bytesTxOK", "bytes_tx_ok", "int", "bytes the client sent", "bytes"),
    Field("droppedTx", "dropped_tx", "int", "frames from the client that were dropped", "packets"),
    Field("pktsTsoTxOK", "pkts_tso_tx_ok", "int", "frames sent with TSO", "packets"),
    Field("bytesTsoTxOK", "bytes_tso_tx_ok", "int", "bytes sent with TSO", "bytes"),
    Field("droppedTsoTx", "dropped_tso_tx", "int", "TSO frames dropped", "packets"),
    Field(
        "pktsSwTsoTx",
        "pkts_sw_tso_tx",
        "int",
        "frames cut by software TSO on the way out",
        "packets",
    ),
    Field(
        "droppedSwTsoTx",
        "dropped_sw_tso_tx",
        "int",
        "frames dropped in software TSO on the way out",
        "packets",
    ),
    Field(
        "pktsZerocopyTxOK", "pkts_zerocopy_tx_ok", "int", "frames sent without a copy", "packets"
    ),
    Field(
        "droppedTxExceedMTU",
        "dropped_tx_exceed_mtu",
        "int",
        "frames dropped for being larger than the MTU",
        "packets",
    ),
    Field("pktsRxOK", "pkts_rx_ok", "int", "frames handed to the client", "packets"),
    Field("bytesRxOK", "bytes_rx_ok", "int", "bytes handed to the client", "bytes"),
    Field("droppedRx", "dropped_rx", "int", "frames for the client that were dropped", "packets"),
    Field(
        "pktsSwTsoRx",
        "pkts_sw_tso_rx",
        "int",
        "frames cut by software TSO on the way in",
        "packets",
    ),
    Field(
        "droppedSwTsoRx",
        "dropped_sw_tso_rx",
        "int",
        "frames dropped in software TSO on the way in",
        "packets",
    ),
    Field("actions", "actions", "int", "actions posted by the client", "times"),
    Field("uplinkRxPkts", "uplink_rx_pkts", "int", "frames that came from an uplink", "packets"),
    Field("clonedRxPkts", "cloned_rx_pkts", "int", "frames received as clones", "packets"),
    Field("pksBilled", "pks_billed", "int", "frames billed (pksBilled)", "packets"),
    Field(
        "droppedRxDueToPageAbsent",
        "dropped_rx_page_absent",
        "int",
        "frames dropped as a page was absent (receive)",
        "packets",
    ),
    Field(
        "droppedTxDueToPageAbsent",
        "dropped_tx_page_absent",
        "int",
        "frames dropped as a page was absent (send)",
        "packets",
    ),
    counts_since="port",
)
