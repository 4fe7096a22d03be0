"""vsish `vmxnet3/rxSummary`: the receive side of one VMXNET3 port, summed over its queues.

Source: `vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary` on ESXi; a default
vm-support bundle does not hold it, engineers paste it. Counters run since the port was
connected; with LRO a "packet" is a merged one. 6.0 prints 20 counters; 7.x and 8.x add the ring
sizes, the data ring, the burst queue and further reasons of a drop.
"""

from analyzer.artefacts.signs import counts_loss
from analyzer.forms import Field, vsish_block

from ._vsish import PORT_ID, SWITCH

PARSER = vsish_block(
    "vmxnet3_rx_summary",
    "/net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary",
    "stats of a vmxnet3 vNIC rx queue",
    "esxi.vmxnet3_rx_summary",
    "Receive counters of a VMXNET3 port over all its queues, since the port was connected.",
    SWITCH,
    PORT_ID,
    Field("LRO pkts rx ok", "lro_pkts_rx_ok", "int", "frames received merged by LRO", "packets"),
    Field("LRO bytes rx ok", "lro_bytes_rx_ok", "int", "bytes received merged by LRO", "bytes"),
    Field("pkts rx ok", "pkts_rx_ok", "int", "frames handed to the guest", "packets"),
    Field("bytes rx ok", "bytes_rx_ok", "int", "bytes handed to the guest", "bytes"),
    Field("unicast pkts rx ok", "unicast_pkts_rx_ok", "int", "unicast frames received", "packets"),
    Field("unicast bytes rx ok", "unicast_bytes_rx_ok", "int", "unicast bytes received", "bytes"),
    Field(
        "multicast pkts rx ok",
        "multicast_pkts_rx_ok",
        "int",
        "multicast frames received",
        "packets",
    ),
    Field(
        "multicast bytes rx ok", "multicast_bytes_rx_ok", "int", "multicast bytes received", "bytes"
    ),
    Field(
        "broadcast pkts rx ok",
        "broadcast_pkts_rx_ok",
        "int",
        "broadcast frames received",
        "packets",
    ),
    Field(
        "broadcast bytes rx ok", "broadcast_bytes_rx_ok", "int", "broadcast bytes received", "bytes"
    ),
    Field(
        "running out of buffers",
        "out_of_buffers",
        "int",
        "times no receive buffer was left",
        "times",
    ),
    Field("pkts receive error", "pkts_rx_error", "int", "frames received with an error", "packets"),
    Field("1st ring size", "ring1_size", "int", "size of the 1st receive ring", "descriptors"),
    Field("2nd ring size", "ring2_size", "int", "size of the 2nd receive ring", "descriptors"),
    Field(
        "# of times the 1st ring is full",
        "ring1_full",
        "int",
        "times the 1st receive ring was full",
        "times",
    ),
    Field(
        "# of times the 2nd ring is full",
        "ring2_full",
        "int",
        "times the 2nd receive ring was full",
        "times",
    ),
    Field(
        "fail to map a rx buffer",
        "map_failures",
        "int",
        "receive buffers that could not be mapped",
        "times",
    ),
    Field(
        "request to page in a buffer",
        "page_in_requests",
        "int",
        "requests to page in a buffer",
        "times",
    ),
    Field(
        "# of times rx queue is stopped",
        "queue_stopped",
        "int",
        "times the receive queue was stopped",
        "times",
    ),
    Field(
        "failed when copying into the guest buffer",
        "copy_failures",
        "int",
        "failures to copy into the guest buffer",
        "times",
    ),
    Field(
        "# of pkts dropped due to large hdrs",
        "large_hdr_drops",
        "int",
        "frames dropped for large headers",
        "packets",
    ),
    Field(
        "# of pkts dropped due to max number of SG limits",
        "sg_limit_drops",
        "int",
        "frames dropped at the scatter-gather limit",
        "packets",
        sign=counts_loss(),
    ),
    Field(
        "pkts rx via data ring ok",
        "data_ring_pkts_rx_ok",
        "int",
        "frames received through the data ring",
        "packets",
    ),
    Field(
        "bytes rx via data ring ok",
        "data_ring_bytes_rx_ok",
        "int",
        "bytes received through the data ring",
        "bytes",
    ),
    Field(
        "Whether rx burst queuing is enabled",
        "burst_queuing",
        "bool",
        "bursts are queued by the host before the ring",
    ),
    Field(
        "current backend burst queue length",
        "burst_queue_length",
        "int",
        "frames in the burst queue now",
        "packets",
    ),
    Field(
        "maximum backend burst queue length so far",
        "burst_queue_length_max",
        "int",
        "most frames the burst queue has held",
        "packets",
    ),
    Field(
        "aggregate number of times packets are requeued",
        "requeued",
        "int",
        "times frames were queued again",
        "times",
    ),
    Field(
        "aggregate number of times packets are dropped by PktAgingList",
        "aging_list_drops",
        "int",
        "times frames were dropped by the PktAgingList",
        "times",
    ),
    Field(
        "# of pkts dropped due to large inner (encap) hdrs",
        "large_inner_hdr_drops",
        "int",
        "frames dropped for large inner (encap) headers",
        "packets",
    ),
    Field(
        "number of times packets are dropped by burst queue",
        "burst_queue_drops",
        "int",
        "times frames were dropped by the burst queue",
        "times",
    ),
    Field(
        "number of times packets are dropped by rx try lock queueing",
        "try_lock_drops",
        "int",
        "times frames were dropped waiting for the queue's lock",
        "times",
    ),
    Field(
        "number of packets delivered by burst queue",
        "burst_queue_pkts",
        "int",
        "frames delivered by the burst queue",
        "packets",
    ),
    Field(
        "number of packets dropped by packet steering",
        "steering_drops",
        "int",
        "frames dropped by packet steering",
        "packets",
    ),
    Field(
        "number of memory region lookup pass in Rx.",
        "region_lookups",
        "int",
        "memory region look-ups while receiving",
        "times",
    ),
    Field(
        "number of packets dropped due to pkt length exceeds vNic mtu",
        "mtu_drops",
        "int",
        "frames dropped for being longer than the vNIC's MTU",
        "packets",
    ),
    Field(
        "number of packets dropped due to pkt truncation",
        "truncation_drops",
        "int",
        "frames dropped as they were cut short",
        "packets",
    ),
    counts_since="port",
    gauges=("ring1_size", "ring2_size", "burst_queue_length", "burst_queue_length_max"),
)
