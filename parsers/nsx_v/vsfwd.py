"""`vsfwd.log`: the agent of the distributed firewall on a host (NSX for vSphere), and its connection to the Manager.

Source: `var/run/log/vsfwd.log` of a vm-support bundle. No public source shows real lines: the level in brackets is from
memory, the tag before it is what vmsyslogd writes for any program. Without a known head of its lines the log is known
by the name of its file alone.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import HOST, LEVEL, MESSAGE, PRI, SEV, TIME, TS, log_parser

TABLE = Table.of(
    "nsx.vsfwd",
    "Lines of the agent of the distributed firewall on a host (NSX for vSphere), UTC.",
    "var/run/log/vsfwd.log with its rotated copies",
    TIME,
    LEVEL,
    Column("pid", "int", "process"),
    MESSAGE,
    ask="/var/log/vsfwd.log of the host, with its rotated copies",
    log=True,
)
_HEAD = rf"\s*{PRI}{TS} (?:{HOST}(?:{SEV} )?vsfwd(?:\[\d+\])?: |\[[A-Z]+\])"

PARSER = log_parser("vsfwd", TABLE, stem="vsfwd", head=_HEAD)
