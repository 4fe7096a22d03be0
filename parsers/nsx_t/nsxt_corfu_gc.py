"""The log of garbage collection of Corfu, the database of the NSX-T managers: how long it stood still.

Source: Broadcom KB 415746, which names the folder (`/var/log/corfu/jvm/`) and shows one line of it; the name of the
file and its other lines are in no public source. With -XX:+PrintGCApplicationStoppedTime a Java VM of release 8
prints the same line with its uptime in front and a remark behind. Java 11, which the public sources of Corfu start with
`-Xlog:safepoint,gc*=debug:…:time,uptime,level`, prints time, uptime and level in brackets.
"""

from analyzer.artefacts.tables import Table
from analyzer.forms.logs import LEVEL, MESSAGE, TIME, log_parser

from ..common._nsxt import MANAGER

TABLE = Table.of(
    "nsxt.corfu_gc",
    "Lines of the log of garbage collection of Corfu on an NSX-T manager, UTC.",
    "var/log/corfu/jvm/<name>.log of an NSX-T manager",
    TIME,
    LEVEL,
    MESSAGE,
    ask="support bundle of the NSX-T manager, with var/log/corfu/jvm/",
    log=True,
)

PARSER = log_parser(
    "nsxt_corfu_gc",
    TABLE,
    node=MANAGER,
    files=(r"(?:^|/)corfu(?:-nonconfig)?/jvm/[^/]+$",),
    commands=(r"\b(?:cat|zcat|tail|head|less|more|z?e?grep)\s[^|;]*\bcorfu(?:-nonconfig)?/jvm/",),
    head=r"^\s*(?:[\w./-]{1,200}:)?\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d{4}(?:: |\])",
)
