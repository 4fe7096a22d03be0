"""`dfwpktlogs.log`: packets the distributed firewall was set to log, six generations of lines.

Source: `var/run/log/dfwpktlogs.log` of a vm-support bundle (NSX-v 6.1 to NSX 4.x); the oldest form is in
vmkernel.log. A syslog server gets the lines with the name of the host, in the form of RFC 3164 or RFC 5424. A TERM
line has neither length nor, in some builds, an action; it tells how the connection ended, and what went in and out.
NSX-T 2.x and 3.x print the hash of the filter in the place of the number (NSX-T 3.2 administration guide,
GUID-D57429A1), and PROTO with a number for a protocol without a name.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import HOST, LEVEL, PRI, SEV, SYSLOG, TIME, TS, log_parser

TABLE = Table.of(
    "nsx.dfwpktlogs",
    "Packets logged by the distributed firewall, UTC.",
    "var/run/log/dfwpktlogs.log with its rotated copies",
    TIME,
    LEVEL,
    Column("pid", "int", "number before the family: process or filter"),
    Column("filter_hash", "str", "hash of the filter (NSX-T and NSX 4.x)"),
    Column("af", "str", "INET, INET6 or L2"),
    Column("reason", "str", "match, TERM, SpoofGuard, memory, state-limit, …"),
    Column("action", "str", "PASS, DROP, REJECT, …"),
    Column("ruleset", "str", "rule set, domain-c7"),
    Column("rule_id", "int", "rule that decided"),
    Column("direction", "str", "IN or OUT"),
    Column("length", "int", "length of the packet", "bytes"),
    Column("protocol", "str", "TCP, UDP, ICMP, …"),
    Column("src", "str", "source address/port"),
    Column("dst", "str", "destination address/port"),
    Column("ended", "str", "of a TERM line: how the connection ended, RST, FIN, …"),
    Column("pkts_in", "int", "of a TERM line: packets in", "packets"),
    Column("pkts_out", "int", "of a TERM line: packets out", "packets"),
    Column("bytes_in", "int", "of a TERM line: bytes in", "bytes"),
    Column("bytes_out", "int", "of a TERM line: bytes out", "bytes"),
    Column("message", "str", "the rest: TCP flags, rule tag"),
    ask="/var/log/dfwpktlogs.log with its rotated copies",
    log=True,
)

_AF = r"(?:INET6?|L2) [\w-]+ (?:[A-Z]+ )?(?:[\w-]+/)?\d+ (?:IN|OUT) "
_SHAPE = (
    rf"\s*{PRI}(?:{TS}|{SYSLOG}) (?:{HOST}(?:{SEV} )?FIREWALL-PKTLOG(?:\[\d+\])?(?::| - - -) (?:[0-9a-f]+ )?"
    rf"|(?:[\w.:-]+ dfwpktlogs: )?(?:\d+ |[0-9a-f]{{8}} )?){_AF}"
)


PARSER = log_parser(
    "dfwpktlogs",
    TABLE,
    stem="dfwpktlogs",
    shape=_SHAPE,
)
