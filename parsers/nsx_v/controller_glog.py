"""C++ logs of an NSX Controller (glog), and `show control-cluster history`.

Source: NSX Controller bundle, `*.INFO.<start>.<pid>`. A line has month and day but no year: it comes from
the start stamp in the file's name, else from the time of the capture. No zone is printed; the
stamps are taken as UTC.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import LEVEL, MESSAGE, TIME, log_parser

TABLE = Table.of(
    "nsx.controller_glog",
    "Lines of a controller's C++ logs; year from the file's name, zone taken as UTC.",
    "<process>.INFO.<start>.<pid> of an NSX Controller bundle; show control-cluster history",
    TIME,
    LEVEL,
    Column("tid", "int", "thread that wrote the line"),
    Column("code_file", "str", "source file that wrote the line"),
    Column("code_line", "int", "line of that source file"),
    Column("log", "str", "log the line was taken from, where the output names it"),
    MESSAGE,
    ask="tech-support bundle of the NSX Controller",
    log=True,
)

_FILE_HEAD = r"Log file created at: \d{4}/\d\d/\d\d \d\d:\d\d:\d\d"  # glog, logging.cc: the two lines below it have no time
_SHAPE = rf"(?:\s*(?:[\w./-]{{1,200}}:)?[DIWEF]\d{{4}} \d\d:\d\d:\d\d\.\d{{6}} +\d+ [\w./+-]+:\d+\] |{_FILE_HEAD})"


PARSER = log_parser(
    "controller_glog",
    TABLE,
    files=(r"(?:^|/)[\w.-]*\b(?:INFO|WARNING|ERROR|FATAL)\.\d{8}-\d{6}\.\d+(?:\.log)?(?:\.gz)?$",),
    commands=(r"^\s*show control-cluster history\b",),
    shape=_SHAPE,
    node="nsx_controller",
)
