"""Guest `netstat -s`: what TCP had to send again, and why.

Source: net-tools `netstat -s` on Linux, whole or through `grep`; counters run since boot. net-tools
spelled `segments retransmited` for years, later releases `retransmitted`; both are read.
"""

from analyzer.artefacts.signs import counts_loss
from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "guest.tcp_stats",
    "TCP counters of a Linux guest since boot; a filtered output fills only what it shows.",
    "netstat -s, in the guest",
    Column("segments_received", "int", "TCP segments received", "segments"),
    Column("segments_sent", "int", "TCP segments sent", "segments"),
    Column(
        "segments_retransmitted",
        "int",
        "TCP segments sent again",
        "segments",
        sign=counts_loss("segments_sent"),
    ),
    Column("bad_segments_received", "int", "TCP segments received damaged", "segments"),
    Column(
        "fast_retransmits",
        "int",
        "segments sent again after duplicate ACKs",
        "segments",
        sign=counts_loss("segments_sent"),
    ),
    Column("forward_retransmits", "int", "segments sent again ahead of the hole", "segments"),
    Column("slow_start_retransmits", "int", "segments sent again in slow start", "segments"),
    Column("sack_retransmits_failed", "int", "retransmits that could not be queued", "segments"),
    Column(
        "lost_retransmits",
        "int",
        "retransmits that were lost again (TCPLostRetransmit)",
        "segments",
    ),
    Column("sack_recoveries", "int", "recoveries from loss by selective acknowledgement", "times"),
    Column("data_loss_events", "int", "times TCP saw data lost", "times"),
    Column(
        "tcp_timeouts", "int", "retransmission timeouts", "times", sign=counts_loss("segments_sent")
    ),
    Column("receive_collapsed", "int", "packets merged for want of socket buffer", "packets"),
    Column("udp_receive_errors", "int", "UDP packets not delivered to a socket", "packets"),
    Column("udp_received", "int", "UDP packets delivered to a socket", "packets"),
    Column(
        "udp_buffer_errors",
        "int",
        "UDP packets not delivered since the buffer of the socket was full",
        "packets",
    ),
    ask="`netstat -s` in the guest, before and after the trouble",
    counts_since="guest",
)


PARSER = template_parser(
    "tcp_stats",
    TABLE,
    node="guest",
    commands=(r"\bnetstat\s+(?:-\w*s\w*|--statistics)\b",),
    shape=(
        r"^\s*(?:\d+ (?:segments retransmitt?ed|fast retransmits|TCP data loss events)"
        r"|(?:Ip|Tcp|TcpExt):)\s*$"
    ),
    body=(
        r"^\s*(?:(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|TcpExt|IpExt|Sctp|MPTcpExt):|-?\d+ [A-Za-z].{0,110}"
        r"|[A-Za-z][\w -]{1,60}: *-?\d+|ICMP (?:in|out)put histogram:|\w+ is \w+|Forwarding: .*)\s*$"
    ),
)
