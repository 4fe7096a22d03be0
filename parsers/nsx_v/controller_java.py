"""Java logs of an NSX Controller: `cloudnet_java-<process>.<start>.<pid>.log`.

Source: NSX Controller bundle, `cloudnet/cloudnet_java-zookeeper.*`, `…-vnet-controller.*` (log4j pattern
`%d %r [%t] %p %c - %m`). The stamp has no zone and is taken as UTC.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import LEVEL, MESSAGE, TIME, log_parser

TABLE = Table.of(
    "nsx.controller_java",
    "Lines of a controller's Java logs; no zone is printed, taken as UTC.",
    "cloudnet_java-<process>.<start>.<pid>.log of an NSX Controller bundle",
    TIME,
    LEVEL,
    Column("uptime_ms", "int", "time since the process started", "ms"),
    Column("thread", "str", "thread that wrote the line"),
    Column("java_class", "str", "Java class that wrote the line"),
    MESSAGE,
    ask="tech-support bundle of the NSX Controller",
    log=True,
)

_SHAPE = (
    r"\s*(?:[\w./-]{1,200}:)?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} +\d+ +\[[^\]]*\](?:[^\]]*\])? "
    r"+(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +\S+ +- "
)
_TRACE = r"(?:\s+at |Caused by: |\s+\.\.\. \d+ |[\w.$]+(?:Exception|Error)\b)"


PARSER = log_parser(
    "controller_java",
    TABLE,
    files=(
        r"(?:^|/)(?:cloudnet_)?java[-_][\w-]+\.\d{8}-\d{6}\.\d+\.log(?:\.\d+)?(?:\.gz)?$",
        r"(?:^|/)cloudnet_java[\w-]*(?:\.log)?(?:\.\d+)?(?:\.gz)?$",
    ),
    shape=_SHAPE,
    more_lines=_TRACE,
    node="nsx_controller",
)
