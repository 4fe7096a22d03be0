"""`vpxd.log`: vCenter Server.

Source: `var/log/vmware/vpxd/vpxd-N.log` of a vCenter bundle, or lines that vCenter sends to a syslog server
(RFC 5424): events as `Event [id] [1-1] [time] [type] [level] …`. Line forms 5.x to 9.0; those of the appliance of
5.x are known by their threads of twelve digits, where a host prints eight.
"""

from analyzer.artefacts.tables import Table
from analyzer.forms.host_logs import AGENT_COLUMNS, agent_shape
from analyzer.forms.logs import PRI, TS, log_parser

TABLE = Table.of(
    "vcenter.vpxd",
    "Lines of vCenter Server, UTC; lines of a syslog server are its events.",
    "var/log/vmware/vpxd/vpxd-N.log with its rotated copies; syslog of vCenter",
    *AGENT_COLUMNS,
    ask="/var/log/vmware/vpxd/vpxd.log of vCenter with its rotated copies",
    log=True,
)

_SHAPE = (
    rf"(?:{agent_shape('vpxd')}|\s*{PRI}{TS} (?:[\w.:-]+ vpxd \S+ - - |[A-Z]+ vpxd \d+ \[Originator@\d+ "
    r"|\[[0-9A-F]{12} [a-z]+ '[^']*'|(?:- .{1,200})?Section for VMware VirtualCenter,))"
)


PARSER = log_parser(
    "vpxd",
    TABLE,
    stem="vpxd",
    shape=_SHAPE,
    more_lines=r"-->|\s+\S",
    node="vcenter",
)
