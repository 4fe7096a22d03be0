"""`vsm.log`: the management plane of NSX Manager (NSX for vSphere), with audit and system events.

Source: `logs/vsm.log` of an NSX Manager bundle (on the appliance /home/secureall/secureall/logs), or a
syslog copy. The zone is printed (`GMT+00:00`); a zone by name other than GMT and UTC is taken
as UTC. 6.4 also writes RFC 5424 lines.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import LEVEL, MESSAGE, PRI, SYSLOG, TIME, TS, log_parser

TABLE = Table.of(
    "nsx.vsm_log",
    "Lines of NSX Manager's vsm.log, UTC by the printed zone; stack traces join their line.",
    "vsm.log of an NSX Manager bundle; show log manager",
    TIME,
    LEVEL,
    Column("thread", "str", "thread that wrote the line"),
    Column("java_class", "str", "Java class that wrote the line, without its package"),
    Column("code_line", "int", "line of that class"),
    MESSAGE,
    ask="NSX Manager tech-support bundle, holding vsm.log of the time of the trouble",
    log=True,
)

_HEAD = (
    rf"(?:{SYSLOG} [\w.:-]+ )?\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} "
    r"(?:(?:GMT|UTC)[+-]\d\d:\d\d|[A-Z]{3,4}) +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +"
    r"(?!.*\[(?:SystemEvent|AuditLog)\])"
)
_SHAPE = rf"\s*{PRI}(?:{_HEAD}|{TS} [\w.:-]+ NSXV \S+ \S+ \[nsxv@)"
_TRACE = r"(?:\s+at |\s*Caused by: |\s+\.\.\. \d+ |[\w.$]+(?:Exception|Error)\b|\s+\S)"


PARSER = log_parser(
    "vsm_log",
    TABLE,
    stem="vsm",
    commands=(r"^\s*show (?:log manager|manager log)\b",),
    shape=_SHAPE,
    more_lines=_TRACE,
    node="nsx_manager",
)
