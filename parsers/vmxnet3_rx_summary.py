"""vsish `vmxnet3/rxSummary`: the receive side of one VMXNET3 port, summed over its queues.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary` on ESXi; a default
vm-support bundle does not hold it, engineers paste it. Counters run since the port was
connected; with LRO a "packet" is a merged one. 6.0 prints 20 counters; 7.x and 8.x add the ring
sizes, the data ring, the burst queue and further reasons of a drop.
"""

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import PORT, PORT_ID, SWITCH, body

TABLE = Table(
    name="esxi.vmxnet3_rx_summary",
    meaning="Receive counters of a VMXNET3 port over all its queues, since the port was connected.",
    source="vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary",
    ask="`vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary`",
    key=("switch", "port_id"),
    columns=(
        SWITCH,
        PORT_ID,
        Column("lro_pkts_rx_ok", "int", "frames received merged by LRO", "packets"),
        Column("lro_bytes_rx_ok", "int", "bytes received merged by LRO", "bytes"),
        Column("pkts_rx_ok", "int", "frames handed to the guest", "packets"),
        Column("bytes_rx_ok", "int", "bytes handed to the guest", "bytes"),
        Column("unicast_pkts_rx_ok", "int", "unicast frames received", "packets"),
        Column("unicast_bytes_rx_ok", "int", "unicast bytes received", "bytes"),
        Column("multicast_pkts_rx_ok", "int", "multicast frames received", "packets"),
        Column("multicast_bytes_rx_ok", "int", "multicast bytes received", "bytes"),
        Column("broadcast_pkts_rx_ok", "int", "broadcast frames received", "packets"),
        Column("broadcast_bytes_rx_ok", "int", "broadcast bytes received", "bytes"),
        Column("out_of_buffers", "int", "times no receive buffer was left", "times"),
        Column("pkts_rx_error", "int", "frames received with an error", "packets"),
        Column("ring1_size", "int", "size of the 1st receive ring", "descriptors"),
        Column("ring2_size", "int", "size of the 2nd receive ring", "descriptors"),
        Column("ring1_full", "int", "times the 1st receive ring was full", "times"),
        Column("ring2_full", "int", "times the 2nd receive ring was full", "times"),
        Column("map_failures", "int", "receive buffers that could not be mapped", "times"),
        Column("page_in_requests", "int", "requests to page in a buffer", "times"),
        Column("queue_stopped", "int", "times the receive queue was stopped", "times"),
        Column("copy_failures", "int", "failures to copy into the guest buffer", "times"),
        Column("large_hdr_drops", "int", "frames dropped for large headers", "packets"),
        Column("sg_limit_drops", "int", "frames dropped at the scatter-gather limit", "packets"),
        Column("data_ring_pkts_rx_ok", "int", "frames received through the data ring", "packets"),
        Column("data_ring_bytes_rx_ok", "int", "bytes received through the data ring", "bytes"),
        Column("burst_queuing", "bool", "bursts are queued by the host before the ring"),
        Column("burst_queue_length", "int", "frames in the burst queue now", "packets"),
        Column("burst_queue_length_max", "int", "most frames the burst queue has held", "packets"),
        Column("requeued", "int", "times frames were queued again", "times"),
        Column("aging_list_drops", "int", "times frames were dropped by the PktAgingList", "times"),
        Column("large_inner_hdr_drops", "int", "frames dropped for large inner (encap) headers", "packets"),
        Column("burst_queue_drops", "int", "times frames were dropped by the burst queue", "times"),
        Column("try_lock_drops", "int", "times frames were dropped waiting for the queue's lock", "times"),
        Column("burst_queue_pkts", "int", "frames delivered by the burst queue", "packets"),
        Column("steering_drops", "int", "frames dropped by packet steering", "packets"),
        Column("region_lookups", "int", "memory region look-ups while receiving", "times"),
        Column("mtu_drops", "int", "frames dropped for being longer than the vNIC's MTU", "packets"),
        Column("truncation_drops", "int", "frames dropped as they were cut short", "packets"),
    ),
)


def parse(block: Block) -> Output:
    """Read one rxSummary dump into one row."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="vmxnet3_rx_summary",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(PORT + r"/vmxnet3/rxSummary\b",),
    shape=r"^\s*stats of a vmxnet3 vNIC rx queue\s*\{?\s*$",
    body=body("stats of a vmxnet3 vNIC rx queue"),
)
