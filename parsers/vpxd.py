"""`vpxd.log`: vCenter Server.

Source: `var/log/vmware/vpxd/vpxd-N.log` of a vCenter bundle, or lines that vCenter sends to a syslog server
(RFC 5424): events as `Event [id] [1-1] [time] [type] [level] …`. Line forms 6.x to 9.0.
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Table

from ._log import PRI, TS, family, log_rows, viewing
from ._vmacore import columns, shape

TABLE = Table(
    name="vcenter.vpxd",
    meaning="Lines of vCenter Server, UTC; lines of a syslog server are its events.",
    source="var/log/vmware/vpxd/vpxd-N.log with its rotated copies; syslog of vCenter",
    ask="/var/log/vmware/vpxd/vpxd.log of vCenter with its rotated copies",
    columns=columns(),
    log=True,
)

_SHAPE = rf"(?:{shape('vpxd')}|\s*{PRI}{TS} (?:[\w.:-]+ vpxd \S+ - - |[A-Z]+ vpxd \d+ \[Originator@\d+ ))"


def parse(block: Block) -> Output:
    """Read lines of vpxd.log, one row each; `-->` lines join the row before."""
    return log_rows(TABLE, PARSER.name, block, more="MORE")


PARSER = Parser(
    name="vpxd",
    tables=(TABLE,),
    parse=parse,
    node="vcenter",
    files=(family("vpxd"),),
    commands=(viewing("vpxd"),),
    shape=rf"^{_SHAPE}",
    body=rf"^(?:{_SHAPE}|-->|\s+\S)",
    log=True,
)
