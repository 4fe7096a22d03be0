"""The log of an NSX Edge (NSX for vSphere): lines of its services as syslog writes them.

Source: `show log` of an Edge, and the text of its support bundle (`NSX_Edge_Support_….log.gz`). No public source shows
a whole file: the head is that of syslog (RFC 3164 or an ISO stamp), the texts are those of VMware's KB 2126560 and of
VMware's log content pack.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import LEVEL, MESSAGE, PRI, SYSLOG, TIME, log_parser

TABLE = Table.of(
    "nsx.edge_log",
    "Lines of an NSX Edge: high availability, routing, DHCP, load balancer, kernel; UTC.",
    "NSX_Edge_Support_<edge>_<date>.log.gz; show log (on the Edge)",
    TIME,
    LEVEL,
    Column("host", "str", "name of the node in the line"),
    Column(
        "program",
        "str",
        "program that wrote the line, as its tag names it: esxupdate, sshd, sfcb-vmware_base, …",
    ),
    Column("pid", "int", "process"),
    MESSAGE,
    ask="the support bundle of the NSX Edge, or `show log` on it",
    log=True,
)
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"

PARSER = log_parser(
    "nsx_edge_log",
    TABLE,
    files=(
        r"(?:^|/)NSX_Edge_Support_[^/]*\.log(?:\.gz)?$",
        r"(?:^|/)edge[-\w.]*/(?:var/log/)?messages(?:\.\d+)?(?:\.gz)?$",
    ),
    commands=(r"^\s*show log(?:\s+(?:follow|reverse|last \d+))*\s*$",),
    shape=rf"\s*{PRI}(?:{_ISO}|{SYSLOG}) (?:vShield-edge|vse|edge)[\w.-]* [\w./-]+(?:\[\d*\])?: ",
    node="nsx_edge",
)
